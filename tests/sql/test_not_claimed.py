"""What the views do not say: times of two clocks, waits that nobody saw, faults of runs that are well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from building import BASE_NS, lines, rows, span, store

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store


def states(*told: tuple[str, float], **facts: Any) -> list[dict[str, Any]]:
    """Changes of state, each a word and its second."""
    return [
        {"event": event, "ns": str(BASE_NS + round(second * 1e9)), "clock": "c", "side": "engine", **facts}
        for event, second in told
    ]


def audits(made: Store) -> set[str]:
    return {audit for (audit,) in rows(made, "SELECT DISTINCT audit FROM audit")}


def test_runs_whose_names_have_slashes_keep_their_attempts_apart(tmp_path: Path) -> None:
    told = lines("c sent 0\nc done 100 outcome=ok", run="a/b") + lines("b/c sent 0\nb/c done 900 outcome=ok", run="a")
    made = store(tmp_path, told)
    assert rows(made, "SELECT run, e2e_ms FROM request_metric ORDER BY 1") == [("a", 900.0), ("a/b", 100.0)]
    assert rows(made, "SELECT DISTINCT attempt_id FROM attempt ORDER BY 1") == [('"a/b"/c/1',), ("a/b/c/1",)]


@pytest.mark.parametrize(
    "told",
    [
        (
            "a done 5 outcome=error\na sent 900 attempt=2 clock=d\na done 910 attempt=2 clock=d outcome=error\n"
            "a sent 1000 attempt=3\na first_content 1050 attempt=3\na done 1060 attempt=3 outcome=ok"
        ),
        "a scheduled 0\na sent 900 attempt=2 clock=d\na done 910 attempt=2 clock=d outcome=ok",
        (
            "a sent 0\na done 50 outcome=error\na sent 700 attempt=2 clock_kind=monotonic\na first_content 740 attempt=2 clock_kind=monotonic\n"
            "a done 750 attempt=2 clock_kind=monotonic outcome=ok"
        ),
    ],
    ids=["the first was never seen to be sent", "scheduled on another clock", "one name, two kinds"],
)
def test_a_request_over_two_clocks_has_no_time_of_its_own(told: str, tmp_path: Path) -> None:
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT ttft_ms, e2e_ms, lateness_ms FROM request_metric") == [(None, None, None)]
    assert rows(made, "SELECT * FROM excess WHERE part = 'retries' AND high_ms > 0") == []


def told(name: str, sent: float, arrived: float, started: float, token: float, content: float) -> str:
    return f"""{name} sent {sent}
{name} first_content {content}
{name} done {content + 21} outcome=ok output_tokens=5
{name} arrived {arrived} side=engine clock=e
{name} admitted {arrived} side=engine clock=e
{name} started {started} side=engine clock=e
{name} first_token {token} side=engine clock=e
{name} done {token + 21} side=engine clock=e outcome=ok
"""


def test_a_stratum_whose_excess_nobody_saw_is_not_put_down_to_the_little_that_was_seen(tmp_path: Path) -> None:
    quick = "".join(
        told(f"u{i}", 1000 * i, 1000 * i + 5, 1000 * i + 15, 1000 * i + 65, 1000 * i + 70) for i in range(9)
    )
    far = "".join(
        told(f"s{i}", 9000 * i, 9000 * i + 1005, 9000 * i + 1017, 9000 * i + 1067, 9000 * i + 1072) for i in range(5)
    )
    made = store(tmp_path, [*lines(quick, tenant="quick"), *lines(far, tenant="far")])
    query = "SELECT DISTINCT finding FROM stratum_diagnosis WHERE tenant = 'far' AND about = 'first content'"
    assert rows(made, query) == [("not enough evidence",)]


def test_a_canary_whose_failures_are_answered_elsewhere_is_worse_all_the_same(tmp_path: Path) -> None:
    lines_of = []
    for i in range(100):
        bad, new = i % 10 == 0, i % 5 == 0
        lines_of.append(
            f"r{i} sent {i} revision={'new' if new else 'old'}\nr{i} done {i + 1} outcome={'error' if bad else 'ok'}"
        )
        if bad:
            lines_of.append(f"r{i} sent {i + 2} attempt=2 revision=old\nr{i} done {i + 3} attempt=2 outcome=ok")
    made = store(tmp_path, lines("\n".join(lines_of)))
    assert rows(made, "SELECT n, good, finding FROM revision_delta WHERE revision = 'new'") == [(20, 10, "worse")]


def test_a_copy_that_lost_holds_nobody_up(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(
            """
p sent 0
p done 130 outcome=ok
a sent 0 parent=p
a done 500 outcome=cancelled
a sent 50 attempt=2 parent=p
a done 100 attempt=2 outcome=ok
b sent 0 parent=p
b done 120 outcome=ok
"""
        ),
    )
    assert rows(made, "SELECT path_ms, whole_ms, last_branch FROM fan_out") == [(120.0, 120.0, "b")]


def test_branches_of_a_retry_are_branches_of_the_request(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(
            """
p sent 0
p done 10 outcome=error
p2 sent 20 retry_of=p
p2 done 130 outcome=ok
a sent 21 parent=p2
a done 100 outcome=ok
"""
        ),
    )
    assert rows(made, "SELECT request_id FROM request WHERE counted") == [("p",)]
    assert rows(made, "SELECT request_id, parent_seen FROM fan_out") == [("p", True)]


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (
            "p arrived 0 side=gateway clock=g\np done 9 side=gateway clock=g outcome=ok\na sent 1 parent=p\na done 5 outcome=ok",
            ["a"],
        ),
        ("a sent 0 parent=b\na done 5 outcome=ok\nb sent 1 parent=a\nb done 5 outcome=ok", ["a"]),
    ],
    ids=["the parent is not seen by the side that heads the run", "two that name each other"],
)
def test_no_demand_is_lost_as_a_branch(said: str, counted: list[str], tmp_path: Path) -> None:
    made = store(tmp_path, lines(said))
    assert [request for (request,) in rows(made, "SELECT request_id FROM request WHERE counted ORDER BY 1")] == counted


def test_doors_and_failures_are_counted_by_declared_load_point(tmp_path: Path) -> None:
    said = "\n".join(
        f"r{i} sent {i * 400}\nr{i} done {i * 400 + 9} outcome={'timeout' if i < 3 else 'rejected' if i > 7 else 'ok'}"
        for i in range(10)
    )
    points = [
        {"name": "lo", "start": str(BASE_NS), "end": str(BASE_NS + 2 * 10**9)},
        {"name": "hi", "start": str(BASE_NS + 2 * 10**9), "end": str(BASE_NS + 5 * 10**9)},
    ]
    made = store(tmp_path, lines(said), load_points=points)
    assert rows(made, "SELECT load_point, attempts, rejected, timed_out FROM admission ORDER BY 1") == [
        ("(all)", 10, 2, 3), ("hi", 5, 2, 0), ("lo", 5, 0, 3),
    ]  # fmt: skip
    assert rows(made, "SELECT subject FROM audit WHERE audit = 'no overload gate'") == [("load point lo",)]


def test_what_a_clocks_error_may_have_cut_off_is_not_known(tmp_path: Path) -> None:
    said = """
a sent 100
a first_content 200
a done 210 outcome=ok
a arrived 92 side=gateway clock=g
a admitted 122 side=gateway clock=g
a done 209 side=gateway clock=g
"""
    related = [{"clocks": ["c", "g"], "relation": "offset", "offset_ms": 0, "error_ms": 20}]
    made = store(tmp_path, lines(said), clocks=related)
    ((low, high),) = rows(made, "SELECT low_ms, high_ms FROM stage WHERE stage = 'unattributed'")
    assert low <= 70
    assert high >= 78


@pytest.mark.parametrize(
    ("turns", "away"),
    [
        ([("preempted", 30), ("resumed", 50), ("preempted", 50), ("resumed", 70)], 40.0),
        ([("preempted", 30), ("preempted", 60), ("resumed", 70)], None),
    ],
    ids=["put back and taken off at one time", "a putting back is missing"],
)
def test_preempted_time_is_what_pairs_up(turns: list[tuple[str, float]], away: float | None, tmp_path: Path) -> None:
    said = "a arrived 0 side=engine\na started 10 side=engine\na last_token 110 side=engine\na done 112 side=engine outcome=ok\n"
    made = store(tmp_path, lines(said + "\n".join(f"a {event} {at} side=engine" for event, at in turns)))
    found = rows(made, "SELECT preempted_ms, service_ms, service_why FROM service_time")
    why = None if away is not None else "preempted and resumed do not pair"
    assert found == [(away, away and 100.0 - away, why)]


def test_an_attempt_on_an_unrelated_clock_is_not_drawn_beside_the_first(tmp_path: Path) -> None:
    said = (
        "a sent 0\na done 100 outcome=timeout\na sent 5000 attempt=2 clock=d\na done 5100 attempt=2 clock=d outcome=ok"
    )
    made = store(tmp_path, lines(said))
    assert rows(made, "SELECT attempt, start_ms, related FROM request_timeline ORDER BY 1") == [
        (1, 0.0, True),
        (2, 0.0, False),
    ]


def test_sides_that_share_a_clock_share_its_zero(tmp_path: Path) -> None:
    said = """
a sent 0
a done 200 outcome=ok
a arrived 10 side=gateway clock=s
a arrived 60 side=engine clock=s
a admitted 61 side=engine clock=s
a started 80 side=engine clock=s
a first_token 100 side=engine clock=s
"""
    made = store(tmp_path, lines(said))
    query = "SELECT at_ms FROM timeline_entry WHERE what IN ('admitted', 'queue') ORDER BY entry"
    assert rows(made, query) == [(51.0,), (51.0,)]


def test_two_kinds_of_clock_are_two_places(tmp_path: Path) -> None:
    said = "\n".join(f"{n} arrived {i} side=engine{k}\n{n} started {i + 1} side=engine{k}\n{n} done {i + 10} side=engine{k} outcome=ok" for i, (n, k) in enumerate([("a", ""), ("b", ""), ("m", " clock_kind=monotonic"), ("n", " clock_kind=monotonic")]))  # fmt: skip
    made = store(tmp_path, lines(said))
    assert rows(made, "SELECT n, peak_in_flight FROM occupancy ORDER BY 1") == [(2, 2), (2, 2)]


WORKER = "a arrived {at} side=engine worker=w\na done {end} side=engine outcome=ok"


def test_loading_that_ended_is_over_although_nobody_said_ready(tmp_path: Path) -> None:
    loading = span(
        "1" * 32,
        1,
        service="w",
        scope="vllm.model_executor.model_loader",
        kind=1,
        name="Load model",
        start=0,
        end=60_000,
        host="c",
    )
    made = store(tmp_path, lines(WORKER.format(at=100_000, end=100_100)), spans=[loading])
    assert rows(made, "SELECT start_ns IS NOT NULL FROM control_event") == [(True,)]
    assert not audits(made) & {"traffic before ready", "cold inside the window"}


def test_loading_that_is_still_going_on_is_before_ready(tmp_path: Path) -> None:
    loading = span(
        "1" * 32,
        1,
        service="w",
        scope="vllm.model_executor.model_loader",
        kind=1,
        name="Load model",
        start=0,
        end=60_000,
        host="c",
    )
    made = store(tmp_path, lines(WORKER.format(at=30_000, end=30_100)), spans=[loading])
    assert audits(made) >= {"traffic before ready", "cold inside the window"}


@pytest.mark.parametrize(
    ("said", "told_states"),
    [
        (
            "a arrived 500 side=gateway\na admitted 2500 side=gateway\na arrived 2600 side=engine clock=e worker=w\na done 2700 side=engine clock=e outcome=ok",
            states(("load", 0), ("ready", 2)),
        ),
        (WORKER.format(at=5000, end=5100), states(("load", 0), ("warm", 1), ("ready", 1), worker="w")),
        (WORKER.format(at=3000, end=3100), states(("load", 0), ("ready", 1), worker="w") + states(("load", 2), ("warm", 2.5)) + states(("ready", 5), worker="v")),
    ],
    ids=["held back by the gateway", "warm and ready at one time", "another worker's loading"],
)  # fmt: skip
def test_traffic_that_met_a_ready_worker_is_no_fault(
    said: str, told_states: list[dict[str, Any]], tmp_path: Path
) -> None:
    made = store(tmp_path, [*lines(said), *told_states])
    assert not audits(made) & {"traffic before ready", "cold inside the window", "traffic after drain"}


def test_a_drain_that_is_told_twice_is_one(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(WORKER.format(at=0, end=2000))
        + states(("ready", -1), ("drain", 1), ("drain", 1.5), ("stop", 3), worker="w"),
    )
    assert rows(made, "SELECT in_flight, finished, bound_by FROM drain_account") == [(1, 1, "stop")]
    assert "drain" not in audits(made)


def test_attempts_of_an_engine_that_tells_no_arrival_are_in_flight_and_judged(tmp_path: Path) -> None:
    said = """
b arrived 7000 side=gateway worker=w
b started 7100 side=engine worker=w
b done 8501 side=engine outcome=ok
a arrived 9000 side=gateway worker=w
a started 9100 side=engine worker=w
a done 9200 side=engine outcome=ok
"""
    made = store(tmp_path, lines(said) + states(("ready", 2), ("drain", 8), ("stop", 10), worker="w"))
    assert rows(made, "SELECT in_flight, finished FROM drain_account") == [(1, 1)]
    assert "traffic after drain" in audits(made)


def test_a_server_whose_record_ends_after_its_answer_contradicts_no_clock(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines("a sent 0\na done 100.0001 outcome=ok\na arrived 1 side=gateway\na done 100.2 side=gateway outcome=ok"),
    )
    assert "clocks contradicted" not in audits(made)
    assert rows(made, "SELECT low_by FROM clock_advice") == [("end",)]


@pytest.mark.parametrize(
    "said",
    [
        "\n".join(f"r{i} sent {20 * i}\nr{i} first_content {20 * i + 500}\nr{i} done {20 * i + 510} outcome=ok" for i in range(20)),
        "\n".join(f"r{i} arrived {100 * i} side=engine\nr{i} started {100 * i} side=engine\nr{i} done {100 * i + 90} side=engine outcome=ok" for i in range(6))
        + "\nlost arrived 0 side=engine",
    ],
    ids=["short streams of requests that ran together", "one after the other, and one whose end is not known"],
)  # fmt: skip
def test_servers_that_are_not_shown_to_be_serialized_are_not_said_to_be(said: str, tmp_path: Path) -> None:
    assert "serialized" not in audits(store(tmp_path, lines(said)))


def test_a_timeout_that_a_gateway_noted_as_499_is_no_fault_of_the_request(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(
            "a sent 0\na done 5000 outcome=timeout\na arrived 1 side=gateway\na done 5001 side=gateway status_code=499"
        ),
    )
    assert rows(made, "SELECT failure_class FROM attempt") == [("unknown",)]


def test_a_refusal_that_only_the_gateway_recorded_is_one(tmp_path: Path) -> None:
    said = "\n".join(
        f"r{i} sent {i}\nr{i} done {5000 + i} outcome=timeout\nr{i} arrived {i} side=gateway\nr{i} rejected {i + 1} side=gateway status_code=429"
        for i in range(3)
    )
    made = store(tmp_path, lines(said))
    assert rows(made, "SELECT DISTINCT rejected, not_known FROM admission") == [(3, 0)]
    assert "no overload gate" not in audits(made)


@pytest.mark.parametrize(
    "said",
    [
        "a sent 0\na done 9 outcome=ok\na arrived 1 side=gateway\na admitted 2 side=gateway\na done 8 side=gateway outcome=ok",
        "a arrived 1 side=engine\na admitted 2 side=engine\na rejected 98 side=engine\na done 99 side=engine outcome=rejected",
        "a sent 0\na done 100 outcome=cancelled\na arrived 1 side=engine\na started 2 side=engine\na done 500 side=engine outcome=ok",
    ],
    ids=["answered, the engine not seen", "refused late", "left by its client, finished by the engine"],
)
def test_states_that_were_given_back_are_not_listed(said: str, tmp_path: Path) -> None:
    assert "state without release" not in audits(store(tmp_path, lines(said)))


def test_a_budget_that_is_just_kept_is_kept(tmp_path: Path) -> None:
    first = "\n".join(f"r{i} sent {i}\nr{i} done {i + 5} outcome={'error' if i < 29 else 'ok'}" for i in range(100))
    again = "\n".join(f"r{i} sent {200 + i} attempt=2\nr{i} done {300 + i} attempt=2 outcome=ok" for i in range(29))
    made = store(tmp_path, lines(first + "\n" + again), workload={"retry": {"max_attempts": 2, "budget_share": 0.29}})
    assert "retries over budget" not in audits(made)


def test_pauses_told_in_whole_seconds_are_not_called_none(tmp_path: Path) -> None:
    said = "\n".join(f"r{i} sent {1000 * i}\nr{i} done {1000 * i + 1000} outcome=error\nr{i} sent {1000 * i + 1000} attempt=2\nr{i} done {1000 * i + 3000} attempt=2 outcome=ok" for i in range(6))  # fmt: skip
    assert not audits(store(tmp_path, lines(said))) & {"retry without backoff", "retry without jitter"}


def test_an_attempt_that_was_never_sent_was_worked_on_by_nobody_and_one_before_a_refusal_may_have_been(
    tmp_path: Path,
) -> None:
    said = "a scheduled 0 idempotency_key=k1\na sent 10 attempt=2 idempotency_key=k2\na done 20 attempt=2 outcome=ok\n"
    said += "b sent 0 idempotency_key=k3\nb done 9 outcome=timeout\nb sent 10 attempt=2 idempotency_key=k4\nb done 12 attempt=2 outcome=rejected\n"
    said += "b sent 20 attempt=3 idempotency_key=k5\nb done 30 attempt=3 outcome=ok"
    made = store(tmp_path, lines(said))
    assert rows(made, "SELECT sum(n) FROM audit WHERE audit = 'retry not idempotent'") == [(2,)]
