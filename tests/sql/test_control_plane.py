"""How a worker comes up and goes down, and what its traffic met."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from building import BASE_NS, lines, rows, span, store

if TYPE_CHECKING:
    from pathlib import Path


def states(*told: tuple[str, float], **facts: Any) -> list[dict[str, Any]]:
    """Changes of state, each a word and its second."""
    return [
        {"event": event, "ns": str(BASE_NS + round(second * 1e9)), "clock": "c", "side": "engine", **facts}
        for event, second in told
    ]


SERIAL = [
    *states(("detect", 0), ("provision", 15), side="gateway"),
    *states(("load", 45), ("warm", 85), ("ready", 95), worker="w"),
]
PATH = "SELECT phase, duration_ms, path_ms, ready_ms FROM ready_path ORDER BY start_ms"


def test_15_30_40_and_10_seconds_are_95_until_the_capacity_is_of_use_and_a_burst_of_20_is_over(tmp_path: Path) -> None:
    made = store(tmp_path, SERIAL)
    assert rows(made, PATH) == [
        ("detect", 15_000.0, 15_000.0, 95_000.0),
        ("provision", 30_000.0, 30_000.0, 95_000.0),
        ("load", 40_000.0, 40_000.0, 95_000.0),
        ("warm", 10_000.0, 10_000.0, 95_000.0),
    ]
    assert rows(made, "SELECT DISTINCT ready_ms > 20000 FROM ready_path") == [(True,)]


def test_phases_that_overlap_follow_the_critical_path(tmp_path: Path) -> None:
    """Weights load for 60 s while the machine is set up for 30: the loading is what was waited for."""
    loading = span(
        "1" * 32,
        1,
        service="w",
        scope="vllm.model_executor.model_loader",
        kind=1,
        name="Load model",
        start=10_000,
        end=70_000,
        host="c",
    )
    made = store(
        tmp_path,
        [*states(("ready", 80), worker="w"), *states(("provision", 0), ("warm", 30), worker="w")],
        spans=[loading],
    )
    assert rows(made, PATH) == [
        ("provision", 30_000.0, 10_000.0, 80_000.0),
        ("load", 60_000.0, 20_000.0, 80_000.0),
        ("warm", 50_000.0, 50_000.0, 80_000.0),
    ]


def test_the_second_worker_has_the_cause_of_its_own_start_and_not_the_first_ones(tmp_path: Path) -> None:
    later = [*states(("detect", 3600), side="gateway"), *states(("load", 3610), ("ready", 3650), worker="v")]
    made = store(tmp_path, SERIAL + later)
    found = rows(made, "SELECT worker, count(*), max(ready_ms), sum(path_ms) FROM ready_path GROUP BY 1 ORDER BY 1")
    assert found == [("v", 2, 50_000.0, 50_000.0), ("w", 4, 95_000.0, 95_000.0)]


DRAINING = """
ok arrived 0 side=engine worker=w
ok done 1500 side=engine outcome=ok
part arrived 0 side=engine worker=w
part first_token 500 side=engine
part done 1600 side=engine outcome=error
left arrived 0 side=engine worker=w
left done 1700 side=engine outcome=cancelled
none arrived 0 side=engine worker=w
none done 1800 side=engine outcome=error
long arrived 0 side=engine worker=w
long done 9000 side=engine outcome=ok
before arrived 0 side=engine worker=w
before done 900 side=engine outcome=ok
other arrived 0 side=engine worker=v
other done 1500 side=engine outcome=ok
"""
ACCOUNT = "SELECT in_flight, finished, partial, cancelled, failed, running, bound_ms, bound_by FROM drain_account"


def test_what_was_in_flight_at_drain_is_finished_partial_cancelled_failed_or_still_running(tmp_path: Path) -> None:
    made = store(
        tmp_path, lines(DRAINING) + states(("ready", -5), ("drain", 1), ("grace", 3), ("stop", 10), worker="w")
    )
    assert rows(made, ACCOUNT) == [(5, 1, 1, 1, 1, 1, 2000.0, "grace")]
    assert rows(made, "SELECT severity, n FROM audit WHERE audit = 'drain'") == [("warning", 1)]


def test_a_kill_before_the_end_of_the_grace_is_a_fault(tmp_path: Path) -> None:
    made = store(
        tmp_path, lines(DRAINING) + states(("ready", -5), ("drain", 1), ("grace", 30), ("kill", 2), worker="w")
    )
    assert rows(made, ACCOUNT) == [(5, 1, 1, 1, 1, 1, 1000.0, "kill")]
    assert rows(made, "SELECT severity, detail FROM audit WHERE audit = 'drain'") == [
        ("fault", "ended by kill 28000.0 ms before the end of its grace: 1 of 5 in flight had not ended")
    ]


def test_a_drain_that_nothing_bounds_is_said_to_be_so(tmp_path: Path) -> None:
    made = store(tmp_path, lines(DRAINING) + states(("drain", 1), worker="w"))
    assert rows(made, ACCOUNT) == [(5, 2, 1, 1, 1, 0, None, "not bounded: no grace, stop or kill was recorded")]
    assert rows(made, "SELECT severity FROM audit WHERE audit = 'drain'") == [("warning",)]


TRAFFIC = """
early arrived 500 side=engine worker=w
early done 5000 side=engine outcome=ok
good arrived 3000 side=engine worker=w
good done 3100 side=engine outcome=ok
late arrived 9000 side=engine worker=w
late done 9100 side=engine outcome=ok
refused arrived 9000 side=engine worker=w
refused rejected 9001 side=engine
"""
LIFE = states(("load", 0), ("warm", 1), ("ready", 2), ("drain", 8), ("stop", 10), worker="w")


def test_traffic_before_ready_and_after_drain_is_a_fault_and_a_refusal_is_none(tmp_path: Path) -> None:
    made = store(tmp_path, lines(TRAFFIC) + LIFE)
    assert rows(made, "SELECT audit, subject, n FROM audit WHERE audit LIKE 'traffic%' ORDER BY 1") == [
        ("traffic after drain", "worker w", 1),
        ("traffic before ready", "worker w", 1),
    ]
    assert rows(made, "SELECT severity, n FROM audit WHERE audit = 'cold inside the window'") == [("warning", 1)]


def test_a_request_told_as_cold_is_left_out_and_said_to_be(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0 phase=cold\na done 9 outcome=ok\nb sent 5\nb done 9 outcome=ok"))
    assert rows(made, "SELECT severity, n FROM audit WHERE audit = 'cold inside the window'") == [("note", 1)]
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(1,)]


def test_traffic_on_another_clock_than_the_states_is_not_judged(tmp_path: Path) -> None:
    made = store(tmp_path, lines(TRAFFIC, clock="d") + LIFE)
    assert rows(made, "SELECT * FROM worker_traffic") == []


def test_a_probe_that_fails_while_ready_is_a_warning_and_before_it_none(tmp_path: Path) -> None:
    told = LIFE + states(("probe", 1.5), ("probe", 4), worker="w", status_code=503)
    made = store(tmp_path, told)
    assert rows(made, "SELECT subject, detail, n FROM audit WHERE audit = 'probe failed while ready'") == [
        ("worker w", "came back with 503", 1)
    ]


def test_a_state_lasts_until_the_next_of_its_worker(tmp_path: Path) -> None:
    made = store(tmp_path, LIFE)
    assert rows(made, "SELECT control, (until_ns - start_ns) / 1e9 FROM control_event ORDER BY start_ns") == [
        ("load", 1.0), ("warm", 1.0), ("ready", 6.0), ("drain", 2.0), ("stop", None),
    ]  # fmt: skip
