"""Files as bytes and lines, whatever they are compressed with."""

from __future__ import annotations

import gzip
import io
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from analyzer.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_BOM = b"\xef\xbb\xbf"
_BLOCK = 16 * 1024 * 1024
SAMPLE_CHARACTERS = 120


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


def _open(path: Path) -> tuple[IO[bytes], _Counted]:
    try:
        raw = path.open("rb", buffering=0)
    except OSError as fault:
        raise SourceError(f"{path} cannot be read: {fault.strerror}", "check the path and its permissions") from fault
    counted = _Counted(raw)
    buffered = io.BufferedReader(counted, 1 << 20)  # type: ignore[type-var]
    start = buffered.peek(4)[:4]
    if start.startswith(_GZIP):
        return gzip.GzipFile(fileobj=buffered), counted  # type: ignore[return-value]
    if start == _ZSTD:
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(buffered, read_across_frames=True)
        return io.BufferedReader(reader), counted
    return buffered, counted


def open_bytes(path: Path) -> IO[bytes]:
    """The decompressed bytes of a file. SourceError when it cannot be opened."""
    return _open(path)[0]


def head(path: Path, size: int) -> bytes:
    """The first decompressed bytes, byte order mark and leading NULs removed; empty for an empty or broken file."""
    with open_bytes(path) as stream:
        try:
            start = stream.read(size)
        except (OSError, EOFError, ValueError) as fault:
            raise SourceError(f"{path} is not whole: {fault}", "copy or download it again") from fault
        except Exception as fault:
            if type(fault).__name__ == "ZstdError":
                raise SourceError(f"{path} is not whole: {fault}", "copy or download it again") from fault
            raise
    return start.removeprefix(_BOM).lstrip(b"\x00")


@dataclass(frozen=True, slots=True)
class Lines:
    """A block of lines. `table`: position (from 1), line (text). `broken`: lines that are no UTF-8, by position."""

    table: pa.Table
    broken: tuple[tuple[int, bytes], ...]
    bytes_read: int
    torn_position: int | None


def _decode(lines: list[bytes], first: int) -> tuple[list[str | None], list[tuple[int, bytes]]]:
    texts: list[str | None] = []
    broken: list[tuple[int, bytes]] = []
    for offset, line in enumerate(lines):
        try:
            texts.append(line.decode("utf-8"))
        except UnicodeDecodeError:
            texts.append(None)
            broken.append((first + offset, line))
    return texts, broken


def _block(lines: list[bytes], first: int, bytes_read: int, torn: bool) -> Lines:
    import pyarrow as pa
    import pyarrow.compute as pc

    broken: list[tuple[int, bytes]] = []
    try:
        texts = pa.array(lines, type=pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        decoded, broken = _decode(lines, first)
        texts = pa.array(decoded, type=pa.string())
    positions = pa.array(range(first, first + len(lines)), type=pa.int64())
    trimmed = pc.utf8_trim(texts, characters=" \t\r\n\x00")
    table = pa.table({"position": positions, "line": trimmed})
    table = table.filter(pc.fill_null(pc.greater(pc.utf8_length(trimmed), 0), False))
    return Lines(table, tuple(broken), bytes_read, first + len(lines) - 1 if torn else None)


def lines(path: Path) -> Iterator[Lines]:
    """Lines of a text file in blocks of some megabytes; blank ones are passed over. The last may be torn."""
    stream, counted = _open(path)
    first, rest = 1, b""
    with stream:
        while True:
            try:
                block = stream.read(_BLOCK)
            except (OSError, EOFError) as fault:
                raise SourceError(f"{path} is not whole: {fault}", "copy or download it again") from fault
            if first == 1 and not rest:
                block = block.removeprefix(_BOM)
            if not block:
                break
            *whole, rest = (rest + block).split(b"\n")
            if whole:
                yield _block(whole, first, counted.count, torn=False)
                first += len(whole)
    if rest:
        yield _block([rest], first, counted.count, torn=True)
