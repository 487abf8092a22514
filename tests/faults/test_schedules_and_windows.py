"""Faults with time: waits that a late generator hides, requests on the edge of a window, summer time."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from building import BASE_NS, lines, rows, store, write
from running import analyze, well

if TYPE_CHECKING:
    from pathlib import Path

MINUTE = 60_000
EDGE_NS = 1_779_667_200_000_000_000  # 2026-05-25T00:00:00Z
WINDOWS = "SELECT window_start, requests FROM outcome_count WHERE window_start <> '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' ORDER BY 1"


def test_what_a_late_generator_made_its_requests_wait_is_in_the_times_from_the_schedule(tmp_path: Path) -> None:
    text = "\n".join(
        f"r{i} scheduled {planned}\nr{i} sent {sent}\nr{i} first_content {sent + 1000}\nr{i} done {sent + 1000} outcome=ok"
        for i, (planned, sent) in enumerate([(0, 0), (1000, 3000), (2000, 4000)])
    )
    made = store(tmp_path, lines(text))
    assert rows(
        made, "SELECT ttft_ms, e2e_ms, ttft_scheduled_ms, lateness_ms FROM request_metric ORDER BY request_id"
    ) == [(1000.0, 1000.0, 1000.0, 0.0), (1000.0, 1000.0, 3000.0, 2000.0), (1000.0, 1000.0, 3000.0, 2000.0)]


def test_a_request_on_the_edge_is_in_the_window_that_begins_there(tmp_path: Path) -> None:
    at = {"request": "a", "side": "client", "clock": "c"}
    told = [
        {**at, "event": "sent", "ns": str(EDGE_NS)},
        {**at, "event": "done", "ns": str(EDGE_NS + 5), "outcome": "ok"},
    ]
    window = {"start": "2026-05-24T00:00:00Z", "end": "2026-05-26T00:00:00Z", "width_s": 86400, "edge": "arrival"}
    made = store(tmp_path, told, window=window)
    assert rows(made, WINDOWS) == [("2026-05-25T00:00:00Z", 1)]
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(1,)]


def test_a_request_on_the_end_of_the_declared_window_is_outside(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(f"a sent 0\na done 5 outcome=ok\nb sent {MINUTE}\nb done {MINUTE + 5} outcome=ok"),
        window={"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:01:00Z", "width_s": 60, "edge": "arrival"},
    )
    assert rows(made, "SELECT request_id, counted, not_counted_why FROM request ORDER BY 1") == [
        ("a", True, None),
        ("b", False, "arrived outside the declared window"),
    ]


def test_points_on_the_edges_of_windows_are_each_in_one(tmp_path: Path) -> None:
    text = "\n".join(f"r{i} sent {i * MINUTE}\nr{i} done {i * MINUTE + 5} outcome=ok" for i in range(13))
    window = {"start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:15:00Z", "width_s": 300, "edge": "arrival"}
    made = store(tmp_path, lines(text), window=window)
    assert rows(made, WINDOWS) == [
        ("2026-01-01T00:00:00Z", 5),
        ("2026-01-01T00:05:00Z", 5),
        ("2026-01-01T00:10:00Z", 3),
    ]


def test_summer_time_moves_no_window_and_cuts_no_digit(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    ns = 1_743_465_600_069_866_160  # 2025-04-01T00:00:00.069866160Z
    told = [line | {"ns": str(int(line["ns"]) - BASE_NS + ns)} for line in lines("a sent 0\na done 5 outcome=ok")]
    write(work / "log.jsonl", told)
    well("ingest", "log.jsonl", cwd=work, TZ="Europe/London")
    query = "SELECT window_start, arrived_ns FROM request"
    ran = analyze("sql", query, "--json", cwd=work, TZ="Europe/London")
    # No JSON number holds that many digits for every reader, so it is a text.
    assert json.loads(ran.out) == [{"window_start": "2025-04-01T00:00:00Z", "arrived_ns": str(ns)}]
