"""How many had it by when: the curve of all requests, whose plateau is the failures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.report import curve as curve_figure
from analyzer.report import numbers, sentences, table
from analyzer.report.section import Figure, Section
from analyzer.report.strata import ONE_SPLIT, WHOLE, by_stratum, strata
from analyzer.report.table import Column, Table
from analyzer.vocabulary import EVERY

if TYPE_CHECKING:
    from analyzer.report.evidence import Answer, Evidence, Row


def section(evidence: Evidence) -> Section:
    """The curve of the head side's time to first content, and each promise's share by stratum."""
    metric = evidence.head_metric("ttft")
    curve = drawn(evidence)
    tables = tuple(_promise_table(evidence, row["slo"]) for row in evidence.ask("verdict").rows)
    if not curve.rows:
        why = f"No counted request has a {metric} that could be drawn over time."
        return Section("attainment", "Attainment", "Attainment", tables=tables, empty="" if tables else why)
    limits = sorted({row["limit_ms"] for row in evidence.ask("slo", metric=metric).rows})
    what, since = _words(evidence)
    many = numbers.count(curve.rows[0]["n"])
    sub = (
        f"Share of all {many} requests that were answered and had {what}, by time since {since}, {evidence.head} clock."
        " A failure never arrives, whatever it showed before: it keeps the curve below 100 %."
    )
    spec = curve_figure.spec(curve.rows, limits, since)
    figure = Figure("figure-attainment", f"Share of requests with {what} by time", spec)
    curve_table = _curve_table(metric, curve)
    return Section(
        "attainment",
        "Attainment",
        heading(evidence, curve.rows),
        sub,
        (*tables, curve_table),
        (figure,),
        template="attainment",
    )


def drawn(evidence: Evidence) -> Answer:
    """The rows of the curve: the head side's time to first content, over the whole run."""
    return evidence.ask("attainment_curve", order="rank", metric=evidence.head_metric("ttft"), load_point=EVERY)


def _words(evidence: Evidence) -> tuple[str, str]:
    """What arrives on the side that heads the run, and from when it counts."""
    what = "first token" if evidence.head == "engine" else "first content"
    return what, "the send" if evidence.head == "client" else "arrival"


def heading(evidence: Evidence, rows: tuple[Row, ...]) -> str:
    """Where the curve stops, or by when everyone had it."""
    metric, (what, _) = evidence.head_metric("ttft"), _words(evidence)
    row = evidence.ask("percentile", metric=metric, population="all", where=WHOLE).rows[0]
    n, failed = row["n"], row["failed"]
    sure, possible = curve_figure.plateau(rows, "high_ms"), curve_figure.plateau(rows, "low_ms")
    if failed == n:
        return f"None of {sentences.plural(n, 'request')} was answered"
    if sure == possible and failed:
        many = f"{numbers.count(failed)} of {numbers.count(n)}"
        return f"The curve stops at {numbers.share(sure)}: {many} failed{_after(evidence, metric, what)}"
    if sure != possible:
        ends = f"{numbers.share(sure, sign=False)} and {numbers.share(possible)}"
        whose = sentences.plural(row["undetermined"] or row["unknown"], "request")
        why = "left before it was decided" if row["undetermined"] else "lack the evidence"
        return f"The curve stops between {ends}, because {whose} {why}"
    whom = "The one request" if n == 1 else f"All {numbers.count(n)} requests"
    return f"{whom} got {what} within {numbers.time(rows[-1]['high_ms'])}"


def _after(evidence: Evidence, metric: str, what: str) -> str:
    """How many got their first content and failed all the same."""
    ok, reached = (evidence.ask("percentile", metric=metric, population=p, where=WHOLE).rows for p in ("ok", "reached"))
    after = (reached[0]["n"] if reached else 0) - (ok[0]["n"] if ok else 0)
    return f", {numbers.count(after)} of them after {what}" if after > 0 else f" with no {what} recorded"


def _curve_table(metric: str, curve: Answer) -> Table:
    unit = numbers.unit_for([value for row in curve.rows for value in (row["low_ms"], row["high_ms"])])
    columns = (
        Column("requests", "rank"),
        Column("share", "share"),
        Column(f"by, at the earliest, {unit}", "low_ms"),
        Column(f"by, for sure, {unit}", "high_ms"),
    )
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
        "table-attainment-curve",
        f"The curve in numbers: {metric} over all requests",
        columns,
        body,
        curve.sql,
        ("attainment_curve",),
        "At no more than about 200 ranks; the ends of the plateau are always among them.",
        folded=True,
    )


def _promise_table(evidence: Evidence, slo: str) -> Table:
    answer = evidence.ask("attainment", where=ONE_SPLIT, slo=slo)
    rows, chosen = by_stratum(answer.rows), strata(evidence)
    optional = [key for key in ("undetermined", "unknown", "not_applicable") if any(row[key] for row in answer.rows)]
    labels = {"undetermined": "cannot be judged", "unknown": "no evidence", "not_applicable": "n/a"}
    columns = (
        Column("stratum", "stratum", numeric=False),
        Column("n", "n"),
        Column("kept it", "good"),
        Column("did not", "bad"),
        *(Column(labels[key], key) for key in optional),
        Column("share", "share"),
        Column("95 % interval", "ci", title="Wilson interval, both ends of the share"),
    )
    kinds = {"undetermined": "open", "unknown": "open"}
    body = []
    for stratum in chosen.shown:
        row = rows.get(stratum.key)
        if row is None:
            continue
        body.append(
            (
                stratum.cell(),
                table.number(row["n"]),
                table.number(row["good"], kind="ok"),
                table.number(row["bad"], kind="bad"),
                *(table.number(row[key], kind=kinds.get(key, "")) for key in optional),
                table.share(row["share_low"], row["share_high"]),
                table.share(row["ci_low"], row["ci_high"]),
            )
        )
    conditions = evidence.ask("slo", order="slo, condition", slo=slo).rows
    name = " and ".join(f"{row['metric']} ≤ {numbers.exact_time(row['limit_ms'])}" for row in conditions)
    number = [row["slo"] for row in evidence.ask("verdict").rows].index(slo) + 1
    return Table(
        f"table-attainment-{number}",
        f"Promise {slo}: {name}",
        columns,
        tuple(body),
        answer.sql,
        ("attainment", "attainment_count"),
        chosen.note,
    )
