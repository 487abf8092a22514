"""The list of reported faults names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (TESTS / "faults.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and "---" not in line and not line.startswith("| report ")
]
NAMED = [
    pytest.param(held, id=f"{report} {held}")
    for report, _, tests in ROWS
    for held in tests.partition("waits for: ")[0].rstrip("; ").split(", ")
    if held
]


def test_every_report_stands_once() -> None:
    names = [row[0] for row in ROWS]
    assert len(names) > 70
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_report_has_a_test_or_the_name_of_what_it_waits_for(row: list[str]) -> None:
    assert re.search(r"\.py::test_|^waits for: \w", row[2])


@pytest.mark.parametrize("held", NAMED)
def test_a_named_test_exists(held: str) -> None:
    file, _, name = held.partition("::")
    assert re.search(rf"^def {name}\(", (TESTS / file).read_text("utf-8"), re.MULTILINE)
