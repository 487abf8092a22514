"""The list of reported faults names tests that exist."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (TESTS / "faults.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and "---" not in line and not line.startswith("| report ")
]
HELD = [row for row in ROWS if not row[2].startswith("waits for: ")]


def test_every_report_stands_once() -> None:
    names = [row[0] for row in ROWS]
    assert len(names) > 70
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", HELD, ids=[row[0] for row in HELD])
def test_a_fault_is_held_by_a_test(row: list[str]) -> None:
    file, _, name = row[2].partition("::")
    assert f"def {name}(" in (TESTS / file).read_text("utf-8")
