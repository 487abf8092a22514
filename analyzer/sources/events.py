"""The request event log: JSONL, one event a line (docs/event-log.md)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.sources.base import Frame, Frames
from analyzer.sources.opening import lines
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import refused, shown
from analyzer.sources.request_rows import EMPTY_KINDS
from analyzer.vocabulary import Boundary, ClockKind, Control, Outcome, Phase, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines

# Field of a line -> the column type it fills; its JSON type follows from that.
_FIELDS = {
    "request": "VARCHAR", "event": "VARCHAR", "ns": "TIME", "ms": "DECIMAL(38, 9)", "s": "DECIMAL(38, 9)",
    "clock": "VARCHAR", "clock_kind": "VARCHAR", "side": "VARCHAR", "attempt": "INTEGER", "parent": "VARCHAR",
    "required": "BOOLEAN", "kind": "VARCHAR", "tokens": "BIGINT", "run": "VARCHAR", "repeat": "BIGINT",
    "load_point": "VARCHAR", "phase": "VARCHAR", "tenant": "VARCHAR", "route": "VARCHAR", "region": "VARCHAR",
    "model": "VARCHAR", "revision": "VARCHAR", "worker": "VARCHAR", "trace_id": "VARCHAR", "response_id": "VARCHAR",
    "deadline_ms": "DOUBLE", "retry_of": "VARCHAR", "idempotency_key": "VARCHAR", "streamed": "BOOLEAN",
    "stop_reason": "VARCHAR", "status_code": "INTEGER", "error_type": "VARCHAR", "outcome": "VARCHAR",
    "correct": "BOOLEAN", "input_tokens": "BIGINT", "output_tokens": "BIGINT", "reasoning_tokens": "BIGINT",
    "cached_tokens": "BIGINT", "retokenized_input_tokens": "BIGINT", "retokenized_output_tokens": "BIGINT",
    "name": "VARCHAR", "value": "DOUBLE",
}  # fmt: skip
_TIMES = ("ns", "ms", "s")
_NOT_COLUMNS = {*_TIMES, "kind", "run"}
_JSON_TYPES = {
    "VARCHAR": ("text", "'VARCHAR'"),
    "BOOLEAN": ("true or false", "'BOOLEAN'"),
    "INTEGER": ("a whole number", "'UBIGINT', 'BIGINT'"),
    "BIGINT": ("a whole number", "'UBIGINT', 'BIGINT'"),
    "DOUBLE": ("a number", "'UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT'"),
    "DECIMAL(38, 9)": ("a number", "'UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT'"),
    "TIME": ("a whole number, or one as text", "'UBIGINT', 'BIGINT', 'VARCHAR'"),
}
_WORDS = {
    "event": (*Boundary, *Control, "content", "chunk", "gauge"),
    "side": tuple(Side),
    "clock_kind": tuple(ClockKind),
    "kind": ("text", "reasoning", "tool", *EMPTY_KINDS),
    "phase": tuple(Phase),
    "outcome": tuple(Outcome),
}
_COUNTS = (
    "tokens",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "cached_tokens",
    "repeat",
    "retokenized_input_tokens",
    "retokenized_output_tokens",
)


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f"'{word}'" for word in words)


def _text(field: str) -> str:
    return f"json_extract_string(f.{field}, '$')"


def _digits(field: str) -> str:
    """A number as it is written: the database keeps a fraction as a double, which no nanosecond survives.

    What looks like the field deeper in the line is told apart by its value.
    """
    written = f"regexp_extract_all(valid, '\"{field}\"\\s*:\\s*([0-9][0-9.eE+-]*)', 1)"
    same = f"lambda t: TRY_CAST(t AS DOUBLE) = TRY_CAST({_text(field)} AS DOUBLE)"
    return f"CASE WHEN {_text(field)} IS NOT NULL THEN coalesce(list_filter({written}, {same})[1], {_text(field)}) END"


def _scaled(field: str, factor: int) -> str:
    return f"round(TRY_CAST({_digits(field)} AS DECIMAL(38, 9)) * {factor})"


def _value(field: str, kind: str) -> str:
    return _text(field) if kind == "VARCHAR" else f"TRY_CAST({_text(field)} AS {'BIGINT' if kind == 'TIME' else kind})"


_STRANGE = f"list_filter(keys, lambda k: NOT (starts_with(k, 'x_') OR k IN ({_listed(tuple(_FIELDS))})))"


def _checks() -> list[tuple[str, str]]:
    """Conditions under which a line is refused, with the reason as an SQL expression; the first that holds counts."""
    checks = [
        ("valid IS NULL", "'not valid JSON'"),
        ("json_type(valid) <> 'OBJECT'", "'not a JSON object'"),
        (f"len({_STRANGE}) > 0", f"'unknown field ' || {_STRANGE}[1]"),
        ("len(keys) <> len(list_distinct(keys))", "'a field stands twice'"),
    ]
    for field, kind in _FIELDS.items():
        wanted, types = _JSON_TYPES[kind]
        checks.append((f"json_type(f.{field}) NOT IN ({types}, 'NULL')", f"'{field} must be {wanted}'"))
        if kind == "VARCHAR":
            checks.append((f"{_text(field)} = ''", f"'{field} is empty'"))
        elif field not in _TIMES:
            checks.append(
                (f"{_text(field)} IS NOT NULL AND {_value(field, kind)} IS NULL", f"'{field} is out of range'")
            )
    checks += [(f"{_text(field)} IS NULL", f"'{field} is missing'") for field in ("event", "clock", "side")]
    checks += [
        (
            f"{_text(field)} NOT IN ({_listed(words)})",
            f"'{field} ' || left({_text(field)}, 40) || ' is none of {', '.join(words)}'",
        )
        for field, words in _WORDS.items()
    ]
    checks += [
        (
            f"{_text('request')} IS NULL AND {_text('event')} NOT IN ({_listed((*Control, 'gauge'))})",
            "'request is missing'",
        ),
        (
            " + ".join(f"({_text(t)} IS NOT NULL)::INT" for t in _TIMES) + " <> 1",
            "'wants exactly one of ns, ms, s'",
        ),
        (f"NOT regexp_full_match({_text('ns')}, '[0-9]{{1,19}}')", "'ns is not a count of nanoseconds'"),
        ("time_ns IS NULL OR time_ns < 0", "'the time is out of range'"),
        (
            f"{_text('event')} = 'gauge' AND ({_text('name')} IS NULL OR {_text('value')} IS NULL)",
            "'a gauge wants name and value'",
        ),
        (f"NOT isfinite({_value('value', 'DOUBLE')})", "'value is out of range'"),
        (f"{_value('attempt', 'INTEGER')} < 1", "'attempt counts from 1'"),
        (f"{_value('status_code', 'INTEGER')} NOT BETWEEN 100 AND 599", "'status_code is none of HTTP'"),
        (f"NOT isfinite({_value('deadline_ms', 'DOUBLE')})", "'deadline_ms is out of range'"),
        (f"{_value('deadline_ms', 'DOUBLE')} <= 0", "'deadline_ms must be above 0'"),
    ]
    checks += [(f"{_value(field, _FIELDS[field])} < 0", f"'{field} is negative'") for field in _COUNTS]
    return checks


_PARSED = f"""
WITH checked_line AS (
  -- JSON functions fail on text that is none, and a condition beside them does not keep them from being tried.
  SELECT position, line, CASE WHEN json_valid(line) THEN line END AS valid FROM input
), line_row AS (
  SELECT position, line, valid,
    CASE WHEN json_type(valid) = 'OBJECT' THEN json_keys(valid) END AS keys,
    CASE WHEN json_type(valid) = 'OBJECT'
      THEN from_json(valid, '{json.dumps(dict.fromkeys(_FIELDS, "JSON"))}') END AS f
  FROM checked_line
), timed AS (
  SELECT *, TRY_CAST(coalesce({_value("ns", "TIME")}::DECIMAL(38, 9),
    {_scaled("ms", 10**6)}, {_scaled("s", 10**9)}) AS BIGINT) AS time_ns
  FROM line_row
), checked AS (
  SELECT *, CASE
    {chr(10).join(f"WHEN {condition} THEN {reason}" for condition, reason in _checks())}
  END AS reason
  FROM timed
)
"""

_COLUMNS = ",\n  ".join(
    f"coalesce({_value(field, kind)}, 1) AS attempt"
    if field == "attempt"
    else f"coalesce({_value(field, kind)}, 'wall') AS clock_kind"
    if field == "clock_kind"
    else f"lower({_value(field, kind)}) AS trace_id"
    if field == "trace_id"
    else f"{_value(field, kind)} AS {field}"
    for field, kind in _FIELDS.items()
    if field not in _NOT_COLUMNS
)


def _kept(options: Options) -> str:
    run = sql_text(options.run) if options.run_forced else f"coalesce({_text('run')}, {sql_text(options.run_default)})"
    return (
        f"{_PARSED} SELECT {run} AS run, time_ns, {_text('kind')} AS content_kind,\n  {_COLUMNS},\n"
        f"  {sql_text(options.label)} AS source_file, position\nFROM checked WHERE reason IS NULL"
    )


def _refused(options: Options, torn: int | None) -> str:
    tail = (
        f"CASE WHEN position = {torn} AND reason = 'not valid JSON'"
        " THEN 'torn last line: the file ends inside it' ELSE reason END"
    )
    return (
        f"{_PARSED} SELECT {sql_text(options.label)} AS source_file, 'line ' || position AS position,\n"
        f"  {tail if torn else 'reason'} AS reason, left(line, 120) AS sample\nFROM checked WHERE reason IS NOT NULL"
    )


class _Events:
    name = "events"
    joins_lines = True

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line that is an object with an event, a clock and a side."""
        first = head.lstrip().split(b"\n", 1)[0]
        try:
            line = json.loads(first)
        except (ValueError, RecursionError):
            return False
        return isinstance(line, dict) and {"event", "clock", "side"} <= line.keys()

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, one a line; times in ns of the line's clock."""
        for block in lines(
            path, options.max_line_bytes, rest=options.line_rest, begins_inside=options.begins_inside_line
        ):
            yield self._frames(block, options)

    def _frames(self, block: Lines, options: Options) -> Frames:
        broken = [(f"line {position}", reason, shown(raw)) for position, reason, raw in block.broken]
        return Frames(
            frames=(
                Frame("event", block.table, _kept(options)),
                Frame("refused", block.table, _refused(options, block.torn_position)),
                *refused(options.label, broken),
            ),
            records=block.table.num_rows + len(broken),
            bytes_read=block.bytes_read,
        )


SOURCE = _Events()
