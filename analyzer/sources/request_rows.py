"""Requests as load generators tell them, one row each, and the event rows that such rows stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.sources.base import Frame, Frames
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import refused
from analyzer.vocabulary import Boundary, ClockKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from analyzer.sources.base import Options

BOUNDARIES = tuple(Boundary)
# Messages of a stream that carry no content: their times are kept for the tools that count them.
EMPTY_KINDS = ("role", "finish", "usage", "empty")
_NAMED = {"request": "VARCHAR", "attempt": "INTEGER", "clock": "VARCHAR", "clock_kind": "VARCHAR", "side": "VARCHAR"}
FACTS = {
    "parent": "VARCHAR", "required": "BOOLEAN", "repeat": "BIGINT", "load_point": "VARCHAR", "phase": "VARCHAR",
    "tenant": "VARCHAR", "route": "VARCHAR", "region": "VARCHAR", "model": "VARCHAR", "revision": "VARCHAR",
    "worker": "VARCHAR", "trace_id": "VARCHAR", "response_id": "VARCHAR", "deadline_ms": "DOUBLE",
    "retry_of": "VARCHAR", "idempotency_key": "VARCHAR", "streamed": "BOOLEAN", "stop_reason": "VARCHAR",
    "status_code": "INTEGER", "error_type": "VARCHAR", "outcome": "VARCHAR", "correct": "BOOLEAN",
    "input_tokens": "BIGINT", "output_tokens": "BIGINT", "reasoning_tokens": "BIGINT", "cached_tokens": "BIGINT",
    "retokenized_input_tokens": "BIGINT", "retokenized_output_tokens": "BIGINT",
}  # fmt: skip
_TIMES = {f"{boundary}_ns": "BIGINT" for boundary in BOUNDARIES}
_CHUNKS = "STRUCT(time_ns BIGINT, kind VARCHAR, tokens BIGINT)[]"
COLUMNS = {"position": "BIGINT", **_NAMED, **FACTS, **_TIMES, "chunks": _CHUNKS}
"""Columns of a request row, all optional: times in ns of `clock`, chunks with the kind of what they carry."""

Chunk = tuple[int, str | None, int | None]


def event_rows(requests: str, options: Options) -> str:
    """A SELECT of rows of `event` from a SELECT of request rows (any of COLUMNS).

    Every boundary that has a time becomes a row, and every chunk; facts stand on the last boundary. A request without
    an id gets one from its file and position. The default is a client's first attempt by a wall clock of its name.
    """
    nothing = ", ".join(f"NULL::{kind} AS {name}" for name, kind in COLUMNS.items())
    boundaries = ", ".join(f"{{'event': '{name}', 'time_ns': {name}_ns}}" for name in BOUNDARIES)
    facts = ", ".join(f"CASE WHEN last THEN {name} END AS {name}" for name in FACTS)
    empty = ", ".join(sql_text(kind) for kind in EMPTY_KINDS)
    return f"""
WITH request_row AS (
  SELECT {nothing} WHERE false UNION ALL BY NAME SELECT * FROM ({requests})
), named AS (
  SELECT * REPLACE (
    coalesce(request, {sql_text(options.label + "#")} || position) AS request, coalesce(attempt, 1) AS attempt,
    coalesce(clock_kind, '{ClockKind.WALL}') AS clock_kind, coalesce(side, '{Side.CLIENT}') AS side),
    list_filter([{boundaries}], lambda b: b.time_ns IS NOT NULL) AS boundaries
  FROM request_row
), told AS (
  SELECT * EXCLUDE (boundaries), unnest(boundaries) AS b, generate_subscripts(boundaries, 1) = len(boundaries) AS last
  FROM named
), arrived AS (
  SELECT * EXCLUDE (chunks), unnest(chunks) AS c FROM named
)
SELECT {sql_text(options.run)} AS run, request, attempt, clock, clock_kind, side,
  b.event AS event, b.time_ns AS time_ns, {facts}, {sql_text(options.label)} AS source_file, position
FROM told
UNION ALL BY NAME
SELECT {sql_text(options.run)} AS run, request, attempt, clock, clock_kind, side,
  CASE WHEN c.kind IN ({empty}) THEN 'chunk' ELSE 'content' END AS event, c.time_ns AS time_ns, c.kind AS content_kind,
  c.tokens AS tokens, {sql_text(options.label)} AS source_file, position
FROM arrived"""


_ARROW = {"VARCHAR": "string", "INTEGER": "int32", "BIGINT": "int64", "DOUBLE": "float64", "BOOLEAN": "bool_"}


def _arrow(kind: str) -> pa.DataType:
    import pyarrow as pa

    if kind == _CHUNKS:
        return pa.list_(pa.struct([("time_ns", pa.int64()), ("kind", pa.string()), ("tokens", pa.int64())]))
    made: pa.DataType = getattr(pa, _ARROW[kind])()
    return made


class RequestRows:
    """Request rows under construction, and what was refused on the way; one piece of a file."""

    def __init__(self, options: Options, **same: Any) -> None:
        """`same` are columns that have this value in every row, such as clock and clock_kind."""
        self.options = options
        self.records = 0
        self._same = same
        self._rows: list[dict[str, Any]] = []
        self._refusals: list[tuple[str, str, str]] = []

    def __len__(self) -> int:
        return len(self._rows)

    def add(
        self, times: dict[str, int], facts: dict[str, Any], chunks: Sequence[Chunk] = (), position: int | None = None
    ) -> None:
        """One request: boundary -> ns, facts and names by column, chunks as (ns, kind, tokens)."""
        self.records += 1
        row = {**self._same, **facts, "position": position or self.records}
        row |= {f"{name}_ns": ns for name, ns in times.items()}
        row["chunks"] = [{"time_ns": ns, "kind": kind, "tokens": tokens} for ns, kind, tokens in chunks]
        self._rows.append(row)

    def refuse(self, where: str, reason: str, sample: str) -> None:
        """A record that cannot be taken; it counts as one."""
        self.records += 1
        self._refusals.append((where, reason, sample))

    def flush(self, *extra: Frame, notes: Iterable[str] = (), tool: str | None = None, bytes_read: int = 0) -> Frames:
        """What was gathered since the last flush, with these frames beside it."""
        import pyarrow as pa

        table = pa.table(
            {name: pa.array([row.get(name) for row in self._rows], _arrow(kind)) for name, kind in COLUMNS.items()}
        )
        rows = (Frame("event", table, event_rows("SELECT * FROM input", self.options)),) if self._rows else ()
        found = Frames(
            (*rows, *refused(self.options.label, self._refusals), *extra),
            len(self._rows) + len(self._refusals),
            notes=tuple(notes),
            tool=tool,
            bytes_read=bytes_read,
        )
        self._rows, self._refusals = [], []
        return found
