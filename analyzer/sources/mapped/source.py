"""Any CSV, JSONL or Parquet file, read through a mapping of its columns (docs/mapping.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.base import Frame, Frames
from analyzer.sources.mapped.casting import Casting
from analyzer.sources.mapped.cells import CSV, JSONL, told_format
from analyzer.sources.mapped.csv_cells import open_csv
from analyzer.sources.mapped.jsonl_cells import open_jsonl
from analyzer.sources.mapped.parquet_cells import open_parquet
from analyzer.sources.refusing import refused
from analyzer.sources.request_rows import event_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.mapped.cells import Block, Opened
    from analyzer.sources.mapped.model import Mapping


class Mapped:
    """The source that one mapping makes of foreign files."""

    name = "mapped"
    joins_lines = True

    def __init__(self, mapping: Mapping) -> None:
        self._mapping = mapping

    @property
    def reading(self) -> str:
        """What besides a file's own bytes decides what it gives."""
        return f"mapped by sha256 {self._mapping.digest}"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (no file can be told from others by its content)
        """Never: nothing is read through a mapping unless it is said."""
        return False

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, one request a row of the file.

        UsageFault when mapping and file do not fit each other, SourceError when the file is none of the three.
        """
        if self._mapping.tool:
            yield Frames(tool=self._mapping.tool)
        opened = _opened(path, self._mapping, options)
        casting = Casting(self._mapping, list(self._mapping.needed), opened.stored)
        for block in opened.blocks:
            yield _frames(block, opened, casting, options)


def _opened(path: Path, mapping: Mapping, options: Options) -> Opened:
    form = mapping.format or told_format(path)
    if form == CSV:
        return open_csv(path, mapping, options)
    return open_jsonl(path, mapping, options) if form == JSONL else open_parquet(path, mapping)


def _frames(block: Block, opened: Opened, casting: Casting, options: Options) -> Frames:
    cells = opened.cells(block)
    return Frames(
        frames=(
            Frame("event", block.table, event_rows(casting.kept(cells), options)),
            Frame("refused", block.table, casting.refused(cells, options.label, opened.place)),
            *refused(options.label, block.broken),
        ),
        records=block.table.num_rows + len(block.broken),
        bytes_read=block.bytes_read,
    )
