"""Lines of AIPerf's exports as whole columns: what both files say of a request, and what is said of the file."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import Columns, Frames
from analyzer.sources.endings import status_sql
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import outline, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from analyzer.sources.aiperf.beside import Beside
    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines

CLOCK = "aiperf"
KNOWN_VERSIONS = ("0.13.0",)
# Times up to here, and spans of time up to there, can be added without leaving 64 bits.
MOST_NS, LONGEST_NS = 8 * 10**18, 10**15
_AGENT = re.compile(rb'"User-Agent":\s*"aiperf/([^"]{1,40})"')
# The metadata object, which may hold objects itself, and the key that follows it.
_BEGINNING = re.compile(rb'\s*\{\s*"metadata"\s*:\s*\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*,\s*"(\w+)"')

METADATA = dict.fromkeys(
    (
        "x_request_id", "request_start_ns", "timestamp_ns", "request_end_ns", "credit_issued_ns", "turn_index",
        "benchmark_phase", "credit_phase", "phase_name", "phase_kind",
    ),
    "VARCHAR",
) | {"was_cancelled": "BOOLEAN"}  # fmt: skip
_TIMES = ("request_start_ns", "timestamp_ns", "request_end_ns", "credit_issued_ns")

GIVEN_UP_TYPES = ("RequestCancellationError", "RequestSendTimeout")
"""Errors under which AIPerf makes a new record when it gives a request up, and stamps that with the time of then."""
GIVEN_UP = f"(was_cancelled OR error_type IN {GIVEN_UP_TYPES})"
STAMPED_LATE = f"{GIVEN_UP} AND end_ns > start_ns AND credit_ns <= start_ns - (end_ns - start_ns)"
"""Whether the start is of the moment of giving up: the credit for the send was there before all of the waiting."""

OUTCOME = f"""CASE
    WHEN NOT failed AND NOT was_cancelled THEN 'ok'
    WHEN was_cancelled OR error_type = 'RequestCancellationError' THEN 'cancelled'
    WHEN code BETWEEN 400 AND 599 THEN {status_sql("code")}
    WHEN contains(lower(error_type), 'timeout') THEN 'timeout'
    WHEN error_type IN ('ClientPayloadError', 'IncompleteReadError', 'IncompleteRead') THEN 'truncated'
    WHEN contains(error_said, 'without sending complete message') THEN 'truncated'
    ELSE 'error' END"""


# What cannot be added to is not added to, even where the line is refused for it in the end.
NAMED = ", ".join(f"CASE WHEN reason IS NULL THEN {name} END AS {name}" for name in ("start_ns", "end_ns", "credit_ns"))
NAMED += ", request, phase_name, phase_kind, was_cancelled, failed, error_type, error_said, code"
"""Columns of `request_line` that are staged, with `reason` beside them."""


def first_key(head: bytes) -> str | None:
    """The key after the metadata in the first line of an export; None where that is no export of AIPerf."""
    found = _BEGINNING.match(head)
    if found is None or b'"record_processor_id"' not in found.group(1):
        return None
    return found.group(2).decode()


def version(head: bytes, beside: Beside) -> str | None:
    """AIPerf's version: the summary beside the file names it, or a request's own header."""
    found = _AGENT.search(head)
    return beside.version or (found.group(1).decode("utf-8", "replace") if found else None)


def whole(text: str) -> str:
    """A count of nanoseconds from its digits; NULL where it is none, and for 0, which stands for never."""
    return f"CASE WHEN regexp_full_match({text}, '[0-9]{{1,19}}') THEN nullif(TRY_CAST({text} AS BIGINT), 0) END"


def is_strange(text: str) -> str:
    """Whether a field that should be a count of nanoseconds is given and is none."""
    return f"{text} IS NOT NULL AND {text} <> '0' AND {whole(text)} IS NULL"


def read(structure: Mapping[str, Any]) -> str:
    """CTEs up to `request_line`: a line each, with the fields that both exports share and `f`, all of `structure`."""
    metadata = {name: f"f.metadata.{name}" for name in METADATA}
    return f"""line_read AS (
  -- JSON functions fail on text that is none, and a condition beside them does not keep them from being tried.
  SELECT position, line, CASE WHEN json_valid(line) THEN line END AS valid FROM input WHERE line IS NOT NULL
), line_row AS (
  SELECT position, line, json_type(valid) AS shape, CASE WHEN json_type(valid) = 'OBJECT'
    THEN from_json(valid, {sql_text(json.dumps({"metadata": METADATA, "error": "JSON", **structure}))}) END AS f
  FROM line_read
), request_line AS (
  SELECT position, line, shape, f,
    nullif({metadata["x_request_id"]}, '') AS request,
    coalesce({whole(metadata["request_start_ns"])}, {whole(metadata["timestamp_ns"])}) AS start_ns,
    {whole(metadata["request_end_ns"])} AS end_ns, {whole(metadata["credit_issued_ns"])} AS credit_ns,
    coalesce(f.metadata.phase_name, f.metadata.benchmark_phase, f.metadata.credit_phase) AS phase_name,
    coalesce(f.metadata.phase_kind, f.metadata.benchmark_phase, f.metadata.credit_phase) AS phase_kind,
    coalesce(f.metadata.was_cancelled, false) AS was_cancelled,
    coalesce(json_type(f.error), 'NULL') <> 'NULL' AS failed,
    json_extract_string(f.error, '$.type') AS error_type, json_extract_string(f.error, '$.message') AS error_said,
    TRY_CAST(json_extract_string(f.error, '$.code') AS INTEGER) AS code
  FROM line_row
)"""


def reasons(more: tuple[tuple[str, str], ...] = ()) -> str:
    """Why a line is refused, as an SQL expression; the first that holds counts."""
    checks = (
        ("shape IS NULL", "not valid JSON"),
        ("shape <> 'OBJECT'", "not a JSON object"),
        ("f.metadata IS NULL", "metadata is missing"),
        *((is_strange(f"f.metadata.{name}"), f"{name} is not a count of nanoseconds") for name in _TIMES),
        ("start_ns IS NULL", "no time at which the request started"),
        (f"greatest(start_ns, end_ns, credit_ns) > {MOST_NS}", "a time is out of range"),
        *more,
    )
    return "CASE " + " ".join(f"WHEN {condition} THEN {sql_text(why)}" for condition, why in checks) + " END"


def facts(beside: Beside) -> str:
    """Columns of a request row that both files and the settings beside them tell alike."""
    points = " ".join(f"WHEN {sql_text(name)} THEN {sql_text(point)}" for name, point in beside.points.items())
    point = f"CASE phase_name {points} END" if points else "CASE WHEN phase_name <> phase_kind THEN phase_name END"
    scheduled = ", ".join(sql_text(name) for name in sorted(beside.scheduled)) or "NULL"
    return f"""position, request, '{CLOCK}' AS clock, {point} AS load_point,
    CASE WHEN phase_kind = 'warmup' THEN 'warmup' END AS phase, {OUTCOME} AS outcome,
    CASE WHEN failed THEN CASE WHEN regexp_full_match(error_type, '[A-Za-z][A-Za-z0-9_ .-]{{0,59}}') THEN error_type
      ELSE 'unknown' END END AS error_type,
    -- Later turns of a conversation wait for the answer to the one before.
    CASE WHEN phase_name IN ({scheduled}) AND coalesce(turn_index, '0') = '0' AND credit_ns <= sent_ns
      THEN credit_ns END AS scheduled_ns"""


class Tally:
    """What became of the lines of a file: columns on their way, what was refused of them, and what is to be said."""

    def __init__(self, options: Options, sentences: Mapping[str, str]) -> None:
        """`sentences` has one for each count that a column gives; {n} stands for it."""
        self._options, self._sentences = options, sentences
        self._counts: Counter[str] = Counter()
        self._records = 0
        self._refusals: list[tuple[str, str, str]] = []

    def frames(self, block: Lines, rows: pa.Table, stage: str, select: str) -> Frames:
        """A block's lines: `stage` reads `rows`, `select` makes event rows of what is read."""

        def take(counts: dict[str, int], left: pa.Table) -> None:
            self._counts.update(counts)
            self._take(block, left)

        counts = ", ".join(f"count(*) FILTER (reason IS NULL AND {name}) AS {name}" for name in self._sentences)
        columns = Columns(
            "event",
            rows,
            stage,
            "SELECT 1 AS nothing",
            lambda shapes: shapes,
            select,
            f"SELECT {counts} FROM staged",
            "SELECT position, reason, start FROM staged WHERE reason IS NOT NULL ORDER BY position",
            take,
        )
        self._records += block.table.num_rows + len(block.broken)
        self._refusals += [(f"line {place}", reason, outline(raw)) for place, reason, raw in block.broken]
        return Frames((columns,), bytes_read=block.bytes_read)

    def _take(self, block: Lines, left: pa.Table) -> None:
        for row in left.to_pylist():
            torn = row["position"] == block.torn_position and row["reason"] == "not valid JSON"
            reason = "torn last line: the file ends inside it" if torn else row["reason"]
            self._refusals.append((f"line {row['position']}", reason, outline(row["start"])))

    def flush(self) -> Frames:
        """What was counted and refused since the last flush."""
        notes = tuple(
            sentence.format(n=self._counts[name]) for name, sentence in self._sentences.items() if self._counts[name]
        )
        found = Frames(refused(self._options.label, self._refusals), self._records, notes=notes)
        self._counts, self._records, self._refusals = Counter(), 0, []
        return found


def said_of_version(told: str | None) -> tuple[str, ...]:
    """A note where the version is one whose files were not seen."""
    if told is None or told in KNOWN_VERSIONS:
        return ()
    return (f"AIPerf {told} is not among the versions whose files were checked ({', '.join(KNOWN_VERSIONS)})",)
