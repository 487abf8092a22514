"""`analyze sources verify`: a tool's own figures beside the same figures made from its rows."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer import ingest, sources
from analyzer.errors import EvidenceError, SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

COLUMNS = ("tool", "version", "load_point", "metric", "statistic", "unit", "printed", "ours", "state", "why")


def verify(file: str, trace: Callable[[str], None] | None) -> list[tuple[Any, ...]]:
    """Rows of COLUMNS for every figure that the file, or its companions in the same folder, prints.

    Raises SourceError when no source knows the file, EvidenceError when its tool has left no figures.
    """
    path = Path(file)
    if path.is_dir():
        raise SourceError(f"{file} is a folder, and a run of a tool is one file", "name the file of its rows in it")
    with (
        tempfile.TemporaryDirectory() as folder,
        Store(Path(folder) / "verify.duckdb", create=True, trace=trace) as store,
    ):
        files, _ = ingest.find([file, *(str(other) for other in companions(path))])
        outcomes = ingest.ingest_files(store, files)
        if all(outcome.state == "unknown" for outcome in outcomes):
            told = next((f": {outcome.note}" for outcome in outcomes if outcome.note), "")
            raise SourceError(f"no source knows {file}{told}", "`analyze sources` lists the formats")
        ingest.apply_defaults(store)
        store.derive()
        rows = store.fetch(f"SELECT {', '.join(COLUMNS)} FROM printed_check ORDER BY ALL")
    if not rows:
        raise EvidenceError(
            f"{file} holds no figures of its tool, and none lie beside it",
            "bring the tool's own summary into its folder",
        )
    return [tuple(row.values()) for row in rows]


def companions(path: Path) -> list[Path]:
    """Files beside this one that other sources of the same tool know, by the first word of the sources' names."""
    own = sources.recognise(path)
    if own is None:
        return []
    found = []
    for other in sorted(path.parent.iterdir()):
        if other == path or not other.is_file():
            continue
        source = sources.recognise(other)
        if source is not None and source.name != own.name and source.name.split("_")[0] == own.name.split("_")[0]:
            found.append(other)
    return found
