"""What a viewer is given to draw of a few lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from building import BASE_NS, lines, rows, store

if TYPE_CHECKING:
    from pathlib import Path


def test_no_rows_give_no_events(tmp_path: Path) -> None:
    assert rows(store(tmp_path), "FROM trace_event") == []


def test_an_attempt_its_boundaries_and_its_stages_stand_on_the_clock_of_their_side(tmp_path: Path) -> None:
    text = """
    a sent 0
    a arrived 1 side=gateway clock=g
    a admitted 3 side=gateway clock=g
    a done 9 outcome=ok
    """
    made = store(tmp_path, lines(text))
    found = rows(
        made,
        f"SELECT clock, side, part, kind, name, start_ns - {BASE_NS}, end_ns - {BASE_NS} FROM trace_event"
        " ORDER BY clock, start_ns, part",
    )
    assert found == [
        ("c", "client", "attempt", "slice", "a/1", 0, 9_000_000),
        ("c", "client", "boundary", "instant", "sent", 0, None),
        ("c", "client", "boundary", "instant", "done", 9_000_000, None),
        ("g", "gateway", "attempt", "slice", "a/1 (unresolved)", 1_000_000, 3_000_000),
        ("g", "gateway", "boundary", "instant", "arrived", 1_000_000, None),
        ("g", "gateway", "stage", "slice", "edge", 1_000_000, 3_000_000),
        ("g", "gateway", "boundary", "instant", "admitted", 3_000_000, None),
    ]


def test_an_attempt_with_one_boundary_has_no_length(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 5"))
    assert rows(made, "SELECT name, end_ns - start_ns FROM trace_event WHERE part = 'attempt'") == [
        ("a/1 (unresolved)", 0)
    ]


def test_what_is_not_known_is_not_among_the_arguments(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0\na done 1 outcome=error"))
    ((args,),) = rows(made, "SELECT args FROM trace_event WHERE part = 'attempt'")
    assert json.loads(args) == {
        "request": "a", "attempt": 1, "side": "client", "outcome": "error", "end_seen_here": "error",
        "start_ns": str(BASE_NS), "end_ns": str(BASE_NS + 1_000_000),
    }  # fmt: skip


def test_a_reading_of_a_wall_clock_that_was_not_running_is_left_out(tmp_path: Path) -> None:
    gauge = {"event": "gauge", "name": "running", "value": 1, "clock": "c", "side": "engine"}
    made = store(
        tmp_path,
        [{**gauge, "ns": "5"}, {**gauge, "ns": str(BASE_NS)}, {**gauge, "ns": "5", "clock_kind": "monotonic"}],
    )
    found = rows(made, "SELECT clock_kind, start_ns, args FROM trace_event ORDER BY start_ns")
    assert found == [("monotonic", 5, '{"value":1.0}'), ("wall", BASE_NS, '{"value":1.0}')]
