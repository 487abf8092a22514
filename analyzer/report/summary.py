"""summary.json: the rows behind the page, for machines."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from analyzer.report import sentences
from analyzer.report.sections import attainment, promise, timelines
from analyzer.vocabulary import EVERY, NOT_REACHED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.report.evidence import Evidence, Row

VERSION = 1
# Everything that the page shows, whole; the page may show fewer rows, never other ones.
VIEWS = (
    "attainment",
    "audit",
    "boundary_coverage",
    "failure_class_count",
    "goodput",
    "ledger",
    "outcome_count",
    "percentile",
    "quantile",
    "run_window",
    "source_file",
    "stratum_ledger",
    "throughput",
    "ttft_stage",
    "verdict",
    "workload",
)
_REFUSED = "source_file, position, reason"  # the sample is a piece of raw data, which no report repeats


def summarise(evidence: Evidence) -> dict[str, Any]:
    """The summary as a value that `to_json` writes. Rows are ordered by all of their columns."""
    facts = evidence.facts
    told = promise.promises(evidence)
    views = {view: _rows(evidence.ask(view).rows) for view in VIEWS}
    views["refused"] = _rows(evidence.ask("refused", columns=_REFUSED).rows)
    views["attainment_curve"] = _rows(attainment.drawn(evidence).rows)
    views["request_timeline"] = _rows(timelines.chosen_timelines(evidence).rows)
    views["rule_file"] = _rows(evidence.ask("rule_file").rows)
    views["metric"] = _rows(evidence.ask("metric").rows)
    return {
        "summary": VERSION,
        "run": facts.run,
        "run_id": facts.run_id,
        "analyzer_version": facts.analyzer_version,
        "verified": facts.status == "verified",
        "status": {"word": facts.status, "note": facts.status_note},
        "post_hoc": facts.post_hoc,
        "unknown": [{"field": path, "why": why} for path, why in facts.unknowns],
        "raw": [dict(zip(("path", "bytes", "sha256", "rows"), file, strict=True)) for file in facts.raw_files],
        "promise": _spoken(evidence, told),
        "promises": told,
        "ledger": _ledger(evidence),
        "views": views,
    }


def to_json(summary: dict[str, Any]) -> str:
    """The text of summary.json: keys sorted, one row of a view a line, a newline at the end."""
    written = {key: _views(value) if key == "views" else _text(value) for key, value in summary.items()}
    parts = [f"{_text(key)}: {text}" for key, text in sorted(written.items())]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _views(views: dict[str, list[Row]]) -> str:
    named = []
    for name, rows in sorted(views.items()):
        body = ",\n".join(map(_text, rows))
        named.append(f"{_text(name)}: [\n{body}\n]" if rows else f"{_text(name)}: []")
    return "{\n" + ",\n".join(named) + "\n}"


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)


def _rows(rows: Iterable[Row]) -> list[Row]:
    return [{key: _plain(key, value) for key, value in row.items()} for row in rows]


def _plain(column: str, value: Any) -> Any:
    """A value as JSON holds it: nanoseconds as text, infinity as a word, what is no number as null."""
    if column.endswith("_ns") and isinstance(value, int):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return NOT_REACHED if value > 0 else None
    return value


def _spoken(evidence: Evidence, told: list[dict[str, Any]]) -> dict[str, Any]:
    """The promise that speaks for the run; without one, that nothing was promised."""
    worst = promise.gravest(told)
    if worst is not None:
        return worst
    workload, _ = sentences.workload(evidence.facts.manifest)
    return {
        "workload": workload,
        "objective": "Nothing was promised.",
        "slo": None,
        "verdict": None,
        "evidence": "The manifest declares no objective, so there is nothing to judge.",
        "low": None,
        "high": None,
    }


def _ledger(evidence: Evidence) -> dict[str, Any]:
    """Counts of the run, and the same by load point."""
    counts = ("offered", "ok", *sentences.FAILURES, "attempts")
    rows = {row["load_point"]: {key: row[key] for key in counts} for row in evidence.ask("ledger").rows}
    whole = rows.pop(EVERY, dict.fromkeys(counts, 0))
    return {**whole, "load_points": rows}
