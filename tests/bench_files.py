"""Result files of load generators as stores: read as a user would, with what the tool printed beside what we compute."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer import ingest, sources
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    import random
    from pathlib import Path

Cell = tuple[str, str]


def stored(folder: Path, *paths: Path) -> Store:
    """A derived store of these files, in a run of the default settings."""
    files, faults = ingest.find([str(path) for path in paths])
    assert faults == []
    made = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(made, files)
    ingest.apply_defaults(made)
    made.derive()
    return made


def saved(folder: Path, *runs: Any, name: str = "result.json") -> Path:
    """A file of these runs, one a line; what is text already is written as it is."""
    path = folder / name
    path.write_text("\n".join(run if isinstance(run, str) else json.dumps(run) for run in runs), encoding="utf-8")
    return path


def exact(path: Path, line: int = 0) -> dict[str, Any]:
    """A run of a file, its numbers as the decimals that stand there."""
    run: dict[str, Any] = json.loads(path.read_text(encoding="utf-8").splitlines()[line], parse_float=Decimal)
    return run


def nanoseconds(seconds: Decimal) -> int:
    """Seconds as a whole number of ns."""
    return round(seconds * 10**9)


def printed(made: Store, tool: str) -> dict[Cell, tuple[float, float | None]]:
    """Times of the tool's summary by metric and statistic: as it printed them, and as computed here."""
    found = made.fetch(
        "SELECT f.metric, f.statistic, f.value, p.value AS ours FROM tool_figure AS f"
        " LEFT JOIN as_printed AS p ON p.run = f.run AND p.tool = f.tool AND p.load_point = f.load_point"
        " AND p.metric = f.metric AND p.statistic = f.statistic"
        " WHERE f.tool = ? AND f.kind = 'printed' AND f.unit = 'ms'",
        [tool],
    )
    return {(row["metric"], row["statistic"]): (row["value"], row["ours"]) for row in found}


WORDS = [
    b"null", b"true", b"-1", b"1e999", b"NaN", b"-Infinity", b'""', b"[]", b"{}", b"[", b"]", b"{", b"}", b'"', b"\\", b"\n", b"\x00",
    b"\xff", b",", b":", b'"\\ud800"', b"99999999999999999999999", b"0.1e-320", b"'", b"\n{",
]  # fmt: skip


def balanced(source: sources.Source, path: Path) -> int:
    """How many rows a source takes of a file; every record is taken or refused, and a file that is none is said so."""
    head = path.read_bytes()[: sources.HEAD_BYTES]
    source.sniff(head, path)
    try:
        pieces = list(source.read(path, sources.Options("x")))
    except SourceError:
        return 0
    given = [
        (frame.table, frame.rows.num_rows)
        for piece in pieces
        for frame in piece.frames
        if isinstance(frame, sources.Frame)
    ]
    taken: int = sum(count for table, count in given if table == "event")
    assert sum(piece.records for piece in pieces) == taken + sum(count for table, count in given if table == "refused")
    return taken


def mutated(content: bytes, rng: random.Random) -> bytes:
    """The bytes with some cut away, some doubled, and some words of JSON strewn in."""
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content) + 1)
        to = min(len(content), at + rng.randint(0, 12))
        content = content[:at] + rng.choice([b"", content[at:to] * 2, rng.choice(WORDS)]) + content[to:]
    return content
