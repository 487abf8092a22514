"""What happened to every request: a ledger whose parts sum to the whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.report import numbers, sentences, table
from analyzer.report.section import Section
from analyzer.report.sections.promise import ledger_row
from analyzer.report.strata import ONE_SPLIT, by_stratum, strata
from analyzer.report.table import Cell, Column, Table
from analyzer.vocabulary import EVERY

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

_KIND = {"ok": "ok", "cancelled": "open", "unresolved": "open"}


def section(evidence: Evidence) -> Section:
    """The balance of the run, and the same by stratum."""
    ledger = ledger_row(evidence)
    if ledger is None:
        return Section(
            "outcomes", "Outcomes", "Outcomes", empty="No request is counted, so there is nothing to balance."
        )
    sub = "Every request that was offered, by how it ended; the parts sum to the whole."
    data = {"parts": _parts(ledger), "offered": ledger["offered"]}
    tables = (_table(evidence), *_failures(evidence))
    return Section("outcomes", "Outcomes", heading(ledger), sub, tables, template="outcomes", data=data)


def heading(ledger: Row) -> str:
    """Which failures there were, and whether anything was refused in time."""
    offered = ledger["offered"]
    failed = sentences.failures(ledger)
    if not failed:
        return (
            "The one request was answered" if offered == 1 else f"All {numbers.count(offered)} requests were answered"
        )
    first, *others = [sentences.failed_phrase(outcome, n) for outcome, n in failed]
    count, _, predicate = first.partition(" ")
    text = sentences.listed([f"{count} of {sentences.plural(offered, 'request')} {predicate}", *others])
    if ledger["timeout"] and not ledger["rejected"]:
        text += "; nothing was rejected early"
    return text


def _parts(ledger: Row) -> list[dict[str, object]]:
    outcomes = ["ok", *sentences.FAILURES]
    return [
        {
            "outcome": outcome,
            "n": ledger[outcome],
            "kind": _KIND.get(outcome, "bad"),
            "width": 100 * ledger[outcome] / ledger["offered"],
        }
        for outcome in outcomes
        if ledger[outcome]
    ]


def _table(evidence: Evidence) -> Table:
    answer = evidence.ask("stratum_ledger", where=ONE_SPLIT)
    rows, chosen = by_stratum(answer.rows), strata(evidence)
    occurring = [outcome for outcome in sentences.FAILURES if any(row[outcome] for row in answer.rows)]
    columns = (
        Column("stratum", "stratum", numeric=False),
        Column("offered", "offered"),
        Column("ok", "ok"),
        *(Column(outcome, outcome) for outcome in occurring),
        Column("attempts", "attempts"),
        Column("answered", "ok_share"),
        Column("95 % interval", "ok_ci", title="Wilson interval of the share answered"),
    )
    body = [_row(stratum.cell(), rows[stratum.key], occurring) for stratum in chosen.shown]
    never = [outcome for outcome in sentences.FAILURES if outcome not in occurring]
    note = f"Outcomes that did not occur: {', '.join(never)}. {chosen.note}" if never else chosen.note
    return Table(
        "table-outcomes",
        "Outcomes by stratum, in requests",
        columns,
        tuple(body),
        answer.sql,
        ("stratum_ledger",),
        note,
    )


def _row(name: Cell, row: Row, occurring: list[str]) -> tuple[Cell, ...]:
    return (
        name,
        table.number(row["offered"]),
        table.number(row["ok"], kind="ok"),
        *(table.number(row[outcome], kind=_KIND.get(outcome, "bad")) for outcome in occurring),
        table.number(row["attempts"]),
        table.share(row["ok_share"]),
        table.share(row["ok_ci_low"], row["ok_ci_high"]),
    )


def _failures(evidence: Evidence) -> tuple[Table, ...]:
    """What the failures are put down to, with the first thing to do; no table where nothing failed."""
    answer = evidence.ask("failure_class_count", load_point=EVERY)
    if not answer.rows:
        return ()
    columns = (
        Column("class", "failure_class", numeric=False),
        Column("requests", "requests"),
        Column("attempts", "attempts"),
        Column("most common", "most_common", numeric=False),
        Column("signal", "signal", numeric=False),
        Column("first action", "first_action", numeric=False),
    )
    rows = sorted(answer.rows, key=lambda row: (-row["requests"], -row["attempts"], row["failure_class"]))
    body = tuple(
        (
            table.words(row["failure_class"].replace("_", " ")),
            table.number(row["requests"]),
            table.number(row["attempts"]),
            table.words(row["most_common"]),
            table.words(row["signal"], kind="prose"),
            table.words(row["first_action"], kind="prose"),
        )
        for row in rows
    )
    note = "A timeout alone does not tell what was waited for: it is unknown unless a rule of failures says more."
    return (
        Table(
            "table-failures",
            "Failures by class, in requests that ended so and attempts that failed so",
            columns,
            body,
            answer.sql,
            ("failure_class_count", "failure_action"),
            note if any(row["failure_class"] == "unknown" for row in rows) else "",
        ),
    )
