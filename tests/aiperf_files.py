"""Files of AIPerf in tests: read into a store, and as they stand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

START = 1_796_068_960_000_000_000


def read(*paths: Path, folder: Path) -> Store:
    """A derived store of these files, kept in a folder."""
    files, _ = ingest.find([str(path) for path in paths])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


def told(path: Path) -> list[dict[str, Any]]:
    """The lines of an export."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
