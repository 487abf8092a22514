"""Faults with first content: messages that are none, zeros that were never measured, a token taken for a chunk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import TOTAL, engine_span, lines, rows, slo, store

if TYPE_CHECKING:
    from pathlib import Path


def test_a_message_with_only_a_role_is_not_the_first_content(tmp_path: Path) -> None:
    streams = """
        a sent 0 streamed=true
        a chunk 5 kind=role
        a content 120 kind=text
        a done 400 outcome=ok
        b sent 0 streamed=true
        b chunk 5 kind=role
        b chunk 6 kind=empty
        b done 400 outcome=ok
    """
    made = store(tmp_path, lines(streams))
    assert rows(made, "SELECT request_id, ttft_ms, ttft_why FROM attempt_metric ORDER BY 1") == [
        ("a", 120.0, None),
        ("b", None, "no content came"),
    ]


def test_answers_of_reasoning_alone_stay_in_the_population_of_first_content(tmp_path: Path) -> None:
    spoken = (
        "{0} sent 0 streamed=true\n{0} content 100 kind=reasoning\n{0} content 500 kind=text\n{0} done 900 outcome=ok"
    )
    silent = "{0} sent 0 streamed=true\n{0} content 100 kind=reasoning\n{0} done 900 outcome=ok"
    text = "\n".join((silent if i < 3 else spoken).format(f"r{i}") for i in range(10))
    made = store(tmp_path, lines(text))
    found = rows(
        made,
        f"SELECT metric, n, failed FROM percentile WHERE metric IN ('ttft', 'ttfa') AND population = 'ok' AND {TOTAL} ORDER BY 1 DESC",
    )
    assert found == [("ttft", 10, 0), ("ttfa", 7, 3)]
    assert rows(made, "SELECT ttfa_why, count(*) FROM attempt_metric WHERE ttfa_ms IS NULL GROUP BY 1") == [
        ("no content came", 3)
    ]


def test_a_trailing_usage_message_is_neither_a_token_nor_the_last_content(tmp_path: Path) -> None:
    stream = """
        a sent 0 streamed=true
        a content 100 kind=text tokens=1
        a content 200 kind=text tokens=1
        a chunk 900 kind=usage
        a done 900 outcome=ok output_tokens=2
    """
    made = store(tmp_path, lines(stream))
    assert rows(made, "SELECT ttft_ms, tpot_ms, e2e_ms FROM attempt_metric") == [(100.0, 100.0, 900.0)]
    assert rows(made, "SELECT (client_last_content_ns - client_sent_ns) / 1e6 FROM attempt") == [(200.0,)]
    assert rows(made, "SELECT count(*) FROM content") == [(2,)]


def test_zeros_of_an_engine_pull_no_percentile_down(tmp_path: Path) -> None:
    spans = [
        engine_span(f"{i:032x}", i, start=i, ttft=0 if i <= 12 else 100 + i, queue=20, prefill=60, decode=30, tokens=5)
        for i in range(1, 41)
    ]
    made = store(tmp_path, spans=spans)
    for q in (0.01, 0.05, 0.1, 0.25):
        found = rows(
            made,
            f"SELECT low, n, unknown FROM percentile_at('ttft_engine', {q}) WHERE population = 'ok' AND {TOTAL}",
        )
        assert found == [(100.0 + 12 + max(1, -(-28 * q // 1)), 28, 12)]
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'implausible value'") == [
        ("gen_ai.latency.time_to_first_token", 12)
    ]


def test_zeros_of_a_client_were_not_measured_and_are_pointed_out(tmp_path: Path) -> None:
    text = "\n".join(
        f"r{i} sent {i}\nr{i} first_content {i if i < 12 else i + 100 + i} tokens=1\nr{i} last_content {i + 300} output_tokens=3\nr{i} done {i + 300} outcome=ok"
        for i in range(40)
    )
    made = store(tmp_path, lines(text), slo=[slo("ttft", 50), slo("tpot", 500, name="tokens")])
    found = rows(
        made, f"SELECT p50, n, unknown FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND {TOTAL}"
    )
    assert found == [(125.0, 28, 12)]
    assert rows(made, f"SELECT slo, n, good, bad, unknown FROM attainment WHERE {TOTAL} ORDER BY 1") == [
        ("p", 40, 0, 28, 12),
        ("tokens", 40, 28, 0, 12),
    ]
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'no time had passed'") == [
        ("client first_content at the time of sent", 12)
    ]


@pytest.mark.parametrize("streamed", ["", "streamed=true"])
def test_a_run_that_shows_no_content_at_all_kept_no_promise_and_broke_none(tmp_path: Path, streamed: str) -> None:
    text = "\n".join(
        f"r{i} sent {i} {streamed}\nr{i} done {i + 4760} outcome=ok output_tokens=1000" for i in range(300)
    )
    made = store(tmp_path, lines(text), slo=[slo("ttft", 500)])
    assert rows(made, f"SELECT n, good, bad, unknown FROM attainment WHERE {TOTAL}") == [(300, 0, 0, 300)]
    assert rows(made, "SELECT verdict FROM verdict") == [("cannot tell",)]
    assert rows(made, f"SELECT n FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND {TOTAL}") == [(0,)]


def test_content_that_is_known_by_its_last_message_alone_did_come(tmp_path: Path) -> None:
    text = "a sent 0 streamed=true\na last_content 50\na done 60 outcome=ok\nb sent 0\nb first_content 5\nb done 9 outcome=ok"
    made = store(tmp_path, lines(text), slo=[slo("ttft", 500)])
    assert rows(made, "SELECT ttft_why FROM attempt_metric WHERE request_id = 'a'") == [("not recorded",)]
    assert rows(made, f"SELECT good, bad, unknown FROM attainment WHERE {TOTAL}") == [(1, 0, 1)]


def test_steps_of_three_tokens_are_no_times_between_tokens(tmp_path: Path) -> None:
    chunks = "\n".join(f"a content {100 + 9 * i} kind=text tokens=3" for i in range(12))
    made = store(tmp_path, lines(f"a sent 0\n{chunks}\na done 200 outcome=ok output_tokens=36"))
    # 99 ms for 33 tokens, which is 333 tokens/s for the only user; the gaps between chunks are 9 ms.
    assert rows(made, "SELECT tpot_ms FROM attempt_metric") == [(3.0,)]
    assert rows(made, "SELECT kind, count(*), min(gap_ms), max(gap_ms) FROM inter_token GROUP BY 1") == [
        ("icl", 11, 9.0, 9.0)
    ]


def test_the_pace_of_tokens_has_one_name_with_and_one_without_the_wait_before_them(tmp_path: Path) -> None:
    text = "a sent 0\na first_content 5000 tokens=1\na last_content 10000 output_tokens=100\na done 10000 outcome=ok"
    made = store(tmp_path, lines(text))
    # 19.8 tokens/s while they came, 10.0 tokens/s over the whole wait.
    assert rows(made, "SELECT round(1000 / tpot_ms, 9), round(1000 / ntpot_ms, 9) FROM attempt_metric") == [
        (19.8, 10.0)
    ]
