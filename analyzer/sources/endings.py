"""How an attempt ended by its HTTP status, the same for every load generator."""

from __future__ import annotations

from analyzer.vocabulary import Outcome

_ENDINGS = {
    429: Outcome.REJECTED, 503: Outcome.REJECTED, 408: Outcome.TIMEOUT, 504: Outcome.TIMEOUT, 499: Outcome.CANCELLED,
}  # fmt: skip


def by_status(status: int | None) -> Outcome:
    """The outcome that a status of a failed attempt stands for; error where it stands for none in particular."""
    return _ENDINGS.get(status or 0, Outcome.ERROR)


def status_sql(column: str) -> str:
    """The same as SQL over a column of statuses."""
    cases = " ".join(f"WHEN {status} THEN '{outcome}'" for status, outcome in _ENDINGS.items())
    return f"CASE {column} {cases} ELSE '{Outcome.ERROR}' END"
