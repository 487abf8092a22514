"""`analyze timeline`: one request as the views tell it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.errors import UsageFault
from analyzer.jobs import asking

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.store import Store

Rows = list[dict[str, Any]]

_REQUEST = """
SELECT r.run, r.request_id, r.outcome, r.decided_by, r.attempts, r.sides, r.tenant, r.model, r.worker,
  r.input_tokens, r.output_tokens, r.failure_class, r.error_type, r.status_code, r.counted, r.not_counted_why,
  m.ttft_ms, m.ttft_why, m.e2e_ms, m.e2e_why,
  m.ttft_gateway_ms, m.e2e_gateway_ms, m.ttft_engine_ms, m.e2e_engine_ms
FROM request AS r
JOIN request_metric AS m ON m.run = r.run AND m.request_id = r.request_id
WHERE r.request_id = $1 AND r.run = coalesce($2, r.run)
ORDER BY r.run"""
_ATTEMPTS = """
SELECT k.attempt, k.kind, k.outcome, a.decided_by, k.backoff_ms, a.sides, a.error_type, a.status_code, a.failure_class
FROM attempt_kind AS k
JOIN attempt AS a ON a.attempt_id = k.attempt_id
WHERE k.run = $1 AND k.request_id = $2
ORDER BY k.attempt"""
_ENTRIES = """
SELECT * EXCLUDE (run, request_id, attempt_id) FROM timeline_entry
WHERE run = $1 AND request_id = $2
ORDER BY attempt, at_ms NULLS LAST, entry, CASE side WHEN 'client' THEN 1 WHEN 'gateway' THEN 2 ELSE 3 END,
  until_ms NULLS FIRST, what"""
_DIAGNOSIS = """
SELECT about, finding, part, low_ms, high_ms, median_low_ms, median_high_ms, median_n, excess_low_ms, excess_high_ms,
  other_part, other_high_ms, why
FROM diagnosis WHERE run = $1 AND request_id = $2 ORDER BY about DESC"""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A request, its attempts, what was seen of each in order of time, and what holds its excess."""

    request: dict[str, Any]
    attempts: Rows
    entries: Rows
    diagnosis: Rows


def of(store_path: str, request: str, run: str | None, trace: Callable[[str], None] | None) -> Timeline:
    """The timeline of a request. UsageFault when there is none of that name, or one in several runs."""
    with asking.derived(store_path, trace) as store:
        found = store.fetch(_REQUEST, (request, asking.run_named(store, run)))
        if not found:
            where = f"run {run} has" if run else "the store has"
            raise UsageFault(f"{where} no request {request!r}", _near(store, request))
        if len(found) > 1:
            runs = ", ".join(row["run"] for row in found)
            raise UsageFault(f"request {request!r} is in several runs: {runs}", "name one with --run")
        key = (found[0]["run"], request)
        return Timeline(found[0], store.fetch(_ATTEMPTS, key), store.fetch(_ENTRIES, key), store.fetch(_DIAGNOSIS, key))


def _near(store: Store, request: str) -> str:
    """What may have been meant: another run's, or a part of an id, which is what one remembers."""
    elsewhere = store.fetch("SELECT run FROM request WHERE request_id = $1 ORDER BY 1", (request,))
    if elsewhere:
        return "it is in " + ", ".join(row["run"] for row in elsewhere)
    rows = store.fetch(
        "SELECT DISTINCT request_id FROM request WHERE length($1) > 2 AND contains(request_id, $1)"
        " OR length(request_id) > 2 AND contains($1, request_id)"
        " OR request_id = (SELECT min(request_id) FROM attempt WHERE trace_id = lower($1)) ORDER BY 1 LIMIT 3",
        (request,),
    )
    names = [row["request_id"] for row in rows]
    return f"did you mean {' or '.join(names)}?" if names else '`analyze sql "FROM request"` lists them'
