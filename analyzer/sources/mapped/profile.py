"""What the first records of a foreign file show of its columns: their kinds of values, and how large those are."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.base import Options
from analyzer.sources.mapped.cells import CSV, JSONL, PARQUET, told_format
from analyzer.sources.mapped.csv_cells import first_rows
from analyzer.sources.mapped.parquet_cells import as_text, leaves, opened
from analyzer.sources.opening import lines

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

RECORDS = 2000
_DELIMITERS = (",", ";", "\t", "|")
_WHOLE = re.compile(r"[+-]?[0-9]{1,60}")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_ISO = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)? ?(Z|z|UTC|GMT|[+-][0-9:]{2,5})?"
)
_WORD = re.compile(r"[\w.:/ -]{1,40}")
_MOST_WORDS = 20

WHOLE, DECIMAL, ISO_TIMES, BOOLEAN, WORD, TEXT, NESTED, NOTHING = (
    "whole numbers", "decimals", "ISO times", "true or false", "words", "text", "objects or lists", "nothing",
)  # fmt: skip


@dataclass(slots=True)
class Profile:
    """A column as the first records show it. `stored` is the unit of times or durations that the file itself types."""

    name: str
    texts: list[str] = field(default_factory=list)
    nested: bool = False
    stored: str | None = None

    @property
    def kind(self) -> str:
        """The narrowest kind that all values are of."""
        if self.nested:
            return NESTED
        if not self.texts:
            return NOTHING
        for kind, pattern in ((WHOLE, _WHOLE), (DECIMAL, _NUMBER), (ISO_TIMES, _ISO)):
            if all(pattern.fullmatch(text) for text in self.texts):
                return kind
        if all(text.lower() in ("true", "false") for text in self.texts):
            return BOOLEAN
        short = all(_WORD.fullmatch(text) for text in self.texts)
        return WORD if short and len(self.words) <= _MOST_WORDS else TEXT

    @property
    def words(self) -> list[str]:
        """The different values, in the order in which they come."""
        return list(dict.fromkeys(self.texts))

    @property
    def numbers(self) -> list[Decimal]:
        """The values as numbers; none where they are no numbers."""
        return [Decimal(text) for text in self.texts] if self.kind in (WHOLE, DECIMAL) else []

    @property
    def zoned(self) -> bool:
        """Whether every ISO time names its zone."""
        return all((found := _ISO.fullmatch(text)) and found[1] for text in self.texts)


@dataclass(frozen=True, slots=True)
class Looked:
    """The columns of a file by its first `records`, and how it is to be read."""

    columns: list[Profile]
    records: int
    format: str
    delimiter: str = ","


def look(path: Path) -> Looked:
    """The columns of a CSV, JSONL or Parquet file. SourceError when it is none of these, or holds no record."""
    form = told_format(path)
    found = _csv(path) if form == CSV else _jsonl(path) if form == JSONL else _parquet(path)
    if not found.records or not found.columns:
        raise SourceError(f"{path} holds no record", "name a file that has some")
    return found


def _csv(path: Path) -> Looked:
    limit = Options("").max_line_bytes
    best: Looked | None = None
    for delimiter in _DELIMITERS:
        names, rows = first_rows(path, delimiter, limit, RECORDS)
        whole = [row for row in rows if len(row) == len(names)]
        columns = [Profile(name, [row[n].strip() for row in whole if row[n].strip()]) for n, name in enumerate(names)]
        if best is None or (len(names) > 1 and len(whole) == len(rows) and len(best.columns) == 1):
            best = Looked(columns, len(whole), CSV, delimiter)
    assert best is not None  # noqa: S101 (there is always a first delimiter)
    return best


def _jsonl(path: Path) -> Looked:
    columns: dict[str, Profile] = {}
    records = 0
    block = next(lines(path), None)
    texts: Iterable[str | None] = block.table["line"].slice(0, RECORDS).to_pylist() if block else ()
    for text in texts:
        try:
            value = json.loads(text or "", parse_int=str, parse_float=str)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            records += 1
            _take(value, "", columns)
    return Looked(list(columns.values()), records, JSONL)


def _take(value: dict[str, Any], above: str, columns: dict[str, Profile]) -> None:
    for key, inner in value.items():
        name = f"{above}{key}"
        if isinstance(inner, dict) and inner and above.count(".") < 8:  # noqa: PLR2004 (deep enough to be mapped)
            _take(inner, f"{name}.", columns)
            continue
        column = columns.setdefault(name, Profile(name))
        if isinstance(inner, (dict, list)):
            column.nested = column.nested or bool(inner)
        elif isinstance(inner, bool):
            column.texts.append(str(inner).lower())
        elif inner is not None and str(inner).strip():
            column.texts.append(str(inner).strip())


def _parquet(path: Path) -> Looked:
    import pyarrow as pa
    import pyarrow.compute as pc

    with opened(path) as file:
        batch = next(file.iter_batches(batch_size=RECORDS), None)
        ways = list(leaves(file.schema_arrow))
    if batch is None:
        return Looked([], 0, PARQUET)
    columns = []
    for way in ways:
        found = batch.column(way[0])
        for key in way[1:]:
            found = pc.struct_field(found, key)
        kind = found.type
        nested = bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))
        timed = pa.types.is_timestamp(kind) or pa.types.is_duration(kind)
        texts = [] if nested else [text.strip() for text in as_text(found).to_pylist() if text and text.strip()]
        stored = (
            ("" if pa.types.is_duration(kind) else "zoned " if kind.tz else "naive ") + kind.unit if timed else None
        )
        columns.append(Profile(".".join(way), texts, nested, stored))
    return Looked(columns, batch.num_rows, PARQUET)
