"""The run at a glance: four numbers, each with what it leaves out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, sentences
from analyzer.report.section import Section
from analyzer.report.sections.promise import ledger_row
from analyzer.report.strata import WHOLE

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row


def section(evidence: Evidence) -> Section:
    """Requests, answered, goodput, head-side p95."""
    ledger = ledger_row(evidence)
    if ledger is None:
        return Section(
            "glance", "At a glance", "No request is counted", empty="The run has no request in its population."
        )
    cards = [_requests(ledger), _answered(ledger), *_goodput(evidence), _p95(evidence)]
    return Section("glance", "At a glance", "At a glance", template="glance", data={"cards": cards}, quiet=True)


def _card(label: str, value: str, small: str, *, title: Any = None, kind: str = "") -> dict[str, str]:
    return {"label": label, "value": value, "small": small, "title": numbers.raw(title), "kind": kind}


def _requests(ledger: Row) -> dict[str, str]:
    attempts = sentences.plural(ledger["attempts"], "attempt")
    return _card("requests", numbers.count(ledger["offered"]), f"in {attempts}", title=ledger["offered"])


def _answered(ledger: Row) -> dict[str, str]:
    if ledger["ok_share"] is None:
        return _card("answered", numbers.NONE, "no end of any request is recorded")
    interval = numbers.share_range(ledger["ok_ci_low"], ledger["ok_ci_high"])
    small = f"{numbers.share(ledger['ok_share'])}, 95 % interval {interval}"
    return _card("answered", numbers.count(ledger["ok"]), small, title=ledger["ok_share"])


def _goodput(evidence: Evidence) -> list[dict[str, str]]:
    rows = evidence.ask("goodput", where=WHOLE).rows
    whole = evidence.ask("throughput").rows[0]
    raw = f"raw {numbers.rate(whole['ok_per_s'])} of {numbers.rate(whole['offered_per_s'])} offered"
    basis = f"over {numbers.significant(whole['window_s'])} s, {_basis(whole)}" if whole["window_s"] else "no window"
    if not rows:
        return [
            _card(
                "throughput",
                numbers.rate(whole["ok_per_s"]),
                f"{numbers.rate(whole['offered_per_s'])} offered; {basis}",
            )
        ]
    return [
        _card(
            "goodput" if len(rows) == 1 else f"goodput, {row['slo']}",
            _rate_range(row),
            f"{raw}; {basis}",
            title=row["per_s"],
        )
        for row in rows
    ]


def _rate_range(row: Row) -> str:
    if row["per_s"] is None:
        return numbers.NONE
    if row["per_s"] == row["per_s_high"]:
        return numbers.rate(row["per_s"])
    return f"{numbers.significant(row['per_s'])} … {numbers.rate(row['per_s_high'])}"


def _basis(row: Row) -> str:
    return "as declared" if row["window_basis"] == "declared" else str(row["window_basis"])


def _p95(evidence: Evidence) -> dict[str, str]:
    metric = evidence.head_metric("ttft")
    label = f"{metric} p95, all ({evidence.head})"
    rows = {row["population"]: row for row in evidence.ask("percentile", metric=metric, where=WHOLE).rows}
    whole, answered = rows.get("all"), rows.get("ok")
    only = "none was answered"
    if answered:
        p95 = "n < 20" if too_few(answered, "p95") else numbers.time(answered["p95"])
        only = f"ok only {p95}, n {numbers.count(answered['n'])}"
    if whole is None:
        return _card(label, "not recorded", only)
    if too_few(whole, "p95"):
        return _card(label, "n < 20", f"n {numbers.count(whole['n'])} is too small for p95; {only}")
    low, high = whole["p95"], whole["p95_high"]
    never = low is not None and math.isinf(low)
    text = numbers.time(low) if low == high else f"{numbers.time(low)} … {numbers.time(high)}"
    title = (
        None if never else f"{numbers.raw(low)} … {numbers.raw(high)} ms" if low != high else f"{numbers.raw(low)} ms"
    )
    return _card(label, text, f"n {numbers.count(whole['n'])}; {only}", title=title, kind="never" if never else "")


# The least n that carries a level, as the view's note counts it.
CARRIES = {"p95": ("n too small for p95", "n < 20"), "p99": ("n too small for p99", "n < 100")}


def too_few(row: Row, level: str) -> bool:
    """Whether the view says that n does not carry this level."""
    return level in CARRIES and CARRIES[level][0] in row["note"].split("; ")
