"""AIPerf's export of requests: outcomes, true sends and ends, and what its old names say."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from aiperf_files import START, read, told
from building import rows

from analyzer.sources import explain, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

CREDIT = START - 1_000_000


def a_row(**parts: Any) -> dict[str, Any]:
    """A line as AIPerf 0.13 writes it: first content after 20 ms, two more chunks, the end after 50 ms."""
    metadata = {
        "session_num": 0, "x_request_id": "r1", "conversation_id": "c", "turn_index": 0, "credit_issued_ns": CREDIT,
        "request_start_ns": START, "request_end_ns": START + 50_000_000, "worker_id": "w", "record_processor_id": "p",
        "benchmark_phase": "profiling", "phase_name": "profiling", "phase_kind": "profiling", "was_cancelled": False,
        **parts.pop("metadata", {}),
    }  # fmt: skip
    metrics = {
        "time_to_first_token": {"value": 20.0, "unit": "ms"}, "request_latency": {"value": 45.5, "unit": "ms"},
        "inter_chunk_latency": {"value": [10.25, 15.25], "unit": "ms"},
        "input_sequence_length": {"value": 7, "unit": "tokens"}, "output_sequence_length": {"value": 3, "unit": "tokens"},
        **parts.pop("metrics", {}),
    }  # fmt: skip
    whole = {"metadata": metadata, "metrics": metrics, **parts}
    for part in (whole["metadata"], whole["metrics"]):
        for key in [key for key, value in part.items() if value is None]:
            del part[key]
    return whole


def failed(error: dict[str, Any] | None, **parts: Any) -> dict[str, Any]:
    row = a_row(error=error, **parts)
    row["metrics"] = {"error_isl": {"value": 7, "unit": "tokens"}}
    return row


def given(folder: Path, *lines: Any, name: str = "profile_export.jsonl") -> Store:
    path = folder / name
    text = [line if isinstance(line, str) else json.dumps(line, separators=(",", ":")) for line in lines]
    path.write_text("\n".join(text), encoding="utf-8")
    return read(path, folder=folder)


def notes(store: Store) -> list[str]:
    return [note for (note,) in rows(store, "SELECT detail FROM audit WHERE audit = 'source note'")]


@pytest.fixture(scope="module")
def conc16(shared_data: Path) -> Path:
    return shared_data / "made" / "aiperf" / "conc16"


@pytest.fixture(scope="module")
def made(conc16: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(conc16 / "profile_export.jsonl", folder=tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def old(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(shared_data / "public" / "aiperf-run1" / "profile_export.jsonl", folder=tmp_path_factory.mktemp("old"))


@pytest.mark.shared
def test_every_request_has_one_outcome(made: Store) -> None:
    found = rows(made, "SELECT phase, outcome, count(*) FROM request GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("measured", "cancelled", 17), ("measured", "error", 1), ("measured", "ok", 209), ("measured", "rejected", 3),
        ("measured", "timeout", 2), ("measured", "truncated", 8), ("warmup", "ok", 5),
    ]  # fmt: skip
    errors = rows(
        made,
        "SELECT error_type, status_code, count(*) FROM attempt WHERE outcome <> 'ok' GROUP BY ALL ORDER BY 3 DESC, 1",
    )
    assert errors == [
        ("RequestCancellationError", None, 17), ("ClientPayloadError", 200, 8), ("Too Many Requests", 429, 3),
        ("TimeoutError", None, 2), ("Internal Server Error", 500, 1),
    ]  # fmt: skip


@pytest.mark.shared
def test_the_ledger_balances(made: Store) -> None:
    assert rows(made, "SELECT source, tool, records, kept, set_aside, refused, duplicates FROM source_file") == [
        ("aiperf", "aiperf 0.13.0", 245, 245, 0, 0, 0)
    ]
    assert rows(made, "SELECT count(*) FROM request") == [(245,)]


@pytest.mark.shared
def test_times_of_an_answered_request_are_its_own_to_the_nanosecond(made: Store, conc16: Path) -> None:
    # The first measured answer: sent, first content, last content and end, from the line's own numbers.
    row = next(
        r
        for r in told(conc16 / "profile_export.jsonl")
        if r["metadata"]["benchmark_phase"] == "profiling" and not r.get("error")
    )
    start, first = row["metadata"]["request_start_ns"], round(row["metrics"]["time_to_first_token"]["value"] * 1e6)
    last = start + round(row["metrics"]["request_latency"]["value"] * 1e6)
    found = rows(
        made,
        "SELECT client_sent_ns, client_first_content_ns, client_first_answer_ns, client_last_content_ns, client_done_ns"
        f" FROM attempt WHERE request_id = '{row['metadata']['x_request_id']}'",
    )
    assert found == [(start, start + first, start + first, last, row["metadata"]["request_end_ns"])]


@pytest.mark.shared
def test_chunks_lie_where_the_gaps_put_them(made: Store, conc16: Path) -> None:
    row = next(r for r in told(conc16 / "profile_export.jsonl") if not r.get("error"))
    at = row["metadata"]["request_start_ns"] + round(row["metrics"]["time_to_first_token"]["value"] * 1e6)
    expected = [at]
    for gap in row["metrics"]["inter_chunk_latency"]["value"]:
        expected.append(expected[-1] + round(gap * 1e6))
    found = rows(
        made,
        f"SELECT m.time_ns, m.carries FROM message AS m JOIN attempt AS a USING (attempt_id) WHERE a.request_id = '{row['metadata']['x_request_id']}' ORDER BY 1",
    )
    assert found == [(time_ns, "content") for time_ns in expected]
    assert rows(
        made,
        "SELECT count(*) FROM message AS m JOIN request AS r ON r.answer_id = m.attempt_id WHERE r.phase = 'measured'",
    ) == [(6349 + 209,)]


@pytest.mark.shared
def test_its_own_first_token_times_are_reproduced(made: Store) -> None:
    # Nearest rank of 209: the 105th. The same figure stands in the note beside the file.
    found = rows(
        made,
        "SELECT n, p50 FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND load_point = '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'",
    )
    assert found[0][0] == 209
    assert found[0][1] == pytest.approx(352.678477, abs=1e-9)


@pytest.mark.shared
def test_a_cancelled_request_was_sent_when_its_http_trace_says(made: Store, conc16: Path) -> None:
    expected = {
        r["metadata"]["x_request_id"]: (r["trace_data"]["request_send_start_ns"], r["trace_data"]["error_timestamp_ns"])
        for r in told(conc16 / "profile_export.jsonl")
        if r["metadata"]["was_cancelled"]
    }
    found = rows(made, "SELECT request_id, client_sent_ns, client_done_ns FROM attempt WHERE outcome = 'cancelled'")
    assert {request: (sent, done) for request, sent, done in found} == expected
    waited = [(done - sent) / 1e6 for sent, done in expected.values()]
    assert (len(waited), min(waited) > 149, max(waited) < 160) == (17, True, True)
    assert [note for note in notes(made) if note.startswith("17 requests were stamped")]


@pytest.mark.shared
def test_a_refused_request_ended_when_its_answer_came_and_not_when_it_started(made: Store, conc16: Path) -> None:
    expected = {
        r["metadata"]["x_request_id"]: (r["metadata"]["request_start_ns"], r["trace_data"]["response_receive_end_ns"])
        for r in told(conc16 / "profile_export.jsonl")
        if (r.get("error") or {}).get("code") in (429, 500)
    }
    found = rows(made, "SELECT request_id, client_sent_ns, client_done_ns FROM attempt WHERE status_code >= 400")
    assert {request: (sent, done) for request, sent, done in found} == expected
    assert len(expected) == 4


@pytest.mark.shared
def test_a_load_that_waits_for_answers_has_no_schedule(made: Store) -> None:
    assert rows(made, "SELECT DISTINCT load_point, model FROM attempt") == [("concurrency 16", "mock-model")]
    assert rows(made, "SELECT count(client_scheduled_ns) FROM attempt") == [(0,)]


@pytest.mark.shared
def test_counts_of_the_server_and_of_the_text_stay_apart(made: Store) -> None:
    # total_usage_completion_tokens, total_usage_prompt_tokens, total_osl, total_isl, cached: the summary's own sums.
    found = rows(
        made,
        "SELECT sum(a.client_output_tokens), sum(a.client_input_tokens), sum(a.retokenized_output_tokens), sum(a.retokenized_input_tokens), sum(a.cached_tokens) FROM attempt AS a JOIN request AS r ON r.answer_id = a.attempt_id WHERE r.phase = 'measured' AND r.outcome = 'ok'",
    )
    assert [int(value) for value in found[0]] == [7481, 17052, 14354, 26502, 4182]


@pytest.mark.shared
def test_the_old_names_say_the_same(old: Store, shared_data: Path) -> None:
    source = told(shared_data / "public" / "aiperf-run1" / "profile_export.jsonl")
    assert rows(old, "SELECT outcome, count(*) FROM request GROUP BY 1 ORDER BY 1") == [("cancelled", 11), ("ok", 89)]
    assert rows(old, "SELECT DISTINCT load_point FROM attempt") == [("concurrency 100",)]
    answered = {r["metadata"]["x_request_id"]: r for r in source if not r["error"]}
    found = rows(
        old,
        "SELECT request_id, client_sent_ns, client_first_content_ns, client_last_content_ns, client_done_ns FROM attempt WHERE outcome = 'ok'",
    )
    assert len(found) == 89
    for request, sent, first, last, done in found:
        metrics = answered[request]["metrics"]
        assert sent == answered[request]["metadata"]["timestamp_ns"]
        assert first - sent == round(metrics["ttft"]["value"] * 1e6)
        assert last == metrics["max_response_timestamp"]["value"]
        assert done is None


@pytest.mark.shared
def test_reasoning_lies_inside_the_output(old: Store) -> None:
    found = rows(
        old,
        "SELECT sum(retokenized_output_tokens), sum(reasoning_tokens), count(client_output_tokens), sum(retokenized_input_tokens) FROM attempt WHERE outcome = 'ok'",
    )
    assert tuple(int(value) for value in found[0]) == (21624, 19792, 0, 48950)
    assert rows(old, "SELECT count(*) FROM attempt WHERE reasoning_tokens > output_tokens") == [(0,)]


ZERO = {"value": 0.0, "unit": "ms"}
GONE = {"code": 499, "type": "RequestCancellationError", "message": "Request cancelled 0.149s after being sent"}
ERRORS: list[tuple[Any, str, str]] = [
    ({"code": 503, "type": "Service Unavailable"}, "rejected", "Service Unavailable"),
    ({"code": 504, "type": "Gateway Timeout"}, "timeout", "Gateway Timeout"),
    ({"type": "ServerTimeoutError"}, "timeout", "ServerTimeoutError"),
    ({"type": "ClientPayloadError"}, "truncated", "ClientPayloadError"),
    ({"type": "RemoteProtocolError", "message": "closed without sending complete message"}, "truncated", "RemoteProtocolError"),
    ({"type": "ServerDisconnectedError"}, "error", "ServerDisconnectedError"),
    ({"code": 400, "type": "you said: " + "secret " * 30}, "error", "unknown"),
    ({}, "error", "unknown"),
    ("boom", "error", "unknown"),
]  # fmt: skip
SMALL = {
    "plain": a_row(),
    "one chunk": a_row(metrics={"inter_chunk_latency": None, "request_latency": {"value": 20.0, "unit": "ms"}}),
    "no gaps": a_row(metrics={"inter_chunk_latency": None}),
    "not streamed": a_row(metrics={"inter_chunk_latency": None, "time_to_first_token": None}),
    "zero": a_row(metrics={"time_to_first_token": ZERO, "inter_chunk_latency": None, "request_latency": ZERO}),
    "seconds": a_row(metrics={"time_to_first_token": {"value": 0.02, "unit": "s"}}),
    # Stamped 150 ms after the credit, with an end 149 ms on: both are of the moment of giving up.
    "late": failed(
        GONE,
        metadata={
            "was_cancelled": True,
            "credit_issued_ns": START - 150_000_000,
            "request_end_ns": START + 149_000_000,
        },
    ),
    "not late": failed(GONE, metadata={"was_cancelled": True, "request_end_ns": START + 149_000_000}),
    "no end": failed({"code": 429, "type": "Too Many Requests"}, metadata={"request_end_ns": START}),
    **{f"error {place}": failed(error) for place, (error, _, _) in enumerate(ERRORS)},
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Store:
    lines = [{**row, "metadata": {**row["metadata"], "x_request_id": name}} for name, row in SMALL.items()]
    return given(tmp_path_factory.mktemp("small"), *lines)


def of(store: Store, name: str, columns: str) -> tuple[Any, ...]:
    (found,) = rows(store, f"SELECT {columns} FROM attempt WHERE request_id = '{name}'")
    return found


CLIENT = "client_sent_ns, client_first_content_ns, client_last_content_ns, client_done_ns"


def test_a_line_is_a_request_with_its_times(small: Store) -> None:
    expected = (START, START + 20_000_000, START + 45_500_000, START + 50_000_000)
    assert of(small, "plain", f"{CLIENT}, outcome, streamed") == (*expected, "ok", True)
    assert rows(small, "SELECT tool, records, kept FROM source_file") == [("aiperf", len(SMALL), len(SMALL))]


def test_chunks_that_the_line_does_not_tell_are_not_made_up(small: Store) -> None:
    found = dict(
        rows(
            small,
            "SELECT a.request_id, list(m.time_ns ORDER BY m.time_ns) FROM message AS m JOIN attempt AS a USING (attempt_id) GROUP BY 1",
        )
    )
    assert found["one chunk"] == [START + 20_000_000]
    assert found["plain"] == [START + 20_000_000, START + 30_250_000, START + 45_500_000]
    assert "no gaps" not in found
    assert of(small, "no gaps", "client_last_content_ns") == (START + 45_500_000,)


def test_an_answer_that_was_not_streamed_has_no_first_content(small: Store) -> None:
    assert of(small, "not streamed", f"{CLIENT}, outcome, streamed") == (
        START,
        None,
        None,
        START + 50_000_000,
        "ok",
        False,
    )
    found = rows(
        small,
        "SELECT round(value, 6) FROM printed_value JOIN attempt USING (attempt_id) WHERE request_id = 'not streamed' AND tool = 'AIPerf'",
    )
    assert found == [(50.0,)]


def test_a_time_of_zero_is_none(small: Store) -> None:
    assert of(small, "zero", CLIENT) == (START, None, None, START + 50_000_000)
    assert "1 requests have a time of 0 ms, which is none and was left out" in notes(small)[0]


def test_other_units_are_other_units(small: Store) -> None:
    assert of(small, "seconds", "client_first_content_ns - client_sent_ns") == (20_000_000,)


def test_a_send_without_a_trace_is_reckoned_where_the_stamp_is_late(small: Store) -> None:
    assert of(small, "late", "outcome, client_sent_ns, client_done_ns") == ("cancelled", START - 149_000_000, START)
    assert of(small, "not late", "outcome, client_sent_ns, client_done_ns") == ("cancelled", START, START + 149_000_000)
    assert (
        "1 requests were stamped with their start when they were given up: their send is taken as that less the time they had waited"
        in notes(small)[0]
    )


def test_a_failure_without_an_end_has_none(small: Store) -> None:
    assert of(small, "no end", "outcome, client_sent_ns, client_done_ns") == ("rejected", START, None)
    assert "1 failed requests have no end: the file has their start there" in notes(small)[0]


def test_an_error_is_one_of_few_words(small: Store) -> None:
    found = rows(small, "SELECT outcome, error_type FROM attempt WHERE request_id LIKE 'error %' ORDER BY request_id")
    assert found == [(outcome, kind) for _, outcome, kind in ERRORS]


REFUSED: list[tuple[Any, str]] = [
    ("[1]", "not a JSON object"),
    ("nonsense", "not valid JSON"),
    ("{}", "metadata is missing"),
    ('{"metadata":"x","metrics":{}}', "no time at which the request started"),
    (a_row(metadata={"request_start_ns": None}), "no time at which the request started"),
    (a_row(metadata={"request_start_ns": 0}), "no time at which the request started"),
    (a_row(metadata={"request_start_ns": 10**25}), "request_start_ns is not a count of nanoseconds"),
    (a_row(metadata={"request_start_ns": 9 * 10**18}), "a time is out of range"),
    (a_row(metadata={"request_start_ns": -5}), "request_start_ns is not a count of nanoseconds"),
    (a_row(metadata={"request_end_ns": "soon"}), "request_end_ns is not a count of nanoseconds"),
    (a_row(metrics={"time_to_first_token": {"value": -1.0, "unit": "ms"}}), "time_to_first_token holds a value that is no duration"),
    (a_row(metrics={"time_to_first_token": {"value": 1e300, "unit": "ms"}}), "time_to_first_token holds a value that is no duration"),
    (a_row(metrics={"time_to_first_token": {"value": 1, "unit": "fortnights"}}), "time_to_first_token has a unit that is none of ns, us, ms, s"),
    (a_row(metrics={"inter_chunk_latency": {"value": [1.0, None], "unit": "ms"}}), "inter_chunk_latency holds a value that is no duration"),
    (a_row(trace_data={"request_send_start_ns": 1.5}), "request_send_start_ns is not a count of nanoseconds"),
    (a_row(trace_data={"error_timestamp_ns": 9 * 10**18}), "a time is out of range"),
    ('{"metadata":{"x_request', "torn last line: the file ends inside it"),
]  # fmt: skip


def test_a_line_that_cannot_be_taken_is_refused_with_its_reason(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(), *(line for line, _ in REFUSED))
    found = rows(store, "SELECT position, reason FROM refused ORDER BY CAST(split_part(position, ' ', 2) AS INTEGER)")
    assert found == [(f"line {place}", reason) for place, (_, reason) in enumerate(REFUSED, 2)]
    assert rows(store, "SELECT records, kept, refused FROM source_file") == [(1 + len(REFUSED), 1, len(REFUSED))]


def test_a_refused_line_is_shown_without_what_it_says(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(), a_row(metadata={"request_start_ns": None}, error={"message": "my secret prompt"}))
    ((sample,),) = rows(store, "SELECT sample FROM refused")
    assert "secret" not in sample
    assert sample.startswith('{"metadata":{"session_num":0,"x_request_id":"..."')


def test_hostile_names_stay_text(tmp_path: Path) -> None:
    name = "x'); DROP TABLE event; --\"\\"
    store = given(tmp_path, a_row(metadata={"x_request_id": name, "phase_name": name}))
    assert rows(store, "SELECT request_id, load_point FROM attempt") == [(name, name)]


def test_a_field_that_stands_twice_does_no_harm(tmp_path: Path) -> None:
    twice = json.dumps(a_row(metadata={"x_request_id": "r2"}))[:-1] + ',"metadata":{},"metrics":{}}'
    store = given(tmp_path, a_row(), twice)
    assert rows(store, "SELECT records = kept + refused, records FROM source_file") == [(True, 2)]


def test_a_request_without_an_id_gets_one_from_its_place(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(), a_row(metadata={"x_request_id": None}))
    assert Counter(request.endswith("#2") for (request,) in rows(store, "SELECT request_id FROM request")) == {
        True: 1,
        False: 1,
    }


def test_an_unknown_version_is_taken_and_named(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(trace_data={"request_headers": {"User-Agent": "aiperf/9.1.0"}}))
    assert rows(store, "SELECT tool, kept FROM source_file") == [("aiperf 9.1.0", 1)]
    assert notes(store) == ["AIPerf 9.1.0 is not among the versions whose files were checked (0.13.0)"]


def summary(folder: Path, *phases: dict[str, Any], name: str = "profile_export_aiperf.json", **more: Any) -> None:
    config = {"phases": list(phases), "models": {"items": [{"name": "m"}]}, **more}
    (folder / name).write_text(json.dumps({"aiperf_version": "0.13.0", "input_config": config}), encoding="utf-8")


def test_an_open_loop_has_its_schedule(tmp_path: Path) -> None:
    summary(tmp_path, {"name": "profiling", "kind": "profiling", "type": "poisson", "rate": 8.0})
    store = given(tmp_path, a_row(), a_row(metadata={"x_request_id": "later", "turn_index": 1}))
    assert rows(store, "SELECT request_id, load_point, client_scheduled_ns FROM attempt ORDER BY 1") == [
        ("later", "poisson 8/s", None), ("r1", "poisson 8/s", CREDIT)
    ]  # fmt: skip


def test_a_cap_makes_a_rate_wait_for_answers(tmp_path: Path) -> None:
    summary(tmp_path, {"name": "profiling", "kind": "profiling", "type": "constant", "rate": 2.5, "concurrency": 4})
    store = given(tmp_path, a_row())
    assert rows(store, "SELECT load_point, client_scheduled_ns FROM attempt") == [
        ("constant 2.5/s, concurrency 4 at most", None)
    ]


def test_phases_of_the_same_load_are_told_apart_by_their_names(tmp_path: Path) -> None:
    phases = [{"name": name, "kind": "profiling", "type": "concurrency", "concurrency": 4} for name in ("cold", "hot")]
    summary(tmp_path, *phases)
    lines = [a_row(metadata={"x_request_id": phase["name"], "phase_name": phase["name"]}) for phase in phases]
    assert rows(given(tmp_path, *lines), "SELECT request_id, load_point FROM attempt ORDER BY 1") == [
        ("cold", "cold: concurrency 4"), ("hot", "hot: concurrency 4")
    ]  # fmt: skip


def test_a_summary_that_is_torn_says_nothing_of_the_requests(tmp_path: Path) -> None:
    (tmp_path / "profile_export_aiperf.json").write_text('{"aiperf_version": "0.13.0", "input_con')
    assert rows(given(tmp_path, a_row()), "SELECT load_point, outcome FROM attempt") == [(None, "ok")]


def test_sequence_lengths_may_be_the_servers(tmp_path: Path) -> None:
    summary(tmp_path, endpoint={"use_server_token_count": True}, name="mine.json")
    store = given(tmp_path, a_row(), name="mine.jsonl")
    assert rows(
        store,
        "SELECT client_output_tokens, client_input_tokens, retokenized_output_tokens, retokenized_input_tokens FROM attempt",
    ) == [(3, 7, None, None)]


def test_packed_files_find_what_lies_beside_them(tmp_path: Path) -> None:
    summary(tmp_path, {"name": "profiling", "kind": "profiling", "type": "concurrency", "concurrency": 3})
    path = tmp_path / "profile_export.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(a_row()).encode()))
    assert rows(read(path, folder=tmp_path), "SELECT load_point FROM attempt") == [("concurrency 3",)]
    assert str(getattr(recognise(tmp_path / "profile_export_aiperf.json"), "name", None)) == "aiperf_summary"


@pytest.mark.shared
def test_each_file_is_known_by_one_source_only(conc16: Path) -> None:
    names = {path.name: source.name for path in sorted(conc16.iterdir()) if (source := recognise(path))}
    assert names == {
        "profile_export.jsonl": "aiperf", "profile_export_raw.jsonl": "aiperf_raw", "profile_export_aiperf.json": "aiperf_summary"
    }  # fmt: skip
    assert (
        explain(conc16 / "phase_manifest.json")
        == "it is AIPerf's list of phases, which holds no requests: those are in profile_export.jsonl beside it"
    )
    assert str(explain(conc16 / "profile_export_aiperf.csv")).startswith(
        "it is a summary of AIPerf or GenAI-Perf as a table"
    )


@pytest.mark.shared
def test_a_summary_without_its_requests_says_which_option_saves_them(conc16: Path, tmp_path: Path) -> None:
    alone = tmp_path / "profile_export_aiperf.json"
    alone.write_bytes((conc16 / "profile_export_aiperf.json").read_bytes())
    assert recognise(alone) is None
    assert "--export-level records" in str(explain(alone))
