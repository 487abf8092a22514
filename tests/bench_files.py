"""Result files of load generators as stores: read as a user would, with what the tool printed beside what we compute."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
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
