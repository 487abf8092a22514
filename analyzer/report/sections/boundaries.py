"""Which boundaries can be pointed to, and who owns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.report import sentences, table
from analyzer.report.section import Section
from analyzer.report.table import Cell, Column, Table
from analyzer.vocabulary import Boundary, Side

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

_SIDES = [str(side) for side in Side]
_BOUNDARIES = [str(boundary) for boundary in Boundary]


def section(evidence: Evidence) -> Section:
    """Each side's boundaries in the order in which they happen."""
    answer = evidence.ask("boundary_coverage")
    if not answer.rows:
        return Section(
            "boundaries", "Boundaries", "Boundary coverage", empty="No attempt was read, so no boundary was seen."
        )
    rows = sorted(
        answer.rows,
        key=lambda row: (_place(_SIDES, row["side"]), _place(_BOUNDARIES, row["boundary"]), row["boundary"]),
    )
    columns = (
        Column("side", "side", numeric=False),
        Column("boundary", "boundary", numeric=False),
        Column("owner", "owner", numeric=False),
        Column("seen", "seen"),
        Column("missing", "missing"),
        Column("known by", "evidence", numeric=False),
        Column("declared policy", "policy", numeric=False),
    )
    coverage = Table(
        "table-boundaries",
        "Boundary coverage, in attempts",
        columns,
        tuple(map(_row, rows)),
        answer.sql,
        ("boundary_coverage", "boundary"),
    )
    sub = "A boundary that was not recorded is missing, never zero. bounded: only known to lie in an interval."
    return Section("boundaries", "Boundaries", heading(rows), sub, (coverage,))


def heading(rows: list[Row]) -> str:
    """How many boundaries were seen in every attempt, in some, in none; and which sides are silent."""
    full = sum(row["missing"] == 0 for row in rows)
    none = sum(row["seen"] == 0 for row in rows)
    silent = [
        side
        for side in _SIDES
        if any(row["side"] == side for row in rows) and not any(row["seen"] for row in rows if row["side"] == side)
    ]
    text = f"{full} of {sentences.plural(len(rows), 'boundary', 'boundaries')} seen in every attempt, {none} in none"
    return f"{text}; nothing recorded by the {sentences.listed(silent)}" if silent else text


def _place(order: list[str], value: str) -> int:
    return order.index(value) if value in order else len(order)


def _row(row: Row) -> tuple[Cell, ...]:
    return (
        table.words(row["side"]),
        table.words(row["boundary"]),
        table.words(row["owner"]),
        table.number(row["seen"]),
        table.number(row["missing"], kind="open"),
        table.words(row["evidence"]) if row["seen"] else table.words("not recorded", kind="dim"),
        table.words(row["policy"], kind="prose") if row["policy"] else table.words(row["policy_state"], kind="dim"),
    )
