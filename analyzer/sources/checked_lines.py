"""Lines of a log as whole columns: what is read of each, the first check that one fails, and what is shown of those."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.base import Frame, Frames
from analyzer.sources.opening import SAMPLE_CHARACTERS
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import outline, refused
from analyzer.sources.request_rows import event_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines

NOT_JSON = "not valid JSON"
JSON_CHECKS = (("valid IS NULL", NOT_JSON), ("json_type(valid) <> 'OBJECT'", "not a JSON object"))
_TORN = "torn last line: the file ends inside it"
_WHOLE = ("UBIGINT", "BIGINT")
_LARGEST = 18
_LATEST = 4 * 10**18

Checks = tuple[tuple[str, str], ...]
"""Conditions over the columns of a line, each with the reason why a line of which it holds is refused."""


def json_fields(paths: Mapping[str, str], record: str = "valid") -> str:
    """A SELECT of what `input` has, of valid (its line as JSON), and of each path its text and `<name>_type`.

    `record` is an expression over `valid` that gives the object in which the paths begin.
    """
    listed = "[" + ", ".join(sql_text(path) for path in paths.values()) + "]"
    columns = ", ".join(
        f"texts[{place}] AS {name}, types[{place}] AS {name}_type" for place, name in enumerate(paths, 1)
    )
    return f"""
SELECT * EXCLUDE (texts, types, record), {columns}
FROM (
  SELECT *, json_extract_string(record, {listed}) AS texts, json_type(record, {listed}) AS types
  FROM (
    SELECT *, {record} AS record
    -- JSON functions fail on text that is none, and a condition beside them does not keep them from being tried.
    FROM (SELECT *, CASE WHEN json_valid(line) THEN line END AS valid FROM input)
  )
)"""


def count_checks(*names: str) -> Checks:
    """That each of these is a whole number that a column holds, where it is told at all."""
    listed = ", ".join(sql_text(kind) for kind in _WHOLE)
    return tuple(
        (
            f"{name}_type NOT IN ('NULL', {listed}) OR NOT regexp_full_match({name}, '[0-9]{{1,{_LARGEST}}}')",
            f"{name} is not a count",
        )
        for name in names
    )


def milliseconds(text: str) -> str:
    """A number of milliseconds as it is written, in whole nanoseconds; NULL where it is below 0 or no time."""
    # Bounds: a product that a decimal cannot hold, or a sum that a column cannot, would be an error and not NULL.
    found = f"TRY_CAST(TRY_CAST({text} AS DECIMAL(24, 9)) * 1000000 AS BIGINT)"
    return f"list_filter([{found}], lambda n: n BETWEEN 0 AND {_LATEST})[1]"


def told_checks(**names: str) -> Checks:
    """That each of these is told; the reason why it must be."""
    return tuple((f"{name} IS NULL", f"{name} is missing: {why}") for name, why in names.items())


def _shown(line: str) -> str:
    """Of JSON its form and numbers, of rows of numbers all, of anything else the size: what it says is never kept."""
    text = r""""(?:[^"\\]|\\.)*(?:"|$)"""
    form = f"""regexp_replace(left({line}, 1000), {sql_text(text)}, '"..."', 'g')"""
    word = r'[^\s{}\[\]:,"0-9.+-]+'
    bare = f"regexp_replace({form}, {sql_text(word)}, '...', 'g')"
    return (
        f"CASE WHEN left({line}, 1) IN ('{{', '[') THEN left({bare}, {SAMPLE_CHARACTERS})"
        f" WHEN regexp_full_match({line}, '[0-9TZ :.,;+-]*') THEN left({line}, {SAMPLE_CHARACTERS})"
        f" ELSE length({line}) || ' characters of text' END"
    )


def line_frames(
    block: Lines,
    rows: pa.Table,
    options: Options,
    *,
    fields: str,
    checks: Iterable[tuple[str, str]],
    requests: str,
    set_aside: int = 0,
    notes: tuple[str, ...] = (),
    tool: str | None = None,
) -> Frames:
    """One block of lines as frames: `rows` of it are read, `set_aside` more lines were not.

    `fields` is a SELECT over them (as `input`), `checks` are conditions over its columns with reasons, and `requests`
    a list of columns of request rows, for the lines of which none of the conditions holds.
    """
    reason = " ".join(f"WHEN {condition} THEN {sql_text(why)}" for condition, why in checks)
    checked = f"SELECT *, CASE {reason} END AS reason FROM ({fields})"
    kept = f"SELECT position, {requests} FROM ({checked}) WHERE reason IS NULL"
    torn = f"CASE WHEN position = {block.torn_position or 0} THEN {sql_text(_TORN)} ELSE reason END"
    bad = (
        f"SELECT {sql_text(options.label)} AS source_file, 'line ' || position AS position,"
        f" {torn} AS reason, {_shown('line')} AS sample FROM ({checked}) WHERE reason IS NOT NULL"
    )
    broken = [(f"line {position}", why, outline(raw)) for position, why, raw in block.broken]
    return Frames(
        (
            Frame("event", rows, event_rows(kept, options)),
            Frame("refused", rows, bad),
            *refused(options.label, broken),
        ),
        records=rows.num_rows + set_aside + len(broken),
        set_aside=set_aside,
        notes=notes,
        tool=tool,
        bytes_read=block.bytes_read,
    )
