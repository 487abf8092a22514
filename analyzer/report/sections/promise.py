"""Was it kept: workload, promise, verdict, and the evidence that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, sentences
from analyzer.report.section import Section
from analyzer.vocabulary import EVERY, Verdict

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

_HEADING = {Verdict.KEPT: "Promise kept", Verdict.BROKEN: "Promise broken", Verdict.CANNOT_TELL: "Cannot tell"}
_GRAVITY = (Verdict.BROKEN, Verdict.CANNOT_TELL, Verdict.KEPT)


def section(evidence: Evidence) -> Section:
    """One card for each promise; one that says so where nothing was promised."""
    told = promises(evidence)
    worst = gravest(told)
    heading = _HEADING[Verdict(worst["verdict"])] if worst else "Nothing was promised"
    if worst and len(told) > 1:
        same = sum(promise["verdict"] == worst["verdict"] for promise in told)
        heading = f"{same} of {len(told)} promises: {worst['verdict']}"
    workload, unknown = sentences.workload(evidence.facts.manifest)
    seen = evidence.ask("workload").rows
    data = {
        "promises": told,
        "workload": workload,
        "unknown": f"Not declared: {sentences.listed(unknown)}." if unknown else "",
        "seen": sentences.seen(seen[0]) if seen else "No request is counted.",
        "headings": {verdict.value: heading for verdict, heading in _HEADING.items()},
    }
    return Section("promise", "Promise", heading, template="promise", data=data)


def promises(evidence: Evidence) -> list[dict[str, Any]]:
    """Each promise as sentences, with the ends of the share that kept it."""
    conditions = evidence.ask("slo", order="slo, condition").rows
    selection = evidence.ask("slo_select").rows
    workload, _ = sentences.workload(evidence.facts.manifest)
    return [
        {
            "slo": row["slo"],
            "workload": workload,
            "objective": sentences.objective(
                (c for c in conditions if c["slo"] == row["slo"]), (s for s in selection if s["slo"] == row["slo"])
            ),
            "verdict": row["verdict"],
            "evidence": " ".join(_evidence(row)),
            "low": row["share_low"],
            "high": row["share_high"],
        }
        for row in evidence.ask("verdict").rows
    ]


def gravest(told: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The promise that speaks for the run: broken before cannot tell before kept."""
    return min(told, key=lambda promise: _GRAVITY.index(Verdict(promise["verdict"])), default=None)


def ledger_row(evidence: Evidence) -> Row | None:
    """The whole run's ledger; None where no request is counted."""
    rows = evidence.ask("ledger", load_point=EVERY).rows
    return rows[0] if rows else None


def _evidence(row: Row) -> list[str]:
    """Count, share, interval; then the one-sided bound that decides; then what is left out."""
    if not row["n"]:
        return [f"{row['why'][:1].upper()}{row['why'][1:]}."]
    n, open_ends = numbers.count(row["n"]), row["undetermined"] + row["unknown"]
    said = f"{numbers.count(row['good'])} of {n} {'surely did' if open_ends else 'did'}"
    interval = f"95 % Wilson interval {numbers.share_range(row['ci_low'], row['ci_high'])}"
    told = [f"{said} ({numbers.share_range(row['share_low'], row['share_high'])}, {interval}); {_others(row)}."]
    told.append(_deciding(row))
    if row["not_applicable"]:
        told.append(f"It does not apply to {sentences.plural(row['not_applicable'], 'further request')}.")
    return told


def _others(row: Row) -> str:
    parts = [f"{numbers.count(row['bad'])} did not"]
    if row["undetermined"]:
        parts.append(
            f"{numbers.count(row['undetermined'])} cannot be judged (they left, or were cut off, before it was decided)"
        )
    if row["unknown"]:
        parts.append(f"{numbers.count(row['unknown'])} lack the evidence")
    return ", ".join(parts)


def _deciding(row: Row) -> str:
    target, confidence = numbers.exact_share(row["target"]), numbers.exact_share(row["confidence"])
    low, high = numbers.share(row["bound_low"]), numbers.share(row["bound_high"])
    if row["verdict"] == Verdict.KEPT:
        return (
            f"With {confidence} confidence at least {low} keep it, and {target} was promised (exact one-sided bound)."
        )
    if row["verdict"] == Verdict.BROKEN:
        return (
            f"With {confidence} confidence at most {high} keep it, and {target} was promised (exact one-sided bound)."
        )
    between = f"at least {low} keep it, or at most {high}, each an exact one-sided bound; {target} lies between"
    return f"With {confidence} confidence {between}: {row['why']}."
