"""The attainment curve as a figure: one step curve, or a band between the sure and the possible one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from analyzer.report import numbers

if TYPE_CHECKING:
    from analyzer.report.evidence import Row

_AXIS = {"gridcolor": "var(--line)", "zeroline": False, "fixedrange": True}
_LAYOUT = {
    "template": "none",
    "showlegend": False,
    "margin": {"l": 52, "r": 78, "t": 16, "b": 44},
    "height": 320,
    "hovermode": "x unified",
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, sans-serif", "size": 13, "color": "var(--dim)"},
    "yaxis": {"range": [0, 1.1], "tickformat": ".0%", "tickvals": [0, 0.25, 0.5, 0.75, 1], **_AXIS},
}


def plateau(rows: tuple[Row, ...], end: str) -> float:
    """The share at the last rank that is reached."""
    return max((row["share"] for row in rows if math.isfinite(_time(row[end]))), default=0.0)


def spec(rows: tuple[Row, ...], limits: list[float], since: str) -> dict[str, Any]:
    """The figure's JSON from rows of `attainment_curve` in the order of their rank, with limits in ms as deadlines."""
    import plotly.graph_objects as go

    times = [time for row in rows for time in (_time(row["low_ms"]), _time(row["high_ms"])) if math.isfinite(time)]
    unit = numbers.unit_for([*times, *limits])
    right = numbers.in_unit(max([*times, *limits, 1e-9]) * 1.06, unit)
    sure, possible = _steps(rows, "high_ms", unit, right), _steps(rows, "low_ms", unit, right)
    marks = [_deadline(limit, unit, right) for limit in limits]
    figure = go.Figure()
    if sure == possible:
        figure.add_scatter(name="got it", **_line(sure, "var(--ok)", "solid"))
        marks.append(_label(plateau(rows, "high_ms"), right, "got it", "var(--ok)", "middle"))
    else:
        figure.add_scatter(name="possibly", **_line(possible, "var(--warn)", "dash"))
        line = _line(sure, "var(--ok)", "solid")
        figure.add_scatter(name="for sure", fill="tonexty", fillcolor="var(--warnfill)", **line)
        marks.append(_label(plateau(rows, "low_ms"), right, "possibly", "var(--warn)", "bottom"))
        marks.append(_label(plateau(rows, "high_ms"), right, "for sure", "var(--ok)", "top"))
    for limit in limits:
        x = numbers.in_unit(limit, unit)
        figure.add_shape(type="line", x0=x, x1=x, y0=0, y1=1, line={"color": "var(--ink)", "width": 1, "dash": "dot"})
    title = {"text": f"time since {since}, {unit}", "font": {"size": 13}}
    figure.update_layout(_LAYOUT, annotations=marks, xaxis={"title": title, "range": [0, right], **_AXIS})
    made: dict[str, Any] = figure.to_plotly_json()
    return {"data": made["data"], "layout": made["layout"]}


def _time(ms: float | None) -> float:
    """A lower end that is not known may be as early as the send."""
    return 0.0 if ms is None else ms


def _steps(rows: tuple[Row, ...], end: str, unit: str, right: float) -> tuple[list[float], list[float]]:
    """Corners of a step curve from zero to the right edge; each step stands where its last request arrives."""
    reached = [(numbers.in_unit(_time(row[end]), unit), row["share"]) for row in rows if math.isfinite(_time(row[end]))]
    x, y = [0.0, *(time for time, _ in reached)], [0.0, *(share for _, share in reached)]
    return [*x, right], [*y, y[-1]]


def _line(steps: tuple[list[float], list[float]], color: str, dash: str) -> dict[str, Any]:
    line = {"color": color, "width": 2.5, "dash": dash, "shape": "hv"}
    return {"x": steps[0], "y": steps[1], "mode": "lines", "line": line}


def _label(share: float, right: float, words: str, color: str, anchor: str) -> dict[str, Any]:
    """What stands at the right end of a line."""
    text = f" {numbers.share(share)}<br> {words}"
    font = {"color": color, "size": 13}
    at = {"x": right, "y": share, "xanchor": "left", "yanchor": anchor}
    return {**at, "text": text, "align": "left", "font": font, "showarrow": False}


def _deadline(limit: float, unit: str, right: float) -> dict[str, Any]:
    """What stands at the foot of a deadline's line, on the side with more room."""
    x = numbers.in_unit(limit, unit)
    at = {"x": x, "y": 0.02, "xanchor": "right" if x > right / 2 else "left", "yanchor": "bottom"}
    text = f" deadline {numbers.exact_time(limit)} "
    return {**at, "text": text, "font": {"color": "var(--ink)"}, "showarrow": False}
