"""CSV by its rules: quotes, quoted ends of line, doubled quotes; every cell stays text."""

from __future__ import annotations

import csv
import io
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TextIO

from analyzer.errors import SourceError, UsageFault
from analyzer.sources.mapped.cells import Block, Opened, lacking, plain_cells
from analyzer.sources.mapped.values import words
from analyzer.sources.opening import in_pieces, open_counted, too_long
from analyzer.sources.refusing import outline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.mapped.model import Mapping

_AT_ONCE = 16 * 1024 * 1024

Record = tuple[int, list[str] | str]


class _Lines:
    """Lines of a text one by one, how many there were and how long; one that is too long is given as an empty one."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self.count = self.characters = 0
        self.whole = True
        self.too_long: list[int] = []
        self._stream, self._limit = stream, limit

    def __iter__(self) -> Iterator[str]:
        while line := self._stream.readline(self._limit + 1):
            self.count += 1
            self.characters += len(line)
            self.whole = line.endswith(("\n", "\r"))
            if self.whole or len(line) <= self._limit:
                yield line
                continue
            while rest := self._stream.readline(self._limit):
                if rest.endswith(("\n", "\r")):
                    break
            self.too_long.append(self.count)
            yield "\n"


def _records(lines: _Lines, delimiter: str) -> Iterator[Record]:
    """First line and cells of each record, or why it is none."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as fault:
            yield first, _said(str(fault), first, reader.line_num)
        else:
            if row:
                yield first, row


def _said(fault: str, first: int, last: int) -> str:
    """The reader's complaint in words of ours; what follows an open quote is part of one record up to there."""
    if "unexpected end of data" in fault:
        said = "torn: the file ends inside a quoted cell"
    elif "field larger" in fault:
        said = "a cell is longer than the limit for one line"
    else:
        said = "a quote does not stand where it may"
    return said if last <= first else f"{said} (read as one record up to line {last})"


def header(path: Path, delimiter: str, limit: int) -> list[str]:
    """The names of the columns. SourceError when the first record is none."""
    stream, _ = open_counted(path)
    with stream, _text(stream) as text:
        _, names = next(_records(_Lines(text, limit), delimiter), (0, "it is empty"))
    if isinstance(names, str):
        raise SourceError(f"{path} has no line of column names: {names}", "write the names into the first line")
    return names


def first_rows(path: Path, delimiter: str, limit: int, most: int) -> tuple[list[str], list[list[str]]]:
    """The names of the columns and the first rows, those that can be split into cells. SourceError as header does."""
    csv.field_size_limit(limit)
    names = header(path, delimiter, limit)
    stream, _ = open_counted(path)
    with stream, _text(stream) as text:
        records = islice(_records(_Lines(text, limit), delimiter), 1, most + 1)
        return names, [row for _, row in records if isinstance(row, list)]


def _text(stream: Any) -> io.TextIOWrapper:
    # Bytes that are no text stay apart in characters that no text has, until it is known whether anybody asks for them.
    return io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")


def open_csv(path: Path, mapping: Mapping, options: Options) -> Opened:
    """A CSV file under a mapping. UsageFault when it lacks a column, or has it twice."""
    csv.field_size_limit(options.max_line_bytes)
    names = header(path, mapping.delimiter, options.max_line_bytes)
    absent = [name for name, must in mapping.needed.items() if must and name not in names]
    if absent:
        hint = f'its columns may be separated otherwise: it begins with {words(names[0])}; say source.delimiter = ";"'
        raise lacking(path, absent, names, hint if len(names) == 1 else "")
    doubled = [name for name in mapping.needed if names.count(name) > 1]
    if doubled:
        raise UsageFault(f"{path} has the column {words(doubled[0])} twice", "give one of them another name")
    places = [names.index(name) if name in names else None for name in mapping.needed]
    return Opened(_blocks(path, mapping.delimiter, len(names), places, options), lambda _: plain_cells(len(places)))


def _blocks(path: Path, delimiter: str, width: int, places: list[int | None], options: Options) -> Iterator[Block]:
    stream, bytes_read = open_counted(path)
    with stream, _text(stream) as text:
        lines = _Lines(text, options.max_line_bytes)
        records = _records(lines, delimiter)
        next(records, None)
        rows: list[tuple[int, list[str]]] = []
        broken: list[tuple[str, str, str]] = []
        for first, row in records:
            if isinstance(row, str):
                broken.append((f"line {first}", row, ""))
            elif len(row) != width:
                broken.append((f"line {first}", _uneven(row, width, torn=not lines.whole), _outlined(row)))
            else:
                rows.append((first, row))
            if lines.characters >= _AT_ONCE:
                yield _block(rows, places, broken, lines, options, bytes_read())
                rows, broken, lines.characters = [], [], 0
        if rows or broken or lines.too_long:
            yield _block(rows, places, broken, lines, options, bytes_read())


def _uneven(row: list[str], width: int, *, torn: bool) -> str:
    said = f"{len(row)} cells where the first line names {width} columns"
    return f"torn last line: {said}" if torn and len(row) < width else said


def _outlined(row: Iterable[str]) -> str:
    return outline(",".join(row).encode("utf-8", "surrogateescape"))


def _block(
    rows: list[tuple[int, list[str]]],
    places: list[int | None],
    broken: list[tuple[str, str, str]],
    lines: _Lines,
    options: Options,
    bytes_read: int,
) -> Block:
    import pyarrow as pa

    wanted = [place for place in places if place is not None]
    pick = _picking(wanted)
    picked = [(first, *pick(row)) for first, row in rows]
    try:
        columns = _columns(picked, len(wanted))
    except (UnicodeEncodeError, pa.ArrowInvalid):
        broken = [
            *broken,
            *((f"line {row[0]}", "not UTF-8", _outlined(map(str, row[1:]))) for row in picked if _odd(row)),
        ]
        columns = _columns([row for row in picked if not _odd(row)], len(wanted))
    told = dict(zip(wanted, columns[1:], strict=True))
    nothing = pa.nulls(len(columns[0]), pa.string())
    cells = {f"c{n}": nothing if place is None else told[place] for n, place in enumerate(places)}
    limit = too_long(options.max_line_bytes)
    broken = [*broken, *((f"line {line}", limit, "") for line in lines.too_long)]
    lines.too_long = []
    return Block(in_pieces(pa.table({"position": columns[0], **cells})), bytes_read, tuple(broken))


def _picking(wanted: list[int]) -> Callable[[list[str]], tuple[str, ...]]:
    if len(wanted) > 1:
        return itemgetter(*wanted)
    return lambda row: tuple(row[place] for place in wanted)


def _columns(picked: list[tuple[Any, ...]], count: int) -> list[pa.Array]:
    import pyarrow as pa

    turned = list(zip(*picked, strict=True)) or [()] * (count + 1)
    return [pa.array(turned[0], pa.int64()), *(pa.array(column, pa.string()) for column in turned[1:])]


def _odd(row: tuple[Any, ...]) -> bool:
    return any("\udc80" <= character <= "\udcff" for cell in row[1:] for character in cell)
