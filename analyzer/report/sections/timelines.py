"""Which requests: the slowest, the failed, the cancelled and the first, each side on its own row."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, sentences, table
from analyzer.report.section import Section
from analyzer.report.table import Column, Table

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

EACH = 4
_FAILED = ("rejected", "timeout", "error", "truncated", "unsent", "unresolved")
_TICKS = 4


def section(evidence: Evidence) -> Section:
    """Timelines of a few requests, drawn as they stand in the view, and their numbers."""
    groups = _groups(evidence)
    ids = sorted({row["request_id"] for _, rows in groups for row in rows})
    if not ids:
        return Section(
            "timelines", "Requests", "Request timelines", empty="No request is counted, so none can be drawn."
        )
    answer = chosen_timelines(evidence)
    unit = numbers.unit_for([row["end_ms"] for row in answer.rows])
    right = _scale(answer.rows, unit)
    by_id: dict[str, list[Row]] = {request: [] for request in ids}
    for row in sorted(answer.rows, key=lambda row: (row["request_id"], row["attempt"], row["place"])):
        by_id[row["request_id"]].append(row)
    drawn, already = [], set[str]()
    for title, rows in groups:
        fresh = [row for row in rows if row["request_id"] not in already]
        already |= {row["request_id"] for row in fresh}
        if fresh:
            drawn.append(
                {"title": title, "requests": [_request(row, by_id[row["request_id"]], right, unit) for row in fresh]}
            )
    ticks = [{"at": 100 * i / _TICKS, "text": f"{right * i / _TICKS:g} {unit}"} for i in range(_TICKS + 1)]
    sub = (
        "Dashed: waiting, unresolved, or first content not recorded. Dot: first content (in the engine: first token)."
        " Solid: first content to completion. \N{MULTIPLICATION SIGN}: gave up or failed."
        " One scale for all, from the start of each request; a side whose clock nothing relates starts at its own zero."
    )
    data = {"groups": drawn, "ticks": ticks}
    return Section(
        "timelines",
        "Requests",
        _heading(groups),
        sub,
        (_table(answer.rows, answer.sql),),
        template="timelines",
        data=data,
    )


def chosen_timelines(evidence: Evidence) -> Any:
    """The timeline rows of the requests that are drawn."""
    ids = sorted({row["request_id"] for _, rows in _groups(evidence) for row in rows})
    return evidence.ask("request_timeline", request_id=ids) if ids else evidence.ask("request_timeline", where="false")


def _groups(evidence: Evidence) -> list[tuple[str, tuple[Row, ...]]]:
    metric = f"{evidence.head_metric('e2e')}_ms"
    columns = f"request_id, tenant, outcome, {metric} AS e2e_ms"
    by_arrival = (
        "(SELECT r.arrived_ns FROM request AS r"
        " WHERE r.run = request_metric.run AND r.request_id = request_metric.request_id), request_id"
    )

    def few(order: str, where: str, **equal: Any) -> tuple[Row, ...]:
        return evidence.ask("request_metric", columns=columns, where=where, order=order, limit=EACH, **equal).rows

    # Without a time of day nobody came first.
    timed = evidence.ask("request", columns="request_id", where="counted AND arrived_ns IS NOT NULL", limit=1).rows
    first = "The first" if timed else "Some"
    return [
        (
            "The slowest that were answered",
            few(f"{metric} DESC, request_id", f"counted AND {metric} IS NOT NULL", outcome="ok"),
        ),
        (f"{first} that failed", few(by_arrival, "counted", outcome=_FAILED)),
        (f"{first} that were cancelled by the client", few(by_arrival, "counted", outcome="cancelled")),
        ("The first to arrive" if timed else "Some others", few(by_arrival, "counted")),
    ]


def _heading(groups: list[tuple[str, tuple[Row, ...]]]) -> str:
    slowest = groups[0][1]
    if not slowest:
        return "Requests of this run: none was answered"
    return f"The slowest answered request took {numbers.time(slowest[0]['e2e_ms'])} end to end"


def _scale(rows: tuple[Row, ...], unit: str) -> float:
    """A round right edge, in `unit`, at or beyond the last end."""
    last = max((value for row in rows for value in (row["first_ms"], row["end_ms"]) if value is not None), default=1.0)
    last = max(numbers.in_unit(last, unit), 1e-6)
    step: float = 10.0 ** math.floor(math.log10(last))
    return next(step * factor for factor in (1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10) if step * factor >= last * 0.999)


def _request(row: Row, sides: list[Row], right: float, unit: str) -> dict[str, Any]:
    tenant = f"tenant {row['tenant']}" if row["tenant"] is not None else ""
    end = f"{numbers.time(row['e2e_ms'])}" if row["e2e_ms"] is not None else ""
    attempts = max((side["attempt"] for side in sides), default=1)
    return {
        "id": row["request_id"],
        "facts": " · ".join(filter(None, (tenant, row["outcome"], end))),
        "outcome": row["outcome"],
        "sides": [_side(side, right, unit, numbered=attempts > 1) for side in sides],
    }


def _side(row: Row, right: float, unit: str, *, numbered: bool) -> dict[str, Any]:
    """Positions in per cent of the scale; None where the side did not record it."""

    def at(ms: float | None) -> float | None:
        return None if ms is None else round(min(max(100 * numbers.in_unit(ms, unit) / right, 0), 100), 3)

    outermost = row["place"] == 1 or row["start_ms"] == 0
    gave_up = row["outcome"] != "ok" and outermost and row["end_ms"] is not None
    name = f"{row['side']} #{row['attempt']}" if numbered else row["side"]
    return {
        "name": name if row["related"] else f"{name} (own clock)",
        "clock": row["clock"],
        "start": at(row["start_ms"]) or 0,
        "first": at(row["first_ms"]),
        "end": at(row["end_ms"]) if row["end_ms"] is not None else 100,
        "gave_up": gave_up,
        "open": row["end_ms"] is None,
        "note": _note(row),
        "title": _title(row),
    }


def _note(row: Row) -> tuple[str, str]:
    """What stands at the right of the row, and what is missing."""
    end = "no end seen" if row["end_ms"] is None else numbers.time(row["end_ms"])
    if row["first_ms"] is None:
        return end, f"first {'token' if row['side'] == 'engine' else 'content'} not recorded"
    return end, ""


def _title(row: Row) -> str:
    shown = [("from", row["start_ms"]), ("first content", row["first_ms"]), ("end", row["end_ms"])]
    told = [f"{name} {numbers.raw(value)} ms" if value is not None else f"{name} not recorded" for name, value in shown]
    return f"{row['side']}, clock {row['clock']}: {', '.join(told)}"


def _table(rows: tuple[Row, ...], sql: str) -> Table:
    unit = numbers.unit_for([row["end_ms"] for row in rows])
    columns = (
        Column("request", "request_id", numeric=False),
        Column("attempt", "attempt"),
        Column("side", "side", numeric=False),
        Column("clock", "clock", numeric=False),
        Column("outcome", "outcome", numeric=False),
        Column(f"start, {unit}", "start_ms"),
        Column(f"first content, {unit}", "first_ms"),
        Column(f"end, {unit}", "end_ms"),
    )
    body = tuple(
        (
            table.words(row["request_id"]),
            table.number(row["attempt"]),
            table.words(row["side"]),
            table.words(row["clock"]),
            table.words(row["outcome"] or "end not seen", kind="" if row["outcome"] == "ok" else "bad"),
            *(_offset(row[key], unit) for key in ("start_ms", "first_ms", "end_ms")),
        )
        for row in sorted(rows, key=lambda row: (row["request_id"], row["attempt"], row["place"]))
    )
    drawn = sentences.plural(len({row["request_id"] for row in rows}), "request")
    note = "Offsets from the start of each request. Any other request: the view request_timeline."
    return Table(
        "table-timelines",
        f"The {drawn} drawn above, in numbers",
        columns,
        body,
        sql,
        ("request_timeline", "attempt"),
        note,
        folded=True,
    )


def _offset(ms: float | None, unit: str) -> Any:
    return table.absent("not recorded", "this side did not record it") if ms is None else table.time(ms, ms, unit)
