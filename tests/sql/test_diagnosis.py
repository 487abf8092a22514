"""Which wait holds what a request is longer by than the run's own median, and when that cannot be told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import lines, rows, store

if TYPE_CHECKING:
    from pathlib import Path

TWO_SECONDS = {
    "queue": (0, 5, 1805, 1905, 2000),
    "prefill": (0, 5, 105, 1905, 2000),
    "delivery": (0, 5, 105, 205, 2000),
}
FINDING = "SELECT request_id, finding FROM diagnosis WHERE about = 'first content' ORDER BY request_id"


def told(name: str, sent: float, arrived: float, started: float, token: float, content: float, **clock: str) -> str:
    """A request of a client, and of an engine that admits at once."""
    on = f"clock={clock.get('engine', 'c')}"
    return f"""{name} sent {sent}
{name} first_content {content}
{name} last_content {content + 20}
{name} done {content + 21} outcome=ok output_tokens=5
{name} arrived {arrived} side=engine {on}
{name} admitted {arrived} side=engine {on}
{name} started {started} side=engine {on}
{name} first_token {token} side=engine {on}
{name} last_token {token + 20} side=engine {on}
{name} done {token + 21} side=engine {on} outcome=ok
"""


def test_three_waits_of_two_seconds_for_the_first_content_have_three_diagnoses(tmp_path: Path) -> None:
    made = store(tmp_path, lines("".join(told(name, *times) for name, times in TWO_SECONDS.items())))
    assert rows(made, "SELECT DISTINCT ttft_ms FROM request_metric") == [(2000.0,)]
    assert rows(made, FINDING) == [("delivery", "delivery"), ("prefill", "prefill"), ("queue", "queue")]
    query = """SELECT total_ms, median_total_ms, low_ms, median_low_ms, median_n, excess_low_ms, other_part, other_high_ms
FROM diagnosis WHERE about = 'first content' AND request_id = 'queue'"""
    assert rows(made, query) == [(2000.0, 2000.0, 1800.0, 100.0, 3, 1700.0, "retries", 0.0)]


def usual(n: int = 9, **clock: str) -> str:
    return "".join(
        told(f"u{i}", 1000 * i, 1000 * i + 5, 1000 * i + 15, 1000 * i + 65, 1000 * i + 70, **clock) for i in range(n)
    )


def test_the_way_to_the_server_is_told_from_what_nobody_knows_where_the_clocks_are_one(tmp_path: Path) -> None:
    made = store(tmp_path, lines(usual() + told("far", 20_000, 21_005, 21_015, 21_065, 21_070)))
    assert rows(made, "SELECT finding, part, excess_low_ms FROM diagnosis WHERE request_id = 'far' AND about = 'first content'") == [
        ("network", "unattributed", 1000.0)
    ]  # fmt: skip


def test_a_wait_between_clocks_that_nothing_relates_is_not_enough_evidence(tmp_path: Path) -> None:
    made = store(tmp_path, lines(usual(engine="e") + told("far", 20_000, 21_005, 21_015, 21_065, 21_070, engine="e")))
    assert rows(made, "SELECT finding, why FROM diagnosis WHERE request_id = 'far' AND about = 'first content'") == [
        ("not enough evidence", "as much may lie where nothing was recorded")
    ]


def test_a_queue_longer_than_all_that_is_unseen_is_found_although_the_clocks_are_not_related(tmp_path: Path) -> None:
    made = store(tmp_path, lines(usual(engine="e") + told("slow", 20_000, 20_005, 21_015, 21_065, 21_070, engine="e")))
    assert rows(made, "SELECT finding, excess_low_ms FROM diagnosis WHERE request_id = 'slow' AND about = 'first content'") == [
        ("queue", 1000.0)
    ]  # fmt: skip


def test_what_was_tried_before_the_answer_is_held_by_retries(tmp_path: Path) -> None:
    again = told("again", 20_700, 20_705, 20_715, 20_765, 20_770).splitlines()
    second = "\n".join(f"{line} attempt=2" for line in again)
    made = store(tmp_path, lines(usual() + "again sent 20000\nagain done 20500 outcome=timeout\n" + second))
    assert rows(made, "SELECT finding, excess_low_ms FROM diagnosis WHERE request_id = 'again' AND about = 'first content'") == [
        ("retries", 700.0)
    ]  # fmt: skip


def test_a_long_answer_is_held_by_decode_at_its_end_and_not_at_its_beginning(tmp_path: Path) -> None:
    long = told("long", 20_000, 20_005, 20_015, 20_065, 20_070).replace("20085", "21065").replace("20086", "21066")
    long = long.replace("20090", "21070").replace("20091", "21071")
    made = store(tmp_path, lines(usual() + long))
    assert rows(made, "SELECT about, finding FROM diagnosis WHERE request_id = 'long' ORDER BY about") == [
        ("end", "decode"),
        ("first content", "no excess"),
    ]


def test_a_request_without_first_content_has_no_diagnosis_of_it(tmp_path: Path) -> None:
    made = store(tmp_path, lines(usual() + "gone sent 20000\ngone done 25000 outcome=timeout"))
    assert rows(made, "SELECT finding, why FROM diagnosis WHERE request_id = 'gone' ORDER BY about") == [
        ("not enough evidence", "as much may lie where nothing was recorded"),
        ("not enough evidence", "no time to first content"),
    ]


@pytest.mark.parametrize("about", ["first content", "end"])
def test_a_tenant_whose_requests_queue_is_held_by_the_queue(about: str, tmp_path: Path) -> None:
    slow = "".join(
        told(f"s{i}", 20_000 + 1000 * i, 20_005 + 1000 * i, 20_415 + 1000 * i, 20_465 + 1000 * i, 20_470 + 1000 * i)
        for i in range(5)
    )
    made = store(tmp_path, [*lines(usual(), tenant="quick"), *lines(slow, tenant="slow")])
    query = f"""SELECT tenant, finding, n, excess_low_ms, note FROM stratum_diagnosis
WHERE about = '{about}' AND tenant <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' ORDER BY tenant"""
    assert rows(made, query) == [
        ("quick", "no excess", 9, 0.0, "n too small"),
        ("slow", "queue", 5, 400.0, "n too small"),
    ]
