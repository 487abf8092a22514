"""Which strata of a run are shown, in which order and under which name."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from analyzer.report.table import Cell
from analyzer.vocabulary import EVERY, MISSING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.report.evidence import Evidence, Row

# One split at a time: the total, load points, and within each its tenants and its length bins.
ONE_SPLIT = (
    "window_start = '(all)' AND (input_bin = '(all)' OR output_bin = '(all)')"
    " AND (tenant = '(all)' OR (input_bin = '(all)' AND output_bin = '(all)'))"
)
WHOLE = " AND ".join(f"{key} = '(all)'" for key in ("load_point", "tenant", "input_bin", "output_bin", "window_start"))
MOST = 60
_KEYS = ("load_point", "tenant", "input_bin", "output_bin")
_WORDS = {"load_point": "load point", "tenant": "tenant", "input_bin": "input tokens", "output_bin": "output tokens"}

Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One row of a table by stratum."""

    key: Key
    split: str
    name: str

    def cell(self) -> Cell:
        """Its name, what it is split by before it."""
        return Cell(
            self.name, f"{self.split} {self.name}".strip(), "total" if not self.split else "", before=self.split
        )


@dataclass(frozen=True, slots=True)
class Strata:
    """The strata of a run, the total first. `note` says what it is not split by, and how many are left out here."""

    shown: tuple[Stratum, ...]
    note: str


def key_of(row: Row) -> Key:
    """The stratum that a row is about."""
    return tuple(row[key] for key in _KEYS)


def by_stratum(rows: tuple[Row, ...] | list[Row]) -> dict[Key, Row]:
    """Rows by their stratum."""
    return {key_of(row): row for row in rows}


def strata(evidence: Evidence) -> Strata:
    """The strata that a run has, by its own ledger."""
    rows = evidence.ask("stratum_ledger", where=ONE_SPLIT).rows
    edges = _bins(evidence)
    points = sorted({row["load_point"] for row in rows} - {EVERY}, key=natural)
    shown, unsplit = [Stratum((EVERY,) * 4, "", EVERY)], []
    for split in _KEYS:
        values = sorted({row[split] for row in rows} - {EVERY}, key=lambda value: _place(value, edges.get(split)))
        if len(values) <= 1:
            unsplit.append(_single(split, values, edges.get(split, {})))
            continue
        for row in sorted(rows, key=lambda row: (natural(row["load_point"]), _place(row[split], edges.get(split)))):
            others = [row[key] for key in _KEYS if key not in (split, "load_point")]
            if row[split] != EVERY and set(others) == {EVERY} and row["load_point"] != EVERY:
                name = edges.get(split, {}).get(row[split], str(row[split]))
                point = f"{row['load_point']} · " if split != "load_point" and len(points) > 1 else ""
                shown.append(Stratum(key_of(row), _WORDS[split], point + name))
    left_out = len(shown) - MOST
    note = f"Not split by {'; '.join(unsplit)}." if unsplit else ""
    if left_out > 0:
        note += f" {left_out} further strata are in summary.json and in the store."
    return Strata(tuple(shown[:MOST]), note.strip())


def natural(text: str) -> tuple[bool, list[tuple[int, int, str]]]:
    """Sort key: numbers inside a text by their size, what is missing last."""
    parts = re.findall(r"\d+|\D+", text)
    return text == MISSING, [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts]


def _place(value: str, edges: Mapping[str, str] | None) -> tuple[int, tuple[bool, list[tuple[int, int, str]]]]:
    return (list(edges).index(value) if edges and value in edges else len(edges or ()), natural(value))


def _single(split: str, values: list[str], edges: Mapping[str, str]) -> str:
    word = _WORDS[split]
    if not values or values == [MISSING]:
        return f"{word} (none recorded)"
    return f"{word} (all {edges.get(values[0], values[0])})"


def _bins(evidence: Evidence) -> dict[str, dict[str, str]]:
    """Names of the length bins with their edges, in order, by the column they are in."""
    named: dict[str, dict[str, str]] = {}
    for row in evidence.ask("length_bin", order="dimension, low").rows:
        low, high = row["low"], row["high"]
        edge = f"≥ {low}" if high is None else f"< {high}" if low == 0 else f"≥ {low}, < {high}"
        named.setdefault(f"{row['dimension']}_bin", {})[row["bin"]] = f"{row['bin']} ({edge})"
    return named
