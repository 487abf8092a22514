"""How fast for whom: percentiles by stratum, with what they leave out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from analyzer.report import numbers, table
from analyzer.report.section import Section
from analyzer.report.sections.glance import CARRIES, too_few
from analyzer.report.strata import ONE_SPLIT, WHOLE, by_stratum, strata
from analyzer.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from analyzer.report.evidence import Answer, Evidence, Row
    from analyzer.report.strata import Strata

LEVELS = ("p50", "p95", "p99")
_Q = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
_ORDER = (
    "ttft",
    "ttft_scheduled",
    "ttfa",
    "e2e",
    "tpot",
    "ttft_gateway",
    "e2e_gateway",
    "ttft_engine",
    "e2e_engine",
    "tpot_engine",
)


def section(evidence: Evidence) -> Section:
    """One table for each metric, the head side's first; other sides wait behind a toggle."""
    answer = evidence.ask("percentile", columns="DISTINCT metric, first_chunk", metric=_ORDER)
    told = [(row["metric"], row["first_chunk"]) for row in answer.rows]
    if not told:
        return Section(
            "percentiles", "Percentiles", "Percentiles", empty="No side recorded a time of a counted request."
        )
    ordered = sorted(
        told, key=lambda pair: (_side(evidence, pair[0]) != evidence.head, _ORDER.index(pair[0]), pair[1] != "known")
    )
    chosen = strata(evidence)
    tables = tuple(_table(evidence, metric, first_chunk, chosen) for metric, first_chunk in ordered)
    sub = (
        f"Nearest rank, by arrival, {evidence.head} clock first. ok: requests that were answered. all: every request to"
        " which the metric applies; a failure never arrives, and one that left before it was decided gives a range."
        f" {chosen.note}"
    ).strip()
    return Section("percentiles", "Percentiles", heading(evidence), sub, tables)


def heading(evidence: Evidence) -> str:
    """p50 and p95 of the head side's time to first content over all requests."""
    metric = evidence.head_metric("ttft")
    rows = evidence.ask("percentile", metric=metric, population="all", where=WHOLE).rows
    title = evidence.metrics[metric]["title"]
    if not rows:
        return f"Percentiles, {evidence.head} side first"
    row = rows[0]
    told = [(level, _words(row, level)) for level in ("p50", "p95") if not too_few(row, level)]
    if len(told) == 2 and told[0][1] == told[1][1]:  # noqa: PLR2004
        values = f"p50 and p95 {told[0][1]}"
    else:
        values = ", ".join(f"{level} {text}" for level, text in told)
    side = "" if evidence.head in title else f", {evidence.head} side"
    n = numbers.count(row["n"])
    whom = f"the {n} requests to which it applies" if row["not_applicable"] else f"all {n} requests"
    return f"{title[:1].upper()}{title[1:]}{side}: {values or 'too few requests for a percentile'}, over {whom}"


def _words(row: Row, level: str) -> str:
    low, high = row[level], row[f"{level}_high"]
    if low != high and high is not None and math.isinf(high):
        return f"{numbers.time(low)} or never"
    return numbers.time_range(low, high)


def _side(evidence: Evidence, metric: str) -> str:
    return str(evidence.metrics[metric]["side"])


def _table(evidence: Evidence, metric: str, first_chunk: str | None, chosen: Strata) -> Table:
    chunk = f"first_chunk = '{first_chunk}'" if first_chunk else "first_chunk IS NULL"
    answer = evidence.ask("percentile", metric=metric, population=("ok", "all"), where=f"{chunk} AND {ONE_SPLIT}")
    intervals = evidence.ask("quantile", metric=metric, population=("ok", "all"), where=f"{chunk} AND {WHOLE}")
    shown = [row[key] for row in answer.rows for level in ("p50", "p95") for key in (level, f"{level}_high")]
    unit = numbers.unit_for(shown)
    by = {
        population: by_stratum([row for row in answer.rows if row["population"] == population])
        for population in ("ok", "all")
    }
    counts = _counts(answer)
    body = []
    for stratum in chosen.shown:
        ok, whole = by["ok"].get(stratum.key), by["all"].get(stratum.key)
        total = intervals if not stratum.split else None
        body.append(
            (stratum.cell(), *_count_cells(ok, whole, counts), *_levels(ok, unit, total), *_levels(whole, unit, total))
        )
    columns = (
        Column("stratum", "stratum", numeric=False),
        Column("n", "n", title="Requests to which the metric applies, failures among them"),
        Column("ok", "n_ok", title="Requests that were answered and have a value"),
        *(Column(label, key, title=title) for key, label, title in counts),
        *(
            Column(f"{level} {population}, {unit}", f"{level}_{population}_ms")
            for population in ("ok", "all")
            for level in LEVELS
        ),
    )
    suffix = f"-{first_chunk}" if first_chunk else ""
    return Table(
        f"table-percentile-{metric}{suffix}",
        _caption(evidence, metric, first_chunk),
        columns,
        tuple(body),
        answer.sql,
        ("percentile", "quantile"),
        folded=_side(evidence, metric) != evidence.head,
    )


def _caption(evidence: Evidence, metric: str, first_chunk: str | None) -> str:
    row = evidence.metrics[metric]
    chunk = {"assumed": "; first chunk assumed 1 token", "known": "; tokens of the first chunk known"}.get(
        first_chunk or "", ""
    )
    side = "" if row["side"] in row["title"] else f", {row['side']} side"
    return f"{metric}: {row['title']}{side}{chunk}"


_COUNTS = (
    ("failed", "failed", "Requests that never reached it"),
    ("undetermined", "undetermined", "Cancelled by their waiter or unresolved: known only up to when they left"),
    ("unknown", "no evidence", "Answered, but what the metric needs was not recorded"),
    ("not_applicable", "n/a", "Requests to which the metric does not apply; outside n"),
)


def _counts(answer: Answer) -> list[tuple[str, str, str]]:
    """The counts beside n: failures always, the others where one of them is not zero."""
    return [count for count in _COUNTS if count[0] == "failed" or any(row[count[0]] for row in answer.rows)]


def _count_cells(ok: Row | None, whole: Row | None, counts: list[tuple[str, str, str]]) -> list[Cell]:
    row = whole or ok
    cells = [table.number(whole["n"] if whole else None), table.number(ok["n"] if ok else 0 if whole else None)]
    kinds = {"failed": "bad", "undetermined": "open", "unknown": "open"}
    return cells + [table.number(row[key] if row else None, kind=kinds.get(key, "")) for key, _, _ in counts]


def _levels(row: Row | None, unit: str, intervals: Answer | None) -> list[Cell]:
    return [_level(row, level, unit, intervals) for level in LEVELS]


def _level(row: Row | None, level: str, unit: str, intervals: Answer | None) -> Cell:
    if row is None:
        return table.absent(numbers.NONE, "no value in this population")
    if too_few(row, level):
        return table.absent(CARRIES[level][1], f"{CARRIES[level][0]}: n is {row['n']}")
    return table.time(row[level], row[f"{level}_high"], unit, small=_interval(row, level, unit, intervals))


def _interval(row: Row, level: str, unit: str, intervals: Answer | None) -> str:
    """The order-statistic interval of the total, an unbounded side said."""
    found = (
        [r for r in intervals.rows if r["population"] == row["population"] and r["q"] == _Q[level]] if intervals else []
    )
    if not found:
        return ""
    low, high = found[0]["ci_low"], found[0]["ci_high"]
    if low is None and high is None:
        return f"no bounds at n = {row['n']}"
    if low == high:
        return f"95 %: {numbers.time(low, unit, sign=False)}"
    below = "no lower bound" if low is None else numbers.time(low, unit, sign=False)
    above = "no upper bound" if high is None else numbers.time(high, unit, sign=False)
    open_end = f" at n = {row['n']}" if None in (low, high) else ""
    return f"95 %: {below} to {above}{open_end}"
