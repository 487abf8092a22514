"""`analyze export`: a part of a store as a file for another tool."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from analyzer import diagnostics
from analyzer.errors import EvidenceError, UsageFault
from analyzer.jobs import asking, trace_json, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from analyzer.jobs.trace_json import Clock
    from analyzer.store import Store

_OPTION = "--perfetto"


@dataclass(frozen=True, slots=True)
class Selection:
    """Which attempts are exported: all, unless something is said. `where` is SQL about rows of `attempt`."""

    run: str | None = None
    requests: tuple[str, ...] = ()
    where: str | None = None
    limit: int | None = None

    @property
    def is_part(self) -> bool:
        """Whether it leaves out attempts of its runs."""
        return bool(self.requests) or self.where is not None or self.limit is not None


@dataclass(frozen=True, slots=True)
class Exported:
    """How much was written."""

    attempts: int
    clocks: int
    events: int


_CHOSEN = """
SELECT attempt_id FROM attempt
WHERE ($run IS NULL OR run = $run)
  AND ($requests IS NULL OR request_id IN (SELECT unnest($requests::VARCHAR[])))
  AND attempt_id IN (SELECT attempt_id FROM attempt WHERE ({where}
  ))
ORDER BY run, coalesce(client_scheduled_ns, client_sent_ns, gateway_arrived_ns, engine_arrived_ns) NULLS LAST,
  attempt_id
LIMIT $limit
"""
# In a table of its own: a sort right above the joins of the view would hold all of it in memory.
_DRAWN = """
SELECT * FROM trace_event
WHERE attempt_id IN (FROM chosen) OR attempt_id IS NULL AND ($run IS NULL OR run = $run)
"""
# What belongs to no attempt is shown with a part of a run only while that lasts.
_CLOCKS = """
WITH counted AS (
  SELECT run, clock, clock_kind,
    min(start_ns) AS first_ns, max(coalesce(end_ns, start_ns)) AS last_ns, count(*) AS events
  FROM drawn
  WHERE attempt_id IS NOT NULL OR NOT $is_part
  GROUP BY run, clock, clock_kind
)
SELECT
  row_number() OVER (ORDER BY run, clock, clock_kind) AS pid, *,
  -- Wall clocks keep the distance from each other that they were written with, but for one that is set years off, whose
  -- times would not be exact; no other two clocks have a common zero.
  CASE clock_kind WHEN 'wall' THEN min(first_ns) OVER (PARTITION BY run, clock_kind ORDER BY first_ns
    RANGE BETWEEN $exact_ns PRECEDING AND CURRENT ROW) ELSE first_ns END AS origin_ns
FROM counted
"""
_RELATIONS = """
SELECT c.pid, r.relation, r.clock_b, r.offset_ns, r.error_ns
FROM clock_relation AS r
JOIN exported_clock AS c ON c.run = r.run AND c.clock = r.clock_a
ORDER BY ALL
"""
_EVENTS = """
SELECT c.pid, e.part, e.kind, e.name, e.start_ns, e.end_ns, e.side, e.attempt_id, e.args
FROM drawn AS e
JOIN exported_clock AS c ON c.run = e.run AND c.clock = e.clock AND c.clock_kind = e.clock_kind
WHERE e.attempt_id IS NOT NULL OR e.start_ns BETWEEN c.first_ns AND c.last_ns
ORDER BY c.pid, e.start_ns, CASE e.part WHEN 'attempt' THEN 0 WHEN 'stage' THEN 1 ELSE 2 END, e.end_ns DESC NULLS LAST,
  e.attempt_id, e.side, e.part, e.kind, e.name, e.args
"""


def perfetto(
    store_path: str, selection: Selection, target: str | IO[bytes], trace: Callable[[str], None] | None
) -> Exported:
    """Write a trace for ui.perfetto.dev to a file, which it replaces when it is whole, or to a stream.

    UsageFault where the store has no such run or request, EvidenceError where the selection is empty; then nothing is
    written.
    """
    with asking.derived(store_path, trace) as store:
        if isinstance(target, str):
            whole_file.check(Path(target), _OPTION)
            _refuse_to_lose(store, Path(target))
        attempts = _choose(store, selection)
        clocks, total = _clocks(store, selection)
        with _sink(target) as stream, diagnostics.progress("exporting", total) as bar:
            events = 0
            for text, events in _counted(store, clocks):
                stream.write(text.encode())
                bar.advance(min(events, total))
    return Exported(attempts, len(clocks), events)


def _sink(target: str | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return whole_file.replacing(Path(target), _OPTION) if isinstance(target, str) else nullcontext(target)


def _refuse_to_lose(store: Store, path: Path) -> None:
    kept = {
        Path(row["path"]).resolve(): "a raw file of the store" for row in store.fetch("SELECT path FROM source_file")
    }
    kept[store.path.resolve()] = "the store"
    if (what := kept.get(path.resolve())) is not None:
        raise UsageFault(f"{path} is {what} and would be lost", f"name another {_OPTION}")


def _choose(store: Store, selection: Selection) -> int:
    """Keep the attempts of a selection at hand; how many of them have a time."""
    run = asking.run_named(store, selection.run)
    asked = list(selection.requests) or None
    lost = store.fetch(
        "SELECT r FROM (SELECT unnest($requests::VARCHAR[]) AS r)"
        " WHERE r NOT IN (SELECT request_id FROM attempt WHERE $run IS NULL OR run = $run) ORDER BY r",
        {"requests": asked or [], "run": run},
    )
    if lost:
        raise UsageFault(f"{store.path} holds no request {lost[0]['r']}", "`analyze sql 'FROM request'` lists them")
    store.keep(
        "chosen",
        _CHOSEN.replace("{where}", "true" if selection.where is None else selection.where),
        {"run": run, "requests": asked, "limit": selection.limit},
        users="" if selection.where is None else "--where",
    )
    (seen,) = store.fetch(
        "SELECT count(*) AS chosen, count(*) FILTER (attempt_id IN (SELECT attempt_id FROM boundary)) AS timed"
        " FROM chosen"
    )
    if seen["timed"] < seen["chosen"]:
        diagnostics.note(f"attempts without a time, which the trace leaves out: {seen['chosen'] - seen['timed']}")
    return int(seen["timed"])


def _clocks(store: Store, selection: Selection) -> tuple[dict[int, Clock], int]:
    """The clocks of what was chosen, by pid, and how many events there are but for those of no attempt."""
    store.keep("drawn", _DRAWN, {"run": selection.run})
    store.keep("exported_clock", _CLOCKS, {"is_part": selection.is_part, "exact_ns": trace_json.EXACT_NS})
    relations: dict[int, list[str]] = {}
    for row in store.fetch(_RELATIONS):
        relations.setdefault(row["pid"], []).append(_relation(row))
    rows = store.fetch("FROM exported_clock ORDER BY pid")
    if not rows:
        raise EvidenceError(
            f"there is nothing to export: no attempt of {store.path} that has a time is of this selection",
            "`analyze sql 'FROM attempt'` lists them",
        )
    clocks = {
        row["pid"]: trace_json.Clock(
            row["pid"], row["run"], row["clock"], row["clock_kind"], row["origin_ns"],
            tuple(relations.get(row["pid"], ())),
        )
        for row in rows
    }  # fmt: skip
    return clocks, sum(row["events"] for row in rows)


def _relation(row: dict[str, Any]) -> str:
    if not row["offset_ns"] and not row["error_ns"]:
        return f"{row['clock_b']} = this ({row['relation']})"
    return f"{row['clock_b']} = this {row['offset_ns']:+} ns, give or take {row['error_ns']} ns"


def _counted(store: Store, clocks: dict[int, Clock]) -> Iterator[tuple[str, int]]:
    """Pieces of the trace, each with the number of rows that it and those before it show."""
    done = 0

    def rows() -> Iterator[list[tuple[Any, ...]]]:
        nonlocal done
        for batch in store.batches(_EVENTS):
            done += len(batch)
            yield batch

    for text in trace_json.document(clocks, rows()):
        yield text, done
