"""What no reader of a file can beat on this machine, in MB/s: prints JSON. `ingest.py` starts it."""

from __future__ import annotations

import hashlib
import json
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_BLOCK = 4 * 1024 * 1024
_PACKED_AT_MOST = 256 * 1024 * 1024


def _read(path: Path) -> int:
    size = 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            size += len(block)
    return size


def _sha256(path: Path) -> int:
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size


def _json_valid(path: Path) -> int:
    import duckdb

    query = "SELECT count(*), count(*) FILTER (json_valid(json)) FROM read_ndjson_objects(?)"
    row = duckdb.execute(query, [str(path)]).fetchone()
    if row is None or row[0] != row[1] or row[0] == 0:
        sys.exit(f"{path.name}: {row} lines are valid")
    return path.stat().st_size


def _unpacker(path: Path) -> Callable[[Path], int]:
    """Unpacking the beginning of the file, packed as the generator packs files."""
    from zstandard import ZstdCompressor, ZstdDecompressor

    with path.open("rb") as stream:
        packed = ZstdCompressor(level=3).compress(stream.read(_PACKED_AT_MOST))
    return lambda _: len(ZstdDecompressor().decompress(packed))


def _mb_per_s(step: Callable[[Path], int], path: Path, rounds: int) -> float:
    step(path)
    speeds = []
    for _ in range(rounds):
        start = time.perf_counter()
        size = step(path)
        speeds.append(size / 1e6 / (time.perf_counter() - start))
    return statistics.median(speeds)


def main(file: str, rounds: str) -> None:
    """Measure each, median of some rounds after one that does not count; the file is in the system's cache."""
    path = Path(file)
    steps = {
        "read the file": _read,
        "SHA-256": _sha256,
        "`json_valid` of every line, DuckDB": _json_valid,
        "unpack zstd, level 3, one thread": _unpacker(path),
    }
    json.dump({name: _mb_per_s(step, path, int(rounds)) for name, step in steps.items()}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
