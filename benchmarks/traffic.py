"""Files of made-up traffic, any size, the same bytes for the same seed, and what a store of them must hold.

    python benchmarks/traffic.py --spans 200000 --form json --form events traces/

Memory does not grow with the size: requests go by one at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import event_log
import otlp
import queueing
import spans

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

FORMS = {"json": "spans.otlp.jsonl", "protobuf": "spans.otlp.bin", "events": "requests.events.jsonl"}
_BUFFER = 4 * 1024 * 1024


@dataclass(slots=True)
class Written:
    """One file, and what a store of it must hold. Records are spans or lines."""

    form: str
    path: Path
    records: int
    bytes: int
    unpacked_bytes: int
    totals: queueing.Totals

    def summary(self) -> dict[str, Any]:
        """All of it as JSON can say it."""
        totals = self.totals
        return {
            "form": self.form, "file": self.path.name, "records": self.records, "bytes": self.bytes,
            "unpacked_bytes": self.unpacked_bytes, "requests": totals.requests, "attempts": totals.attempts,
            "outcomes": totals.by_outcome(), "first_ns": str(totals.first_ns), "last_ns": str(totals.last_ns),
        }  # fmt: skip


def traffic(seed: int, least_spans: int) -> Iterator[queueing.Request]:
    """The first requests of a seed, as many as have so many spans together."""
    seen = 0
    for request in queueing.requests(seed):
        if seen >= least_spans:
            return
        seen += spans.count(request)
        yield request


def _pieces(form: str, requests: Iterable[queueing.Request]) -> Iterator[tuple[bytes, int]]:
    """The bytes of a file, piece by piece, each with the records in it."""
    if form == "json":
        return ((otlp.json_line(batch).encode(), len(batch)) for batch in spans.batches(requests))
    if form == "protobuf":
        return ((otlp.prefixed(batch), len(batch)) for batch in spans.batches(requests))
    return ((line.encode(), 1) for line in chain.from_iterable(map(event_log.lines_of, requests)))


@contextmanager
def _opened(path: Path) -> Iterator[Callable[[bytes], object]]:
    """Write into a file, packed if its name says so, and leave it on the disk and not in a cache alone."""
    with path.open("wb", buffering=_BUFFER) as stream:
        if path.suffix == ".zst":
            from zstandard import ZstdCompressor

            with ZstdCompressor(level=3).stream_writer(stream, closefd=False) as packed:
                yield packed.write
        else:
            yield stream.write
        _settle(stream)


def _settle(stream: IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def write(folder: Path, form: str, *, seed: int, least_spans: int, zstd: bool = False) -> Written:
    """Write the traffic of a seed in one form."""
    path = folder / (FORMS[form] + (".zst" if zstd else ""))
    totals = queueing.Totals()
    records = unpacked = 0

    def counted(requests: Iterable[queueing.Request]) -> Iterator[queueing.Request]:
        for request in requests:
            totals.count(request)
            yield request

    with _opened(path) as put:
        for piece, inside in _pieces(form, counted(traffic(seed, least_spans))):
            put(piece)
            records += inside
            unpacked += len(piece)
    return Written(form, path, records, path.stat().st_size, unpacked, totals)


def main() -> None:
    """Read the arguments, write, say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the files go; made if it is not there")
    parser.add_argument("--spans", type=int, default=20_000, help="spans, at least so many (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="(default %(default)s)")
    parser.add_argument("--form", action="append", choices=FORMS, help="may be given again (default: all)")
    parser.add_argument("--zstd", action="store_true", help="pack each file with zstd")
    wanted = parser.parse_args()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    made = partial(write, wanted.folder, seed=wanted.seed, least_spans=wanted.spans, zstd=wanted.zstd)
    json.dump([made(form).summary() for form in wanted.form or FORMS], sys.stdout, indent=2)
    print()


if __name__ == "__main__":
    main()
