"""Can this be trusted: what the audits found."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.report import numbers, sentences, table
from analyzer.report.section import Section
from analyzer.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

SEVERITIES = ("fault", "warning", "note")
# Findings of one audit that are listed one by one; the page must not grow with the number of requests.
MOST = 20
_MARK = {"fault": "✕", "warning": "▲", "note": "○"}
_KIND = {"fault": "bad", "warning": "open", "note": "dim"}


def section(evidence: Evidence) -> Section:
    """Findings, the gravest first."""
    answer = evidence.ask("audit")
    if not answer.rows:
        return Section(
            "audits", "Audits", "No audit found anything", empty="Every audit of the store is empty for this run."
        )
    rows = sorted(answer.rows, key=lambda row: (SEVERITIES.index(row["severity"]), row["audit"]))
    shown, note = _shortened(rows)
    columns = (
        Column("severity", "severity", numeric=False),
        Column("audit", "audit", numeric=False),
        Column("about", "subject", numeric=False),
        Column("finding", "detail", numeric=False),
        Column("records", "n"),
    )
    found = Table("table-audit", "Findings", columns, tuple(map(_row, shown)), answer.sql, ("audit",), note)
    sub = "What may be wrong with the data, or with what one reads into it. An audit that found nothing has no row."
    return Section("audits", "Audits", heading(rows), sub, (found,))


def heading(rows: list[Row]) -> str:
    """How many findings of each severity."""
    counts = [(severity, sum(row["severity"] == severity for row in rows)) for severity in SEVERITIES]
    text = sentences.listed([sentences.plural(n, severity) for severity, n in counts if n])
    return f"Audits: {text}"


def _shortened(rows: list[Row]) -> tuple[list[Row], str]:
    shown, seen = [], dict[str, int]()
    for row in rows:
        seen[row["audit"]] = seen.get(row["audit"], 0) + 1
        if seen[row["audit"]] <= MOST:
            shown.append(row)
    more = [f"{numbers.count(n - MOST)} more of “{audit}”" for audit, n in sorted(seen.items()) if n > MOST]
    return shown, f"Not listed here but in summary.json: {sentences.listed(more)}." if more else ""


def _row(row: Row) -> tuple[Cell, ...]:
    return (
        Cell(f"{_MARK[row['severity']]} {row['severity']}", row["severity"], f"severity {_KIND[row['severity']]}"),
        table.words(row["audit"]),
        table.words(row["subject"], kind="code"),
        table.words(row["detail"], kind="prose"),
        table.number(row["n"]),
    )
