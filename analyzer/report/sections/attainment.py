"""How many had it by when: the curve of all requests, whose plateau is the failures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, sentences, table
from analyzer.report.section import Figure, Section
from analyzer.report.sections.glance import WHOLE
from analyzer.report.strata import ONE_SPLIT, by_stratum, strata
from analyzer.report.table import Column, Table
from analyzer.vocabulary import EVERY

if TYPE_CHECKING:
    from analyzer.report.evidence import Answer, Evidence, Row


def section(evidence: Evidence) -> Section:
    """The curve of the head side's time to first content, and each promise's share by stratum."""
    metric = evidence.head_metric("ttft")
    curve = evidence.ask("attainment_curve", order="rank", metric=metric, load_point=EVERY)
    tables = tuple(_promise_table(evidence, row["slo"]) for row in evidence.ask("verdict").rows)
    if not curve.rows:
        why = f"No counted request has a {metric} that could be drawn over time."
        return Section("attainment", "Attainment", "Attainment", tables=tables, empty="" if tables else why)
    limits = [row["limit_ms"] for row in evidence.ask("slo", metric=metric).rows]
    limits = sorted(set(limits))
    sub = (
        f"Share of all {numbers.count(curve.rows[0]['n'])} requests with first content by time after the send, {evidence.head} clock."
        " A failure never arrives: it keeps the curve below 100 %."
    )
    figure = Figure("figure-attainment", f"Share of requests with {metric} by time", spec(curve.rows, limits))
    curve_table = _curve_table(metric, curve)
    return Section(
        "attainment", "Attainment", heading(evidence, curve.rows), sub, (*tables, curve_table), (figure,), template="attainment"
    )


def heading(evidence: Evidence, rows: tuple[Row, ...]) -> str:
    """Where the curve stops, or by when everyone had it."""
    metric = evidence.head_metric("ttft")
    row = evidence.ask("percentile", metric=metric, population="all", **WHOLE).rows[0]
    n, failed = row["n"], row["failed"]
    sure, possible = _plateau(rows, "high_ms"), _plateau(rows, "low_ms")
    if failed == n:
        return f"None of {sentences.plural(n, 'request')} got first content"
    if sure == possible and failed:
        return f"The curve stops at {numbers.share(sure)}: {numbers.count(failed)} of {numbers.count(n)} never got first content"
    if sure != possible:
        ends = f"{numbers.share(sure, sign=False)} and {numbers.share(possible)}"
        whose = sentences.plural(row["undetermined"] or row["unknown"], "request")
        why = "left before it was decided" if row["undetermined"] else "lack the evidence"
        return f"The curve stops between {ends}, because {whose} {why}"
    return f"All {numbers.count(n)} requests got first content within {numbers.time(rows[-1]['high_ms'])}"


def _plateau(rows: tuple[Row, ...], end: str) -> float:
    """The share at the last rank that is reached."""
    return max((row["share"] for row in rows if row[end] is not None and math.isfinite(row[end])), default=0.0)


def spec(rows: tuple[Row, ...], limits: list[float]) -> dict[str, Any]:
    """The figure: one step curve, or a band between the sure and the possible one, and the deadlines."""
    import plotly.graph_objects as go

    finite = [value for row in rows for value in (row["low_ms"], row["high_ms"]) if value is not None and math.isfinite(value)]
    unit = numbers.unit_for([*finite, *limits])
    right = numbers.in_unit(max([*finite, *limits, 1e-9]) * 1.06, unit)
    exact = all(row["low_ms"] == row["high_ms"] for row in rows)
    figure = go.Figure()
    if not exact:
        x, y = _steps(rows, "low_ms", unit, right)
        figure.add_scatter(
            x=x, y=y, mode="lines", name="at the earliest", line={"color": "var(--warn)", "width": 2, "dash": "dash", "shape": "hv"}
        )
    x, y = _steps(rows, "high_ms", unit, right)
    fill = {} if exact else {"fill": "tonexty", "fillcolor": "var(--warnfill)"}
    name = "with first content" if exact else "for sure"
    figure.add_scatter(x=x, y=y, mode="lines", name=name, line={"color": "var(--ok)", "width": 2.5, "shape": "hv"}, **fill)
    marks = [_label(_plateau(rows, "high_ms"), right, "" if exact else "for sure ", below=True)]
    if not exact:
        marks.append(_label(_plateau(rows, "low_ms"), right, "possibly ", below=False))
    for limit in limits:
        x_limit = numbers.in_unit(limit, unit)
        figure.add_shape(
            type="line", x0=x_limit, x1=x_limit, y0=0, y1=1.0, line={"color": "var(--ink)", "width": 1, "dash": "dot"}
        )
        marks.append(
            {
                "x": x_limit, "y": 0.02, "text": f" deadline {numbers.exact_time(limit)} ", "yanchor": "bottom",
                "xanchor": "right" if x_limit > right / 2 else "left", "font": {"color": "var(--ink)"},
            }
        )
    figure.update_layout(
        template="none", showlegend=False, margin={"l": 52, "r": 12, "t": 16, "b": 44}, height=320, hovermode="x unified",
        paper_bgcolor="rgba(0,0,0,0)", plot_bgcolor="rgba(0,0,0,0)", font={"family": "system-ui, sans-serif", "size": 13, "color": "var(--dim)"},
        annotations=[{"showarrow": False, **mark} for mark in marks],
        xaxis={"title": {"text": f"time since the send, {unit}"}, "range": [0, right], "gridcolor": "var(--line)", "zeroline": False, "fixedrange": True},
        yaxis={"range": [0, 1.1], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1], "gridcolor": "var(--line)", "zeroline": False, "fixedrange": True},
    )  # fmt: skip
    made: dict[str, Any] = figure.to_plotly_json()
    return {"data": made["data"], "layout": made["layout"]}


def _steps(rows: tuple[Row, ...], end: str, unit: str, right: float) -> tuple[list[float], list[float]]:
    """Corners of a step curve from zero to the right edge; each step stands where its last request arrives."""
    x, y = [0.0], [0.0]
    for row in rows:
        if row[end] is None or not math.isfinite(row[end]):
            continue
        x.append(numbers.in_unit(row[end], unit))
        y.append(row["share"])
    return [*x, right], [*y, y[-1]]


def _label(share: float, right: float, before: str, *, below: bool) -> dict[str, Any]:
    low = below and share > 0.15  # noqa: PLR2004 (room under the line)
    color = "var(--warn)" if before.startswith("possibly") else "var(--ok)"
    return {
        "x": right, "y": share, "xanchor": "right", "yanchor": "top" if low else "bottom",
        "text": f"{before}{numbers.share(share)}", "font": {"color": color, "size": 14},
    }  # fmt: skip


def _curve_table(metric: str, curve: Answer) -> Table:
    unit = numbers.unit_for([value for row in curve.rows for value in (row["low_ms"], row["high_ms"])])
    columns = (
        Column("requests", "rank"), Column("share", "share"),
        Column(f"by, at the earliest, {unit}", "low_ms"), Column(f"by, for sure, {unit}", "high_ms"),
    )  # fmt: skip
    body = tuple(
        (
            table.number(row["rank"]),
            table.share(row["share"]),
            table.time(row["low_ms"], row["low_ms"], unit),
            table.time(row["high_ms"], row["high_ms"], unit),
        )
        for row in curve.rows
    )
    return Table(
        "table-attainment-curve", f"The curve in numbers: {metric} over all requests", columns, body, curve.sql,
        ("attainment_curve", "distribution"), "At no more than about 200 ranks; the ends of the plateau are always among them.", folded=True,
    )  # fmt: skip


def _promise_table(evidence: Evidence, slo: str) -> Table:
    answer = evidence.ask("attainment", where=ONE_SPLIT, slo=slo)
    rows, chosen = by_stratum(answer.rows), strata(evidence)
    optional = [key for key in ("undetermined", "unknown", "not_applicable") if any(row[key] for row in answer.rows)]
    labels = {"undetermined": "cannot be judged", "unknown": "no evidence", "not_applicable": "n/a"}
    columns = (
        Column("stratum", "stratum", numeric=False), Column("n", "n"), Column("kept it", "good"), Column("did not", "bad"),
        *(Column(labels[key], key) for key in optional),
        Column("share", "share"), Column("95 % interval", "ci", title="Wilson interval, both ends of the share"),
    )  # fmt: skip
    kinds = {"undetermined": "open", "unknown": "open"}
    body = []
    for stratum in chosen.shown:
        row = rows.get(stratum.key)
        if row is None:
            continue
        body.append(
            (
                stratum.cell(), table.number(row["n"]), table.number(row["good"], kind="ok"), table.number(row["bad"], kind="bad"),
                *(table.number(row[key], kind=kinds.get(key, "")) for key in optional),
                table.share(row["share_low"], row["share_high"]), table.share(row["ci_low"], row["ci_high"]),
            )
        )  # fmt: skip
    name = evidence.ask("verdict", slo=slo).rows[0]["conditions"]
    return Table(f"table-attainment-{slo}", f"Promise {slo}: {name}", columns, tuple(body), answer.sql, ("attainment", "attainment_count"), chosen.note)
