"""Foreign files as columns of text, some megabytes at a time: what their readers have in common."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING

from analyzer.errors import SourceError, UsageFault
from analyzer.sources.base import HEAD_BYTES
from analyzer.sources.mapped.values import words
from analyzer.sources.opening import head

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.mapped.casting import Stored

CSV, JSONL, PARQUET = "csv", "jsonl", "parquet"
_LISTED = 12


@dataclass(frozen=True, slots=True)
class Block:
    """Rows of a file, with their `position`; `broken` are records that could not be split into cells."""

    table: pa.Table
    bytes_read: int
    broken: tuple[tuple[str, str, str], ...] = ()
    torn_position: int | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A file under a mapping: its blocks, the cells of each in SQL over `input`, and the word for a position."""

    blocks: Iterator[Block]
    cells: Callable[[Block], str]
    place: str = "line"
    stored: Mapping[str, Stored] = field(default_factory=dict)


def told_format(path: Path) -> str:
    """Which of the three a file is, from its first bytes. SourceError when it is none."""
    start = head(path, HEAD_BYTES)
    if start.startswith(b"PAR1"):
        return PARQUET
    text = start.lstrip()
    if not text:
        raise SourceError(f"{path} holds no record", "name a file that has some")
    if text.startswith(b"["):
        raise SourceError(f"{path} is one JSON list", "write one object a line: jq -c '.[]' FILE > LINES.jsonl")
    if text.startswith(b"{"):
        return JSONL
    if b"\x00" in text:
        raise SourceError(f"{path} is neither CSV nor JSONL nor Parquet", "turn it into one of them")
    return CSV


def lacking(path: Path, named: Iterable[str], known: Iterable[str], hint: str = "") -> UsageFault:
    """That a file has no such columns, each with the nearest that it has."""
    has = list(dict.fromkeys(known))
    said = []
    for name in named:
        near = get_close_matches(name, has, 1)
        said.append(f"{path} has no column {words(name)}" + (f"; did you mean {words(near[0])}?" if near else ""))
    listed = ", ".join(words(name) for name in has[:_LISTED]) + (" ..." if len(has) > _LISTED else "")
    return UsageFault("; ".join(said), hint or f"it has {listed or 'none'}")


def plain_cells(count: int) -> str:
    """A SELECT of rows that are cells already."""
    columns = "".join(f", c{place}" for place in range(count))
    return f"SELECT position, NULL::VARCHAR AS fault, NULL::VARCHAR AS sample{columns} FROM input"


def in_json(name: str) -> tuple[str, ...]:
    """The ways in which JSON may write a name."""
    return tuple({json.dumps(name), json.dumps(name, ensure_ascii=False)})
