"""Where the time to first content went, stage by stage, with its owner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, table
from analyzer.report.section import Section
from analyzer.report.sections.glance import CARRIES, too_few
from analyzer.report.strata import WHOLE
from analyzer.report.table import Cell, Column, Table
from analyzer.vocabulary import EVERY

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

ORDER = ("edge", "queue", "prefill", "kv_transfer", "delivery", "unattributed")
# Of these, stages inside the time to first content come first.
_TIMES = (
    "client_queue",
    "lateness",
    "time_to_reject",
    *ORDER[:-1],
    "decode",
    "terminal",
    "unattributed",
    "release_lag",
)


def section(evidence: Evidence) -> Section:
    """The mean taken apart, and percentiles of each stage."""
    rows = _ordered(evidence.ask("ttft_stage", load_point=EVERY, tenant=EVERY).rows)
    times = _percentile_table(evidence)
    tables = (times,) if times.rows else ()
    if not rows:
        why = "No answered request shows both its first content and a stage inside it on one timeline."
        if evidence.ask("audit", audit="different clocks").rows:
            why += " The clocks of its sides are not related by the manifest."
        return Section("stages", "Stages", "Where the time to first content went", tables=tables, empty=why)
    row = rows[0]
    sub = (
        f"Mean of {numbers.count(row['n'])} answered requests that can be taken apart, {evidence.head} timeline."
        " Where stages overlap, time counts once; what no known stage covers is unattributed."
        " Hatched: in this stage or unattributed, no telling which."
    )
    data = {"parts": _parts(rows), "total": numbers.time(row["mean_ttft_ms"]), "label": _label(rows)}
    return Section(
        "stages", "Stages", heading(rows), sub, (_table(evidence, rows), *tables), template="stages", data=data
    )


def heading(rows: list[Row]) -> str:
    """The stage that surely holds most of the mean."""
    row = max(rows, key=lambda row: row["mean_low_ms"])
    share = numbers.share_range(row["share_low"], row["share_high"])
    total = numbers.time(row["mean_ttft_ms"])
    if row["stage"] == "unattributed":
        return f"{share} of the mean {total} to first content is not covered by any known stage"
    return f"{_name(row).capitalize()} holds {share} of the mean {total} to first content"


def _name(row: Row) -> str:
    return str(row["stage"]).replace("_", " ")


def _ordered(rows: tuple[Row, ...]) -> list[Row]:
    return sorted(
        rows, key=lambda row: (ORDER.index(row["stage"]) if row["stage"] in ORDER else len(ORDER), row["stage"])
    )


def _parts(rows: list[Row]) -> list[dict[str, Any]]:
    """Widths in per cent: the sure part of each stage, and after a bounded one its slack."""
    drawn: list[tuple[Row, str, float]] = []
    for row in rows:
        drawn.append((row, "solid", row["mean_low_ms"]))
        if row["stage"] != "unattributed" and row["mean_high_ms"] > row["mean_low_ms"]:
            drawn.append((row, "slack", row["mean_high_ms"] - row["mean_low_ms"]))
    scale = max(rows[0]["mean_ttft_ms"], sum(length for _, _, length in drawn))
    return [
        {
            "stage": row["stage"],
            "kind": kind,
            "width": 100 * length / scale,
            "text": f"{_name(row)} {_range(row)}" if kind == "solid" or not row["mean_low_ms"] else "",
            "title": f"{_name(row)} ({row['owner']}): {_range(row)}, {row['evidence']}",
        }
        for row, kind, length in drawn
        if length > 0
    ]


def _range(row: Row) -> str:
    return numbers.time_range(row["mean_low_ms"], row["mean_high_ms"])


def _label(rows: list[Row]) -> str:
    return "; ".join(f"{_name(row)} {_range(row)}" for row in rows)


def _table(evidence: Evidence, rows: list[Row]) -> Table:
    answer = evidence.ask("ttft_stage", load_point=EVERY, tenant=EVERY)
    unit = numbers.unit_for([row["mean_high_ms"] for row in rows])
    columns = (
        Column("stage", "stage", numeric=False),
        Column("owner", "owner", numeric=False),
        Column("evidence", "evidence", numeric=False),
        Column("seen in", "seen", title="Requests that show the stage; the others count as 0 in its mean"),
        Column(f"mean, {unit}", "mean_ms"),
        Column("share", "share"),
    )
    body = tuple(
        (
            Cell(_name(row), row["stage"], f"stage {row['stage']}"),
            table.words(row["owner"]),
            table.words(row["evidence"], kind="open" if row["evidence"] == "bounded" else ""),
            table.number(row["seen"]),
            table.time(row["mean_low_ms"], row["mean_high_ms"], unit),
            table.share(row["share_low"], row["share_high"]),
        )
        for row in rows
    )
    mean = numbers.time(rows[0]["mean_ttft_ms"])
    note = f"n {numbers.count(rows[0]['n'])}, mean time to first content {mean}. More strata: view ttft_stage."
    return Table(
        "table-stage-mean",
        "Mean time to first content by stage",
        columns,
        body,
        answer.sql,
        ("ttft_stage", "stage"),
        note,
    )


def _percentile_table(evidence: Evidence) -> Table:
    answer = evidence.ask("percentile", metric=_TIMES, population="ok", where=WHOLE)
    rows = sorted(answer.rows, key=lambda row: _TIMES.index(row["metric"]))
    unit = "ms"  # stages differ by orders of magnitude; the smallest must stay readable
    columns = (
        Column("stage", "metric", numeric=False),
        Column("side", "side", numeric=False),
        Column("from → to", "formula", numeric=False),
        Column("n", "n_ok", title="Answered requests that show it"),
        Column("not recorded", "unknown", title="Answered requests that do not show it"),
        *(Column(f"{level}, {unit}", f"{level}_ms") for level in ("p50", "p95", "p99")),
    )
    body = []
    for row in rows:
        metric = evidence.metrics[row["metric"]]
        kind = f"stage {row['metric']}" if row["metric"] in ORDER else ""
        cells = [
            Cell(row["metric"].replace("_", " "), row["metric"], kind),
            table.words(metric["side"]),
            table.words(metric["formula"]),
        ]
        cells += [table.number(row["n"]), table.number(row["unknown"], kind="open")]
        cells += [
            table.absent(CARRIES[level][1], f"{CARRIES[level][0]}: n is {row['n']}")
            if too_few(row, level)
            else table.time(row[level], row[f"{level}_high"], unit)
            for level in ("p50", "p95", "p99")
        ]
        body.append(tuple(cells))
    note = (
        "Over answered requests only; a range where the engine's spans only bound the stage."
        " Percentiles of stages do not add up."
    )
    return Table(
        "table-stage-percentile",
        "Percentiles of each stage",
        columns,
        tuple(body),
        answer.sql,
        ("percentile", "quantile", "stage"),
        note,
    )
