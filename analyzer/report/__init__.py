"""The report of one run: a page for people and a summary for machines, from the rows of views alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.report.evidence import Evidence
from analyzer.report.facts import ReportFacts
from analyzer.report.summary import to_json

if TYPE_CHECKING:
    from analyzer.store import Store

__all__ = ["Report", "ReportFacts", "build", "to_json"]


@dataclass(frozen=True, slots=True)
class Report:
    """A page, its summary (`to_json` writes it), and the verdict of each promise: (promise, verdict)."""

    html: str
    summary: dict[str, Any]
    verdicts: tuple[tuple[str, str], ...]


def build(store: Store, facts: ReportFacts) -> Report:
    """The report of the run that `facts` names, whose derived tables are up to date."""
    from analyzer.report import page, summary
    from analyzer.report.sections import all_sections

    evidence = Evidence(store, facts)
    made = summary.summarise(evidence)
    html = page.render(all_sections(evidence), facts, made["promise"]["verdict"])
    verdicts = tuple((promise["slo"], promise["verdict"]) for promise in made["promises"])
    return Report(html, made, verdicts)
