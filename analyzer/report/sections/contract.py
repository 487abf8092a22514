"""The manifest as it stands, what is unknown marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.report import sentences
from analyzer.report.section import Section

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence

LAYERS = ("model", "runtime", "hardware", "workload", "measurement", "artifact")


def section(evidence: Evidence) -> Section:
    """Six layers, folded; a count of what each leaves unknown."""
    facts = evidence.facts
    layers = [
        {
            "name": layer,
            "value": facts.manifest[layer],
            "unknown": sum(path.partition(".")[0] == layer for path, _ in facts.unknowns),
        }
        for layer in LAYERS
        if layer in facts.manifest
    ]
    unknown = len(facts.unknowns)
    heading = (
        f"{sentences.plural(unknown, 'field')} of the manifest {'is' if unknown == 1 else 'are'} unknown"
        if unknown
        else "Every field of the manifest is known"
    )
    data: dict[str, Any] = {"layers": layers, "why": facts.manifest.get("why", "")}
    sub = "The contract of this run, and the bytes that hold what happened."
    empty = "" if layers else "The manifest declares nothing."
    return Section("manifest", "Manifest", heading, sub, template="manifest", data=data, empty=empty)
