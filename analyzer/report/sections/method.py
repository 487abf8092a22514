"""How was it computed: each metric's definition, and the SQL behind each table."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.report import table
from analyzer.report.section import Section
from analyzer.report.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from analyzer.report.evidence import Evidence

_READ = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")


def section(evidence: Evidence, before: Sequence[Section]) -> Section:
    """Definitions of the metrics shown and of every view that the sections before have read."""
    shown = [view for part in before for found in part.tables for view in found.views]
    named = list(
        dict.fromkeys([*shown, "verdict", "ledger", "goodput", "throughput", "run_window", "workload", "metric"])
    )
    made = [view for view in named if evidence.is_defined(view)]
    data = {
        "views": [_view(evidence, view) for view in made],
        "below": [_view(evidence, view) for view in _below(evidence, made)],
    }
    sub = (
        "Every number here is a column of a view of the store; what a table shows is the query under its “copy SQL”."
        " Percentiles are exact, by nearest rank: the value at rank ceil(q · n). Intervals assume independent requests."
    )
    return Section(
        "method", "Method", "How each number is defined", sub, (_metrics(evidence),), template="method", data=data
    )


def _metrics(evidence: Evidence) -> Table:
    answer = evidence.ask("percentile", columns="DISTINCT metric")
    told = {row["metric"] for row in answer.rows}
    columns = (
        Column("metric", "metric", numeric=False),
        Column("in words", "title", numeric=False),
        Column("side", "side", numeric=False),
        Column("definition", "formula", numeric=False),
        Column("unit in the store", "unit", numeric=False),
    )
    metrics = evidence.ask("metric")
    body = tuple(
        (
            table.words(row["metric"], kind="code"),
            *(table.words(row[key]) for key in ("title", "side")),
            table.words(row["formula"], kind="prose"),
            table.words(row["unit"]),
        )
        for row in metrics.rows
        if row["metric"] in told
    )
    note = "Only metrics that this run shows; the view metric holds all of them."
    return Table("table-metric", "Metrics", columns, body, metrics.sql, ("metric",), note)


def _below(evidence: Evidence, made: list[str]) -> list[str]:
    """What these views read, and what that reads, each once, nearest first."""
    found, waiting = list(made), list(made)
    while waiting:
        for name in _READ.findall(evidence.definition(waiting.pop(0))):
            if name not in found and evidence.is_defined(name):
                found.append(name)
                waiting.append(name)
    return found[len(made) :]


def _view(evidence: Evidence, view: str) -> dict[str, Any]:
    return {"name": view, "comment": evidence.comments.get(view, ""), "sql": evidence.definition(view)}
