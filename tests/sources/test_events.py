"""The event log line by line: what is taken, what is refused and why, and that times keep every digit."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

GOOD: dict[str, Any] = {
    "request": "r",
    "event": "sent",
    "clock": "c",
    "side": "client",
    "ns": 1_796_069_308_473_857_694,
}


def taken(folder: Path, *texts: str) -> Store:
    (folder / "log.jsonl").write_text(
        "\n".join([json.dumps(GOOD | {"request": "first"}), *texts]) + "\n", encoding="utf-8"
    )
    files, _ = ingest.find([str(folder / "log.jsonl")])
    made = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(made, files)
    ingest.apply_defaults(made)
    made.derive()
    return made


def changed(**facts: Any) -> str:
    return json.dumps({key: value for key, value in (GOOD | facts).items() if value is not None})


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("not json", "not valid JSON"),
        ("[1]", "not a JSON object"),
        (changed(tennant="x"), "unknown field tennant"),
        (
            '{"request": "r", "event": "sent", "event": "done", "clock": "c", "side": "client", "ns": 1}',
            "a field stands twice",
        ),
        (changed(request=5), "request must be text"),
        (changed(event=None), "event is missing"),
        (changed(clock=None), "clock is missing"),
        (changed(side=None), "side is missing"),
        (changed(request=None), "request is missing"),
        (changed(event="first_contnet"), "event first_contnet is none of"),
        (changed(side="server"), "side server is none of client, gateway, engine"),
        (changed(outcome="OK"), "outcome OK is none of ok, rejected"),
        (changed(clock_kind="boot"), "clock_kind boot is none of"),
        (changed(phase="hot"), "phase hot is none of"),
        (changed(ns=None), "wants exactly one of ns, ms, s"),
        (changed(ms=5), "wants exactly one of ns, ms, s"),
        (changed(ns="soon"), "ns is not a count of nanoseconds"),
        (changed(ns=-5), "ns is not a count of nanoseconds"),
        (changed(ns=1.5), "ns must be a whole number"),
        (changed(ns=None, ms="5"), "ms must be a number"),
        (changed(attempt=0), "attempt counts from 1"),
        (changed(output_tokens=-1), "output_tokens is negative"),
        (changed(output_tokens="7"), "output_tokens must be a whole number"),
        (changed(streamed="yes"), "streamed must be true or false"),
        (changed(event="gauge", name="running"), "a gauge wants name and value"),
    ],
)
def test_a_line_that_cannot_be_taken_is_refused_with_its_reason(tmp_path: Path, line: str, reason: str) -> None:
    made = taken(tmp_path, line)
    ((position, told),) = rows(made, "SELECT position, reason FROM refused")
    assert position == "line 2"
    assert told.startswith(reason)
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(2, 1, 1)]


@pytest.mark.parametrize(
    ("time", "ns"),
    [
        ('"ns": 1796069308473857694', 1796069308473857694),
        ('"ns": "1796069308473857694"', 1796069308473857694),
        ('"ms": 1796069308473.857694', 1796069308473857694),
        ('"s": 1796069308.473857694', 1796069308473857694),
        ('"s": 1.5', 1500000000),
        ('"ms": 0.000001', 1),
    ],
)
def test_times_keep_every_digit(tmp_path: Path, time: str, ns: int) -> None:
    made = taken(tmp_path, '{"request": "x", "event": "sent", "clock": "c", "side": "client", ' + time + "}")
    assert rows(made, "SELECT time_ns FROM event WHERE request = 'x'") == [(ns,)]


def test_of_two_facts_that_disagree_the_later_event_wins_and_is_counted(tmp_path: Path) -> None:
    made = taken(
        tmp_path, changed(event="done", ns=GOOD["ns"] + 5, tenant="late", outcome="ok"), changed(tenant="early")
    )
    assert rows(made, "SELECT tenant, fact_conflicts FROM attempt WHERE request_id = 'r'") == [("late", 1)]
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'fact conflict'") == [("r", 1)]


def test_a_writers_own_keys_are_passed_over(tmp_path: Path) -> None:
    made = taken(tmp_path, changed(x_note="mine"))
    assert rows(made, "SELECT count(*) FROM refused") == [(0,)]


@pytest.mark.parametrize(
    ("facts", "outcome"),
    [
        ({}, "ok"), ({"status_code": 200}, "ok"), ({"status_code": 429}, "rejected"), ({"status_code": 503}, "rejected"),
        ({"status_code": 504}, "timeout"), ({"status_code": 499}, "cancelled"), ({"status_code": 500}, "error"),
        ({"error_type": "Boom"}, "error"), ({"status_code": 200, "outcome": "cancelled"}, "cancelled"),
    ],
)  # fmt: skip
def test_an_end_without_an_outcome_is_read_from_its_status(tmp_path: Path, facts: dict[str, Any], outcome: str) -> None:
    made = taken(tmp_path, changed(event="done", **facts))
    assert rows(made, "SELECT outcome FROM attempt WHERE request_id = 'r'") == [(outcome,)]


def test_no_end_is_unresolved_and_a_schedule_without_a_send_is_unsent(tmp_path: Path) -> None:
    made = taken(tmp_path, changed(request="x", event="scheduled"))
    assert rows(made, "SELECT request_id, outcome FROM attempt ORDER BY 1") == [
        ("first", "unresolved"),
        ("x", "unsent"),
    ]
