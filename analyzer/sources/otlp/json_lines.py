"""OTLP/JSON by lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.base import MEGABYTE, Frames
from analyzer.sources.opening import lines
from analyzer.sources.otlp.json_files import text_into
from analyzer.sources.otlp.line_columns import LineColumns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines
    from analyzer.sources.span_rows import SpanRows

# Bytes of lines for which it takes longer to plan their reading as columns than to read them.
WORTH_COLUMNS = 1 * MEGABYTE


def lines_into(path: Path, options: Options, rows: SpanRows) -> Iterator[Frames]:
    """Take the documents of every line; pieces that are full."""
    if options.begins_inside_line:
        rows.note("its first line is the rest of the last line of the file before, and was read with that one")
    columns = LineColumns(options, rows) if LineColumns.suit(options) else None
    blocks = lines(path, options.max_line_bytes, rest=options.line_rest, begins_inside=options.begins_inside_line)
    for block in blocks:
        if columns is not None and block.table.nbytes >= WORTH_COLUMNS:
            yield Frames((columns.of(block),), bytes_read=block.bytes_read)
        else:
            yield from _by_record(block, rows)
        for position, reason, start in block.broken:
            rows.refuse(f"line {position}", reason, start)
        yield from rows.flush_full(block.bytes_read)
    if options.line_rest:
        rows.note("its last line goes on in the next file, and was read with its rest")


def _by_record(block: Lines, rows: SpanRows) -> Iterator[Frames]:
    columns = (block.table[name].to_pylist() for name in ("position", "line"))
    for position, line in zip(*columns, strict=True):
        torn = position == block.torn_position
        for _ in text_into(line, position, f"line {position}", rows, torn=torn):
            yield from rows.flush_full(block.bytes_read)
