"""Inputs that make a right number right for the wrong population: retries, reused ids, failures without tokens, odd clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import TOTAL, engine_span, lines, rows, slo, span, store

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

T1, T2 = "11" * 16, "22" * 16


def ledger(made: Store) -> tuple[int, int, int]:
    (found,) = rows(made, "SELECT offered, ok, attempts FROM ledger WHERE load_point = '(all)'")
    return found


RETRY = """
    a sent 0 attempt=1
    a done 1000 attempt=1 outcome=timeout
    a sent 1100 attempt=2
    a first_content 1200 attempt=2
    a done 1300 attempt=2 outcome=ok
"""


def test_a_retry_is_an_attempt_and_its_wait_counts_from_the_first_send(tmp_path: Path) -> None:
    made = store(tmp_path, lines(RETRY))
    assert ledger(made) == (1, 1, 2)
    assert rows(made, "SELECT ttft_ms, e2e_ms FROM request_metric") == [(1200.0, 1300.0)]


def test_a_retry_under_an_id_of_its_own_is_the_same_request(tmp_path: Path) -> None:
    own = (
        RETRY.replace("a sent 1100 attempt=2", "b sent 1100 retry_of=a")
        .replace("    a first_content 1200 attempt=2", "    b first_content 1200")
        .replace("    a done 1300 attempt=2", "    b done 1300")
    )
    made = store(tmp_path, lines(own))
    assert ledger(made) == (1, 1, 2)
    assert rows(made, "SELECT ttft_ms FROM request_metric") == [(1200.0,)]


def test_gateway_spans_beside_a_retry_do_not_make_requests_of_it(tmp_path: Path) -> None:
    gateway = [
        span(
            trace,
            number,
            service="gw",
            scope="fastapi",
            kind=2,
            start=start,
            end=start + 50,
            attributes={"http.route": "/v1/chat/completions", "x_request_id": "a"},
        )
        for trace, number, start in ((T1, 1, 5), (T2, 2, 1105))
    ]
    made = store(tmp_path, lines(RETRY), spans=gateway)
    assert ledger(made) == (1, 1, 2)


def test_of_two_hedged_answers_the_first_to_end_counts(tmp_path: Path) -> None:
    hedged = """
        a sent 0 attempt=1
        a first_content 5000 attempt=1
        a done 6000 attempt=1 outcome=ok
        a sent 100 attempt=2
        a first_content 300 attempt=2
        a done 400 attempt=2 outcome=ok
    """
    made = store(tmp_path, lines(hedged))
    assert rows(made, "SELECT ttft_ms, e2e_ms FROM request_metric") == [(300.0, 400.0)]


def test_failures_stay_in_the_population_of_tokens(tmp_path: Path) -> None:
    good = "\n".join(
        f"g{i} sent 0\ng{i} first_content 10 tokens=1\ng{i} last_content 110 output_tokens=11\ng{i} done 111 outcome=ok"
        for i in range(10)
    )
    bad = "\n".join(f"b{i} sent 0\nb{i} done 5 outcome=error output_tokens=0" for i in range(90))
    made = store(tmp_path, lines(good + "\n" + bad), slo=[slo("tpot", 50)])
    assert rows(made, f"SELECT n, good, bad FROM attainment WHERE {TOTAL}") == [(100, 10, 90)]
    assert rows(
        made, f"SELECT n, failed, first_chunk FROM percentile WHERE metric = 'tpot' AND population = 'all' AND {TOTAL}"
    ) == [(100, 90, "known")]
    assert rows(made, "SELECT verdict FROM verdict") == [("broken",)]


def test_a_zero_from_the_engine_means_not_measured(tmp_path: Path) -> None:
    spans = [engine_span(f"{i:032x}", i, start=i, ttft=0, queue=0, prefill=0, decode=0, tokens=5) for i in range(1, 4)]
    made = store(tmp_path, spans=spans, slo=[slo("ttft_engine", 50)])
    assert rows(made, f"SELECT n, good, unknown FROM attainment WHERE {TOTAL}") == [(3, 0, 3)]
    assert rows(made, "SELECT sum(n) FROM audit WHERE audit = 'implausible value'") == [(15,)]


@pytest.mark.parametrize("value", [-48000.0, -1000.0])
def test_negative_queue_times_are_counted_and_not_used(tmp_path: Path, value: float) -> None:
    made = store(tmp_path, spans=[engine_span(T1, 1, start=0, ttft=100, queue=value, prefill=20, decode=10, tokens=5)])
    assert rows(made, "SELECT queue_low_ms, prefill_low_ms, ttft_engine_ms FROM request_metric") == [
        (None, 20.0, 100.0)
    ]
    assert rows(made, "SELECT subject FROM audit WHERE audit = 'implausible value'") == [
        ("gen_ai.latency.time_in_queue",)
    ]


def test_an_answer_in_one_chunk_has_no_time_between_tokens(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0\na content 100 kind=text output_tokens=63\na done 101 outcome=ok"))
    assert rows(made, "SELECT tpot_ms, tpot_why FROM attempt_metric") == [(None, "content came in one chunk")]


def test_repetitions_of_one_id_are_requests_of_their_own(tmp_path: Path) -> None:
    text = "\n".join(
        f"r{i} sent {n * 1000} repeat={n}\nr{i} done {n * 1000 + 200} repeat={n} outcome=ok"
        for i in range(4)
        for n in (1, 2, 3)
    )
    made = store(tmp_path, lines(text))
    assert ledger(made) == (12, 12, 12)
    assert rows(made, "SELECT DISTINCT e2e_ms FROM request_metric") == [(200.0,)]


def test_an_id_used_twice_without_a_trace_is_a_fault_that_is_named(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0\na done 10 outcome=ok\na sent 50\na done 70 outcome=ok"))
    assert rows(made, "SELECT subject, severity FROM audit WHERE audit = 'repeated boundary'") == [
        ("a", "fault"),
        ("a", "fault"),
    ]


def test_answers_that_were_not_judged_are_not_correct(tmp_path: Path) -> None:
    text = "\n".join(
        f"r{i} sent 0\nr{i} first_content 5\nr{i} done 9 outcome=ok {'correct=true' if i < 3 else ''}" for i in range(4)
    )
    made = store(tmp_path, lines(text), slo=[slo("ttft", 50)])
    assert rows(made, f"SELECT good, unknown FROM attainment WHERE {TOTAL}") == [(3, 1)]


def test_a_promise_for_one_model_does_not_drop_requests_of_no_known_model(tmp_path: Path) -> None:
    good = "\n".join(f"g{i} sent 0 model=m\ng{i} first_content 5\ng{i} done 9 outcome=ok" for i in range(10))
    lost = "\n".join(f"t{i} sent 0\nt{i} done 900 outcome=timeout" for i in range(10))
    made = store(tmp_path, lines(good + "\n" + lost), slo=[slo("ttft", 50, select={"model": "m"})])
    assert rows(made, f"SELECT n, good, unknown, share_low, share_high FROM attainment WHERE {TOTAL}") == [
        (20, 10, 10, 0.5, 1.0)
    ]


@pytest.mark.parametrize(("entry", "n"), [("offered", 4), ("sent", 3), ("admitted", 2), ("reached", 1), ("ok", 1)])
def test_the_declared_entry_point_decides_who_is_counted(tmp_path: Path, entry: str, n: int) -> None:
    text = "a scheduled 0\nb sent 0\nb done 5 outcome=rejected\nc sent 0\nc done 900 outcome=timeout\nd sent 0\nd first_content 5\nd done 9 outcome=ok"
    made = store(tmp_path, lines(text), population={"entry": entry, "unit": "request", "select": {"unknown": "none"}})
    assert ledger(made)[0] == n
    assert rows(made, "SELECT coalesce(sum(n), 0) FROM audit WHERE audit = 'not counted'") == [(4 - n,)]


@pytest.mark.shared
def test_one_litellm_request_is_one_request(shared_data: Path, tmp_path: Path) -> None:
    files, _ = ingest.find([str(shared_data / "made" / "otlp-litellm" / "traces.otlp.jsonl")])
    made = Store(tmp_path / "s.duckdb", create=True)
    ingest.ingest_files(made, files)
    ingest.apply_defaults(made)
    made.derive()
    found = rows(made, "SELECT offered, ok, timeout, error FROM ledger WHERE load_point = '(all)'")
    assert found == [(8, 6, 1, 1)]


def test_a_clock_that_was_not_set_moves_no_window(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        [
            *lines("a sent 0\na done 200 outcome=ok"),
            {"request": "b", "event": "sent", "side": "client", "clock": "c", "ns": 0},
        ],
    )
    assert rows(made, "SELECT length_s FROM run_window") == [(0.2,)]
    assert rows(made, "SELECT subject FROM audit WHERE audit = 'clock not set'") == [("c",)]


def test_one_clock_name_for_two_kinds_of_clock_is_two_clocks(tmp_path: Path) -> None:
    text = [
        *lines("a sent 0"),
        {
            "request": "a",
            "event": "done",
            "side": "client",
            "clock": "c",
            "clock_kind": "monotonic",
            "ns": 5_000_000_000,
            "outcome": "ok",
        },
    ]
    made = store(tmp_path, text)
    assert rows(made, "SELECT e2e_ms, e2e_why FROM attempt_metric") == [(None, "not recorded")]
    assert rows(made, "SELECT outcome FROM attempt") == [("ok",)]


def test_an_offset_clock_gives_a_bounded_delivery(tmp_path: Path) -> None:
    text = lines("a sent 0 response_id=chatcmpl-a\na first_content 150\na done 200 outcome=ok")
    engine = engine_span(
        T1,
        1,
        start=1010,
        ttft=100,
        queue=20,
        prefill=60,
        decode=30,
        tokens=5,
        host="e",
        attributes={"gen_ai.request.id": "chatcmpl-a"},
    )
    # The engine's clock is 1000 ms ahead of the client's, known to 2 ms.
    made = store(
        tmp_path,
        text,
        spans=[engine],
        clocks=[{"clocks": ["c", "e"], "relation": "offset", "offset_ms": 1000, "error_ms": 2}],
    )
    assert rows(made, "SELECT duration_ms, low_ms, high_ms, evidence FROM stage WHERE stage = 'delivery'") == [
        (None, 38.0, 42.0, "bounded")
    ]


def test_the_shares_of_a_mean_are_of_requests_that_were_taken_apart(tmp_path: Path) -> None:
    with_engine = lines(
        "a sent 0 response_id=chatcmpl-a\na first_content 150\na done 200 outcome=ok\nb sent 0\nb first_content 950\nb done 1000 outcome=ok"
    )
    engine = engine_span(
        T1,
        1,
        start=10,
        ttft=100,
        queue=20,
        prefill=60,
        decode=30,
        tokens=5,
        host="c",
        attributes={"gen_ai.request.id": "chatcmpl-a"},
    )
    made = store(tmp_path, with_engine, spans=[engine])
    assert rows(
        made, "SELECT DISTINCT n, mean_ttft_ms FROM ttft_stage WHERE load_point = '(all)' AND tenant = '(all)'"
    ) == [(1, 150.0)]


def test_an_undetermined_average_may_still_fall(tmp_path: Path) -> None:
    text = "a sent 0 streamed=true\na first_content 10 tokens=1\na last_content 170 output_tokens=3\na done 180 outcome=cancelled"
    made = store(tmp_path, lines(text), slo=[slo("tpot", 50)])
    assert rows(made, "SELECT state FROM request_slo") == [("undetermined",)]


def test_a_first_chunk_of_more_tokens_than_the_answer_is_a_contradiction(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines("a sent 0\na first_content 10 tokens=4\na last_content 50 output_tokens=3\na done 60 outcome=ok"),
        slo=[slo("tpot", 50)],
    )
    assert rows(made, "SELECT tpot_ms, tpot_why FROM attempt_metric") == [(None, "token counts contradict")]
    assert rows(made, f"SELECT n, unknown FROM attainment WHERE {TOTAL}") == [(1, 1)]


def test_a_request_that_the_engines_http_layer_refused_is_a_failure_of_the_engine(tmp_path: Path) -> None:
    def http(trace: str, number: int, status: int) -> dict[str, object]:
        return span(
            trace,
            number,
            service="vllm",
            scope="fastapi",
            kind=2,
            start=0,
            end=200,
            attributes={"http.route": "/v1/chat/completions", "http.response.status_code": status},
        )

    spans = [
        http(T1, 1, 200),
        engine_span(T1, 2, start=1, ttft=100, queue=20, prefill=60, decode=30, tokens=5),
        http(T2, 3, 400),
    ]
    made = store(tmp_path, spans=spans)
    assert rows(made, "SELECT offered, ok, error FROM ledger WHERE load_point = '(all)'") == [(2, 1, 1)]
    assert rows(made, "SELECT count(*) FROM observation WHERE side = 'engine'") == [(2,)]
