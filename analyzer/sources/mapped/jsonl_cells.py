"""JSON lines as cells of text: each object taken apart by the database, numbers as they are written."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.mapped.cells import Block, Opened, in_json, lacking
from analyzer.sources.mapped.values import words
from analyzer.sources.opening import lines
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import outline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.mapped.model import Mapping
    from analyzer.sources.opening import Lines

_LOOKED_AT = 1000
_MOST_KEYS = 5000
# A text, or a number outside of one. Put into quotes, a number comes back as it was written: the database would keep a
# fraction, or a whole number of 20 digits, as a double, which no nanosecond survives.
_TEXT_OR_NUMBER = r'"((?:[^"\\]|\\.)*)"|(-?[0-9][-+0-9.eE]*)'

Steps = tuple[str, ...]


def open_jsonl(path: Path, mapping: Mapping, options: Options) -> Opened:
    """A file of JSON lines under a mapping. SourceError when it holds none.

    UsageFault, at its end at the latest, when a column stands in none of its lines.
    """
    blocks = lines(path, options.max_line_bytes, rest=options.line_rest, begins_inside=options.begins_inside_line)
    first = next(blocks, None)
    if first is None:
        raise SourceError(f"{path} holds no line", "name a file that has some")
    known = keys(first.table)
    if not known and first.table.num_rows:
        raise SourceError(f"{path} does not begin with lines of JSON objects", "write one object a line, as jq -c does")
    ways = {name: steps(name, known) for name in mapping.needed}
    unseen = [name for name, must in mapping.needed.items() if must and ways[name] not in known]
    found = _looked_for(path, chain([first], blocks), unseen, known)
    return Opened((_block(block) for block in found), lambda block: _cells(ways, block.torn_position))


def keys(table: pa.Table) -> dict[Steps, Any]:
    """The keys of a block's first objects, and those of objects inside, by their path; each with its first value."""
    found: dict[Steps, Any] = {}
    for line in table["line"].slice(0, _LOOKED_AT).to_pylist():
        try:
            value = json.loads(line or "")
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and len(found) < _MOST_KEYS:
            _walk(value, (), found)
    return found


def _walk(value: dict[str, Any], above: Steps, found: dict[Steps, Any]) -> None:
    for key, inner in value.items():
        found.setdefault((*above, key), inner)
        if isinstance(inner, dict) and len(above) < 8:  # noqa: PLR2004 (deep enough for anything that is mapped)
            _walk(inner, (*above, key), found)


def steps(name: str, known: dict[Steps, Any]) -> Steps:
    """The way to a column: a key of this very name, else one step for each part between dots."""
    return (name,) if (name,) in known else tuple(name.split("."))


def _looked_for(path: Path, blocks: Iterator[Lines], unseen: list[str], known: dict[Steps, Any]) -> Iterator[Lines]:
    """The blocks as they are, while columns that the beginning lacks are looked for in them."""
    import pyarrow.compute as pc

    for block in blocks:
        texts = block.table["line"]
        unseen = [
            name
            for name in unseen
            if not any(
                pc.any(pc.match_substring(texts, written)).as_py()
                for key in {name, name.rpartition(".")[2]}
                for written in in_json(key)
            )
        ]
        yield block
    if unseen:
        raise lacking(path, unseen, (".".join(way) for way in known))


def _block(block: Lines) -> Block:
    broken = tuple((f"line {position}", reason, outline(raw)) for position, reason, raw in block.broken)
    return Block(block.table, block.bytes_read, broken, block.torn_position)


def _pointer(way: Steps) -> str:
    """A JSON pointer, which has no quoting to break out of but ~ and /."""
    return "".join("/" + key.replace("~", "~0").replace("/", "~1") for key in way)


def _cells(ways: dict[str, Steps], torn: int | None) -> str:
    """Position, fault, sample and cells of every line (`input`)."""
    pointers = ", ".join(sql_text(_pointer(way)) for way in ways.values())
    above = sorted({way[:-1] for way in ways.values()})
    doubled = " OR ".join(
        f"len({found}) <> len(list_distinct({found}))"
        for found in (f"json_keys(quoted, {sql_text(_pointer(way))})" if way else "json_keys(quoted)" for way in above)
    )
    nested = "\n    ".join(
        f"WHEN kinds[{place}] IN ('OBJECT', 'ARRAY') THEN"
        f" {sql_text(f'column {words(name)}: an object or a list, not a value')}"
        for place, name in enumerate(ways, 1)
    )
    cells = "".join(f", found[{place}] AS c{place - 1}" for place, _ in enumerate(ways, 1))
    return f"""WITH whole AS (
  -- JSON functions fail on text that is none, and a condition beside them does not keep them from being tried.
  SELECT position, line, CASE WHEN json_valid(line) THEN line END AS valid FROM input
), quoted AS (
  SELECT position, line, valid, CASE WHEN json_type(valid) = 'OBJECT'
    THEN regexp_replace(valid, {sql_text(_TEXT_OR_NUMBER)}, '"\\1\\2"', 'g') END AS quoted
  FROM whole
), taken AS (
  SELECT *, json_extract_string(quoted, [{pointers}]) AS found, json_type(quoted, [{pointers}]) AS kinds,
    {doubled} AS doubled
  FROM quoted
)
SELECT position, CASE
    WHEN valid IS NULL AND position = {torn or 0} THEN 'torn last line: the file ends inside it'
    WHEN valid IS NULL THEN 'not valid JSON'
    WHEN quoted IS NULL THEN 'not a JSON object'
    WHEN doubled THEN 'a key stands twice'
    {nested}
  END AS fault, length(line) || ' characters of text' AS sample{cells}
FROM taken"""
