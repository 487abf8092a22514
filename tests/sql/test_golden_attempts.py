"""Attempts against requests, branches that join, and what follows a cancellation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import lines, rows, span, store

if TYPE_CHECKING:
    from pathlib import Path

SECOND = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:01Z"}


def test_one_retry_for_a_fifth_of_100_requests_a_second_is_120_attempts_a_second(tmp_path: Path) -> None:
    first = "\n".join(f"r{i} sent {i}\nr{i} done {i + 5} outcome={'error' if i < 20 else 'ok'}" for i in range(100))
    again = "\n".join(f"r{i} sent 200 attempt=2\nr{i} done 300 attempt=2 outcome=ok" for i in range(20))
    made = store(tmp_path, lines(first + "\n" + again), window=SECOND)
    assert rows(
        made,
        "SELECT requests, attempts, retried, recovered, amplification, attempts_per_s FROM retry_amplification"
        " WHERE load_point = '(all)' AND window_start = '(all)'",
    ) == [(100, 120, 20, 20, 1.2, 120.0)]


def test_a_budget_of_one_retry_is_120_attempts_and_not_124(tmp_path: Path) -> None:
    first = "\n".join(f"r{i} sent {i}\nr{i} done {i + 5} outcome={'timeout' if i < 20 else 'ok'}" for i in range(100))
    again = "\n".join(
        f"r{i} sent 200 attempt=2\nr{i} done 300 attempt=2 outcome={'timeout' if i < 4 else 'ok'}" for i in range(20)
    )
    made = store(tmp_path, lines(first + "\n" + again))
    assert rows(made, "SELECT attempts, requests FROM retry_amplification WHERE load_point = '(all)'") == [(120, 100)]
    assert rows(made, "SELECT count(*) FROM attempt WHERE outcome = 'timeout'") == [(24,)]
    assert rows(made, "SELECT outcome, count(*) FROM request GROUP BY 1 ORDER BY 1") == [("ok", 96), ("timeout", 4)]


def branches(*times: tuple[float, float]) -> str:
    """Required branches of request p, each from start to end in ms."""
    return "\n".join(
        f"b{i} sent {start} parent=p\nb{i} done {end} parent=p outcome=ok" for i, (start, end) in enumerate(times)
    )


@pytest.mark.parametrize(
    ("times", "path", "whole"),
    [
        ([(0, 100), (0, 120), (0, 800)], 800.0, 800.0),
        ([(0, 15_000), (15_000, 45_000), (45_000, 85_000), (85_000, 95_000)], 95_000.0, 95_000.0),
        ([(0, 100), (50, 150), (200, 300)], 250.0, 300.0),
    ],
    ids=["parallel: the slowest", "serial: the sum", "overlaps once, waiting apart"],
)
def test_branches_that_join_follow_the_critical_path(
    times: list[tuple[float, float]], path: float, whole: float, tmp_path: Path
) -> None:
    made = store(tmp_path, lines(branches(*times)))
    assert rows(made, "SELECT request_id, branches, all_ok, path_ms, whole_ms FROM fan_out") == [
        ("p", len(times), True, path, whole)
    ]
    assert rows(made, "SELECT last_branch FROM fan_out") == [(f"b{len(times) - 1}",)]


def test_twenty_branches_of_99_percent_are_81_8_percent_if_independent_and_the_measured_share_stands_beside_it(
    tmp_path: Path,
) -> None:
    told = "\n".join(
        f"p{p}b{b} sent {p} parent=p{p}\np{p}b{b} done {p + 9} parent=p{p} outcome={'error' if p == b == 0 else 'ok'}"
        for p in range(5)
        for b in range(20)
    )
    made = store(tmp_path, lines(told))
    assert rows(
        made, "SELECT branches, parents, all_ok, branch_share, measured_share, independent_share FROM fan_out_rate"
    ) == [(20, 5, 4, 0.99, 0.8, pytest.approx(0.8179069375972308, rel=1e-12))]


CANCELLED = """
a sent 0
a arrived 1 side=gateway
a arrived 2 side=engine
a done 119 outcome=cancelled
a cancel_seen 120 side=gateway
a cancel_forwarded 125 side=gateway
a dequeued 140 side=engine
a released 145 side=engine
"""


def test_a_cancellation_takes_5_15_and_5_ms_to_give_the_memory_back_after_25(tmp_path: Path) -> None:
    made = store(tmp_path, lines(CANCELLED))
    assert rows(made, "SELECT forward_ms, dequeue_ms, release_ms, release_lag_ms, release FROM cancellation") == [
        (5.0, 15.0, 5.0, 25.0, "released")
    ]


def test_a_release_that_nobody_told_is_not_acknowledged_and_not_0(tmp_path: Path) -> None:
    made = store(tmp_path, lines(CANCELLED.replace("a released 145 side=engine\n", "")))
    assert rows(made, "SELECT release_lag_ms, release_lag_why, release FROM cancellation") == [
        (None, "release not acknowledged", "closed, release not acknowledged")
    ]


def test_a_forwarding_is_not_counted_from_what_the_engine_saw_on_its_own_clock(tmp_path: Path) -> None:
    told = CANCELLED.replace("a cancel_seen 120 side=gateway", "a cancel_seen 3 side=engine").replace(
        "side=engine", "side=engine clock=e"
    )
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT forward_ms, dequeue_ms, release_ms, overrun_ms, overrun_why FROM cancellation") == [
        (None, None, 5.0, None, "the engine's end was not recorded")
    ]


def test_branches_on_two_clocks_have_no_common_path(tmp_path: Path) -> None:
    told = "\n".join(
        f"b{i} arrived 0 parent=p side=engine clock=e{i}\nb{i} done 9 parent=p side=engine clock=e{i} outcome=ok"
        for i in range(2)
    )
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT branches, path_ms, whole_ms, path_why FROM fan_out") == [
        (2, None, None, "different clocks")
    ]


def test_branches_of_the_warm_up_are_in_no_rate(tmp_path: Path) -> None:
    made = store(tmp_path, lines(branches((0, 100), (0, 120)), phase="warmup"))
    assert rows(made, "SELECT counted FROM fan_out") == [(False,)]
    assert rows(made, "SELECT * FROM fan_out_rate") == []


def test_branches_of_a_request_that_is_in_the_data_are_no_demand_of_their_own(tmp_path: Path) -> None:
    made = store(tmp_path, lines("p sent 0\np done 810 outcome=ok\n" + branches((0, 100), (0, 120), (0, 800))))
    assert rows(made, "SELECT offered, attempts FROM ledger WHERE load_point = '(all)'") == [(1, 1)]
    assert rows(made, "SELECT DISTINCT not_counted_why FROM request WHERE NOT counted") == [
        ("a branch of a request that is in the data itself",)
    ]
    assert rows(made, "SELECT parent_seen, outcome, counted, path_ms FROM fan_out") == [(True, "ok", True, 800.0)]


def test_calls_within_the_run_of_an_agent_are_its_branches_with_one_critical_path(tmp_path: Path) -> None:
    """Two calls at once, a step of the agent's own, and a third call inside a tool: 800 of 1,500 ms and then 200."""
    trace = "a" * 32
    operation = "gen_ai.operation.name"

    def made_by(number: int, parent: int, start: float, end: float) -> dict[str, object]:
        return span(
            trace,
            number,
            parent=parent,
            service="app",
            scope="app",
            kind=3,
            start=start,
            end=end,
            attributes={operation: "chat", "gen_ai.request.model": "m"},
        )

    agent = span(
        trace, 1, service="app", scope="app", kind=1, start=0, end=1500, attributes={operation: "invoke_agent"}
    )
    tool = span(
        trace,
        2,
        parent=1,
        service="app",
        scope="app",
        kind=1,
        start=1000,
        end=1400,
        attributes={operation: "execute_tool"},
    )
    made = store(tmp_path, spans=[agent, tool, made_by(3, 1, 0, 100), made_by(4, 1, 0, 800), made_by(5, 2, 1100, 1300)])
    query = "SELECT request_id, parent_seen, branches, all_ok, path_ms, whole_ms FROM fan_out"
    assert rows(made, query) == [(f"{trace}/{1:016x}", False, 3, True, 1000.0, 1300.0)]
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(3,)]
