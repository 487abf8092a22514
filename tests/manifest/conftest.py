"""A valid manifest to bend, and a sealed run to disturb."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.manifest import Manifest, RawFacts, load, seal, skeleton, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 11, 30, 11, 2, 3, 999, tzinfo=UTC)


@pytest.fixture(scope="session")
def _blank() -> dict[str, Any]:
    return skeleton({"name": "burst", "model.id": "m"})


@pytest.fixture
def blank(_blank: dict[str, Any]) -> dict[str, Any]:
    """Give a valid manifest in which nearly all is unknown, to bend at will."""
    return copy.deepcopy(_blank)


@pytest.fixture
def at(tmp_path: Path) -> Callable[[dict[str, Any]], Manifest]:
    """Write a document as run.json and load it."""

    def load_it(document: dict[str, Any]) -> Manifest:
        write(document, tmp_path / "run.json")
        return load(tmp_path / "run.json")

    return load_it


@pytest.fixture
def sealed(blank: dict[str, Any], at: Callable[[dict[str, Any]], Manifest], tmp_path: Path) -> Manifest:
    """Seal a run of two raw files, raw/a.jsonl (three lines) and raw/b.jsonl (one)."""
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.jsonl").write_bytes(b'{"n": 1}\n{"n": 2}\n{"n": 3}\n')
    (tmp_path / "raw" / "b.jsonl").write_bytes(b'{"n": 4}\n')
    facts = {
        "raw/a.jsonl": RawFacts(3, 1796069308473857694, 1796069314124048277, "events"),
        "raw/b.jsonl": RawFacts(1, None, None, "events"),
    }
    return at(seal(at(blank), facts, now=NOW, analyzer_version="0.1.0"))
