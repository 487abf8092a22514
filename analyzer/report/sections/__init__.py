"""The sections of the page in reading order: kept, what happened, how fast, where it went, which, trust, method."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.report.sections import (
    attainment,
    audits,
    boundaries,
    contract,
    files,
    glance,
    method,
    outcomes,
    percentiles,
    promise,
    stages,
    timelines,
)

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence
    from analyzer.report.section import Section

ORDER = (
    promise,
    glance,
    outcomes,
    percentiles,
    attainment,
    stages,
    timelines,
    audits,
    files,
    boundaries,
    contract,
)


def all_sections(evidence: Evidence) -> tuple[Section, ...]:
    """Every section, the method last: it explains what the others have read."""
    made = tuple(module.section(evidence) for module in ORDER)
    return (*made, method.section(evidence, made))
