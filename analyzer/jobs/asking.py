"""Questions to a store that is up to date: `analyze sql`, and the commands that print a view."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from analyzer import ingest
from analyzer.errors import UsageFault
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Answers = list[tuple[list[str], list[tuple[Any, ...]]]]
Rows = list[dict[str, Any]]


@contextmanager
def derived(store_path: str, trace: Callable[[str], None] | None) -> Iterator[Store]:
    """Give the store to be read; its views are brought up to date first where they are not."""
    with Store(store_path, read_only=True, trace=trace) as store:
        if store.is_derived:
            yield store
            return
    with Store(store_path, trace=trace) as store:
        ingest.apply_defaults(store)
        store.derive()
    with Store(store_path, read_only=True, trace=trace) as store:
        yield store


def query(store_path: str, text: str, trace: Callable[[str], None] | None) -> Answers:
    """Column names and rows of each statement. QueryError when one does not run."""
    with derived(store_path, trace) as store:
        return store.query(text)


def run_named(store: Store, run: str | None) -> str | None:
    """The run of this name. UsageFault, with the names that there are, when there is none."""
    if run is not None and run not in (names := store.runs()):
        raise UsageFault(f"the store has no run {run!r}", "it has " + (", ".join(names) or "none"))
    return run


def clocks(store_path: str, run: str | None, trace: Callable[[str], None] | None) -> Rows:
    """Pairs of clocks with the bounds of their offset (`clock_advice`)."""
    return _of_run(store_path, "clock_advice", "run, side_a, side_b, clock_a, clock_b", run, trace)


def audit(store_path: str, run: str | None, trace: Callable[[str], None] | None) -> Rows:
    """Findings, the worst first (`audit`), each with how many of its kind there are and which of them it is."""
    kind = "PARTITION BY run, severity, audit"
    worst_first = "CASE severity WHEN 'fault' THEN 1 WHEN 'warning' THEN 2 ELSE 3 END"
    view = (
        f"(SELECT *, count(*) OVER ({kind}) AS findings,"
        f" row_number() OVER ({kind} ORDER BY n DESC, subject, detail) AS finding FROM audit)"
    )
    return _of_run(store_path, view, f"run, {worst_first}, audit, finding", run, trace)


def coverage(store_path: str, run: str | None, trace: Callable[[str], None] | None) -> Rows:
    """Boundaries that can be pointed to, in the order in which they happen (`boundary_coverage`)."""
    return _of_run(store_path, "boundary_coverage", "run, place, side, boundary", run, trace)


def _of_run(store_path: str, view: str, order: str, run: str | None, trace: Callable[[str], None] | None) -> Rows:
    with derived(store_path, trace) as store:
        wanted: Sequence[Any] = (run_named(store, run),)
        return store.fetch(f"SELECT * FROM {view} WHERE run = coalesce($1, run) ORDER BY {order}", wanted)
