"""Faults with failures: counted as successes, left out of the count, or with times that nobody read from a clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import TOTAL, engine_span, lines, rows, slo, store
from rendering import Page, of_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from building import Line


def test_an_error_frame_after_five_chunks_makes_a_failure_of_http_200(tmp_path: Path) -> None:
    chunks = "\n".join(f"a content {10 + i} kind=text tokens=1" for i in range(5))
    good = "b sent 0\nb first_content 100 tokens=1\nb last_content 400\nb done 400 outcome=ok output_tokens=5"
    failed = f"a sent 0\n{chunks}\na done 20 status_code=200 error_type=stream_error output_tokens=5"
    made = store(tmp_path, lines(f"{failed}\n{good}"), slo=[slo("ttft", 500)])
    assert rows(made, "SELECT outcome, output_tokens FROM attempt ORDER BY request_id") == [("error", 5), ("ok", 5)]
    assert rows(
        made,
        f"SELECT metric, n, failed, p50 FROM percentile WHERE metric IN ('ttft', 'e2e') AND population = 'ok' AND {TOTAL} ORDER BY 1",
    ) == [("e2e", 1, 1, 400.0), ("ttft", 1, 1, 100.0)]
    assert rows(made, f"SELECT n, good, bad FROM goodput WHERE {TOTAL}") == [(2, 1, 1)]


def test_250_requests_without_an_answer_stand_beside_the_percentile_of_6(tmp_path: Path) -> None:
    good = "\n".join(
        f"g{i} sent {i}\ng{i} first_content {i + 10000}\ng{i} done {i + 10001} outcome=ok" for i in range(6)
    )
    lost = "\n".join(f"t{i} sent {i}\nt{i} done {i + 120000} outcome=timeout" for i in range(250))
    made = store(tmp_path, lines(f"{good}\n{lost}"), slo=[slo("ttft", 15000)])
    assert rows(
        made,
        f"SELECT population, n, failed, p95 FROM percentile WHERE metric = 'ttft' AND population <> 'reached' AND {TOTAL} ORDER BY 1",
    ) == [("all", 256, 250, float("inf")), ("ok", 6, 250, 10000.0)]
    assert rows(made, f"SELECT n, good, share_low, share_high FROM attainment WHERE {TOTAL}") == [
        (256, 6, 6 / 256, 6 / 256)
    ]
    page = Page(of_run(made, tmp_path).html)
    assert page.headings()["outcomes"].startswith("250 of 256 requests timed out")
    assert page.headings()["attainment"].startswith("The curve stops at 2.34 %: 250 of 256 failed")


COUNTED = """
    a sent 0
    a done 100 outcome=ok
    b sent 1
    b done 101 outcome=ok
    c sent 2
    c done 102 outcome=ok
    d sent 3
    d done 103 outcome=ok
    e sent 4
    e done 104 outcome=error
    f sent 5
    f done 105 outcome=cancelled
    q scheduled 6
    q done 106 outcome=cancelled
"""


@pytest.mark.parametrize(
    "order",
    [
        lambda told: told,
        lambda told: told[::-1],
        lambda told: [*told[2:], *told[:2]],
        lambda told: sorted(told, key=str),
    ],
    ids=["cancelled in the queue last", "first", "in the middle", "by text"],
)
def test_a_request_that_was_cancelled_in_the_queue_counts_wherever_its_line_stands(
    tmp_path: Path, order: Callable[[list[Line]], list[Line]]
) -> None:
    made = store(tmp_path, order(lines(COUNTED)))
    assert rows(made, "SELECT offered, ok, error, cancelled FROM ledger WHERE load_point = '(all)'") == [(7, 4, 1, 2)]


def test_a_connection_that_is_closed_after_the_last_frame_takes_no_answer_back(tmp_path: Path) -> None:
    text = """
        a arrived 0
        a done 900 outcome=ok status_code=200 input_tokens=129555 output_tokens=6654
        a cancel_seen 901 outcome=cancelled status_code=499 error_type=client_disconnect
    """
    made = store(tmp_path, lines(text, side="gateway"))
    assert rows(made, "SELECT outcome, input_tokens, output_tokens FROM attempt") == [("ok", 129555, 6654)]
    assert rows(made, "SELECT subject FROM audit WHERE audit = 'fact conflict'") == [("a",)]


def test_a_leaving_that_was_noticed_after_an_end_without_an_outcome_is_a_leaving(tmp_path: Path) -> None:
    text = "a arrived 0\na done 900\na cancel_seen 901 status_code=499"
    made = store(tmp_path, lines(text, side="gateway"))
    assert rows(made, "SELECT outcome FROM attempt") == [("cancelled",)]


def test_requests_that_no_server_has_heard_of_were_offered_all_the_same(tmp_path: Path) -> None:
    lost = "\n".join(f"t{i} sent {i}\nt{i} done {i + 120000} outcome=timeout" for i in range(4))
    heard = "a sent 0 response_id=chatcmpl-a\na first_content 150\na done 200 outcome=ok"
    engine = engine_span(
        "11" * 16, 1, start=1, ttft=100, queue=20, prefill=60, decode=30, tokens=5,
        attributes={"gen_ai.request.id": "chatcmpl-a"},
    )  # fmt: skip
    made = store(tmp_path, lines(f"{lost}\n{heard}"), spans=[engine])
    assert rows(made, "SELECT offered, ok, timeout FROM ledger WHERE load_point = '(all)'") == [(5, 1, 4)]
    assert rows(made, "SELECT sum(n) FROM audit WHERE audit = 'client only'") == [(4,)]
    assert rows(made, "SELECT client_only FROM side_ledger") == [(4,)]


@pytest.mark.parametrize("told", ["status_code=503", "outcome=rejected"])
def test_a_failure_without_an_end_is_a_failure_and_moves_no_window(tmp_path: Path, told: str) -> None:
    made = store(tmp_path, lines(f"a sent 5 {told}\nb sent 0\nb done 10000 outcome=ok"))
    assert rows(made, "SELECT outcome, client_done_ns FROM attempt WHERE request_id = 'a'") == [("rejected", None)]
    assert rows(made, "SELECT e2e_ms FROM attempt_metric WHERE request_id = 'a'") == [(None,)]
    assert rows(made, "SELECT length_s FROM run_window") == [(10.0,)]
    assert rows(made, f"SELECT n, failed FROM percentile WHERE metric = 'e2e' AND population = 'all' AND {TOTAL}") == [
        (2, 1)
    ]


def test_a_failure_whose_start_is_zero_does_not_stretch_the_run_over_decades(tmp_path: Path) -> None:
    second = 1_000_000_000
    same = {"side": "client", "clock": "c"}
    told: list[Line] = []
    for i in range(9):
        sent = (1_700_000_000 + i) * second
        told += [
            {**same, "request": f"r{i}", "event": "sent", "ns": str(sent)},
            {**same, "request": f"r{i}", "event": "done", "ns": str(sent + 2 * second), "outcome": "ok"},
        ]
    told += [{**same, "request": "f", "event": event, "ns": 0, "outcome": "error"} for event in ("sent", "done")]
    made = store(tmp_path, told)
    assert rows(made, "SELECT offered, ok, window_s, ok_per_s, offered_per_s FROM throughput") == [
        (10, 9, 10.0, 0.9, 1.0)
    ]
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'clock not set'") == [("c", 2)]
    assert rows(made, "SELECT e2e_ms FROM attempt_metric WHERE request_id = 'f'") == [(None,)]
