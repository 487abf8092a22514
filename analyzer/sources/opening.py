"""Files as bytes and lines, whatever they are compressed with."""

from __future__ import annotations

import gzip
import io
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from analyzer.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BLOCK = 8 * 1024 * 1024
# Lines are handed on in texts of about so many bytes.
_AT_ONCE = 40 * 1024 * 1024
DEFAULT_LINE_BYTES = 64 * 1024 * 1024
# Small, because a frame may unpack to many thousand times its size.
_ZSTD_BLOCK = 8 * 1024
# NULs that a log rotation has left before text. A length, which begins with NULs too, is followed by no such text.
_BEFORE_TEXT = re.compile(rb"(?:\xef\xbb\xbf)?\x00+(?:\xef\xbb\xbf)?(?=\s*[{\[]\s*[\"{\[\]}])|\xef\xbb\xbf")
SAMPLE_CHARACTERS = 120
_NEWLINE = 10
_WIDE = 2**31 - 1
# The database works on as many pieces of a table at once as it has threads, and on at most so many rows at a time.
_PIECES, _MOST_IN_PIECE = 16, 2048


@dataclass(slots=True)
class _Counted(io.RawIOBase):
    """A file that knows how far it has been read, for progress over compressed input."""

    raw: IO[bytes]
    count: int = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        read = self.raw.readinto(buffer)  # type: ignore[attr-defined]
        self.count += read
        return int(read)

    def close(self) -> None:
        self.raw.close()


class _Zstd(io.RawIOBase):
    """Frames of zstd, one after the other; the last must be whole (the package's own reader does not tell)."""

    def __init__(self, raw: IO[bytes]) -> None:
        from zstandard import ZstdDecompressor

        self._raw = raw
        self._begin: Callable[[], Any] = ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        while not self._ready:
            block = self._raw.read(_ZSTD_BLOCK)
            if not block:
                if self._frame is not None:
                    raise EOFError("it ends inside a frame")
                return 0
            self._ready = memoryview(b"".join(self._unpacked(block)))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _unpacked(self, block: bytes) -> Iterator[bytes]:
        while block:
            self._frame = self._frame or self._begin()
            yield self._frame.decompress(block)
            block = b""
            if self._frame.eof:
                block, self._frame = self._frame.unused_data, None

    def close(self) -> None:
        self._raw.close()


class _Whole(io.RawIOBase):
    """Bytes of which a fault is a fault of the file, never its end."""

    def __init__(self, stream: IO[bytes], path: Path) -> None:
        self._stream, self._path = stream, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        try:
            return int(self._stream.readinto(buffer))  # type: ignore[attr-defined]
        except Exception as fault:  # each package that decompresses has errors of its own
            raise SourceError(f"{self._path} is not whole: {fault}", "copy or download it again") from fault

    def close(self) -> None:
        self._stream.close()


def _buffered(raw: Any) -> io.BufferedReader:
    return io.BufferedReader(raw, 1 << 20)


def _open(path: Path) -> tuple[IO[bytes], _Counted]:
    try:
        counted = _Counted(path.open("rb", buffering=0))
        buffered = _buffered(counted)
        start = buffered.peek(4)[:4]
    except OSError as fault:
        raise SourceError(f"{path} cannot be read: {fault.strerror}", "check the path and its permissions") from fault
    stream: Any = buffered
    if start.startswith(_GZIP):
        stream = gzip.GzipFile(fileobj=buffered)
    elif start == _ZSTD:
        stream = _Zstd(buffered)
    return _buffered(_Whole(stream, path)), counted


def open_bytes(path: Path) -> IO[bytes]:
    """The decompressed bytes of a file. SourceError when it cannot be opened, or turns out to be cut short."""
    return _open(path)[0]


def open_counted(path: Path) -> tuple[IO[bytes], Callable[[], int]]:
    """The decompressed bytes of a file, and how many of its own bytes were read for them. SourceError as above."""
    stream, counted = _open(path)
    return stream, lambda: counted.count


def before_text(start: bytes) -> int:
    """How many bytes stand before the text of a file that begins so: NULs of a rotation, a byte order mark."""
    found = _BEFORE_TEXT.match(start)
    return found.end() if found else 0


def head(path: Path, size: int) -> bytes:
    """The first decompressed bytes, without what stands before text; SourceError when they are not whole."""
    with open_bytes(path) as stream:
        start = stream.read(size)
    return start[before_text(start) :]


@dataclass(frozen=True, slots=True)
class Lines:
    """A block of lines. `table`: position (from 1), line (text).

    `broken`: position, reason and first bytes of lines that are no text or too long to be held.
    """

    table: pa.Table
    broken: tuple[tuple[int, str, bytes], ...]
    bytes_read: int
    torn_position: int | None


_NOT_TEXT = "not UTF-8"


def _decode(lines: list[bytes], first: int) -> tuple[list[str | None], list[tuple[int, str, bytes]]]:
    texts: list[str | None] = []
    broken: list[tuple[int, str, bytes]] = []
    for offset, line in enumerate(lines):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            texts.append(None)
            broken.append((first + offset, _NOT_TEXT, line))
    return texts, broken


def _block(lines: list[bytes], first: int, bytes_read: int, torn: bool) -> Lines:
    """Lines one by one, of which some may be no text."""
    import pyarrow as pa

    texts, broken = _decode(lines, first)
    table = _table(pa.array(texts, type=pa.string()), first)
    return Lines(table, tuple(broken), bytes_read, first + len(lines) - 1 if torn else None)


def _even_block(text: bytes, first: int, bytes_read: int, limit: int) -> tuple[Lines, int] | None:
    """Whole lines at once, and how many; None when one of them is too long or no text."""
    import numpy as np
    import pyarrow as pa

    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == _NEWLINE) + 1
    offsets = np.concatenate(([0], ends))
    if np.diff(offsets).max() > limit + 1:
        return None
    kind, width = (pa.StringArray, np.int32) if len(text) < _WIDE else (pa.LargeStringArray, np.int64)
    texts = kind.from_buffers(len(ends), pa.py_buffer(offsets.astype(width)), pa.py_buffer(text))
    try:
        texts.validate(full=True)
    except pa.ArrowInvalid:
        return None
    return Lines(_table(texts, first), (), bytes_read, None), len(ends)


def _table(texts: pa.Array, first: int) -> pa.Table:
    """Lines that are not blank, each with its position."""
    import pyarrow as pa
    import pyarrow.compute as pc

    positions = pa.array(range(first, first + len(texts)), type=pa.int64())
    trimmed = pc.ascii_trim(texts, characters=" \t\r\n\x00")
    table = pa.table({"position": positions, "line": trimmed})
    table = table.filter(pc.fill_null(pc.greater(pc.binary_length(trimmed), 0), False))
    return in_pieces(table)


def in_pieces(table: pa.Table) -> pa.Table:
    """The table in pieces that can be worked on side by side."""
    import pyarrow as pa

    rows = max(1, min(_MOST_IN_PIECE, table.num_rows // _PIECES))
    return pa.Table.from_batches(table.combine_chunks().to_batches(max_chunksize=rows), table.schema)


def too_long(limit: int) -> str:
    """Why a line of more than so many bytes is refused."""
    return f"the line is longer than {limit} bytes, the limit for one line"


def _too_long(position: int, start: bytes, bytes_read: int, limit: int) -> Lines:
    return replace(_block([], position, bytes_read, torn=False), broken=((position, too_long(limit), start),))


def _skip_line(stream: IO[bytes]) -> bytes | None:
    """Read on to the end of a line and give what follows it in the last block; None when the file ends first."""
    while block := stream.read(_BLOCK):
        _, newline, after = block.partition(b"\n")
        if newline:
            return after
    return None


def lines(
    path: Path, limit: int = DEFAULT_LINE_BYTES, *, rest: bytes = b"", begins_inside: bool = False
) -> Iterator[Lines]:
    """Lines of a text file in blocks of some megabytes; blank ones are passed over. The last may be torn.

    A line of more than `limit` bytes is told of and never held whole. `rest` is put behind the last line when that is
    torn; `begins_inside` passes over the first line.
    """
    # The next block is read while the one before is worked on.
    blocks = _lines(path, limit, rest, begins_inside)
    with ThreadPoolExecutor(1) as reader:
        ahead = reader.submit(next, blocks, None)
        while (block := ahead.result()) is not None:
            ahead = reader.submit(next, blocks, None)
            yield block


def _lines(path: Path, limit: int, rest: bytes, begins_inside: bool) -> Iterator[Lines]:
    stream, counted = _open(path)
    first, left, text = 1, b"", b""
    with stream:
        while block := stream.read(_BLOCK):
            if first == 1 and not left and not text:
                block = block[before_text(block) :]
            whole, newline, left = (left + block).rpartition(b"\n")
            text += whole + newline
            if text and (len(text) >= _AT_ONCE or len(left) > limit):
                lines_of_text, count = _whole_lines(text, first, counted.count, limit, begins_inside and first == 1)
                yield lines_of_text
                first, text = first + count, b""
            if len(left) > limit:
                if not (begins_inside and first == 1):
                    yield _too_long(first, left[:SAMPLE_CHARACTERS], counted.count, limit)
                after = _skip_line(stream)
                if after is None:
                    return
                first, left = first + 1, after
    if text:
        lines_of_text, count = _whole_lines(text, first, counted.count, limit, begins_inside and first == 1)
        yield lines_of_text
        first += count
    if left:
        yield _bounded([left + rest], first, counted.count, limit, begins_inside and first == 1, torn=not rest)


def _whole_lines(text: bytes, first: int, bytes_read: int, limit: int, begun: bool) -> tuple[Lines, int]:
    """Lines that end, and how many."""
    even = None if begun else _even_block(text, first, bytes_read, limit)
    if even is not None:
        return even
    listed = text.split(b"\n")[:-1]
    return _bounded(listed, first, bytes_read, limit, begun), len(listed)


def _bounded(whole: list[bytes], first: int, bytes_read: int, limit: int, begun: bool, *, torn: bool = False) -> Lines:
    broken = [
        (first + offset, too_long(limit), line[:SAMPLE_CHARACTERS])
        for offset, line in enumerate(whole)
        if len(line) > limit
    ]
    if broken:
        whole = [line if len(line) <= limit else b"" for line in whole]
    if begun:
        whole = [b"", *whole[1:]]
        broken = [line for line in broken if line[0] != 1]
    block = _block(whole, first, bytes_read, torn)
    return replace(block, broken=(*block.broken, *broken)) if broken else block
