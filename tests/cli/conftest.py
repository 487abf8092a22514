"""Folders to work in: an empty one, one with a small log, one that is full, one that cannot be written."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from building import declare, lines, write
from running import well

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOG = """
a sent 0 tenant=acme streamed=true
a first_content 200 tokens=1
a last_content 500 output_tokens=11
a done 510 outcome=ok
b sent 100 tenant=globex streamed=true
b done 900 outcome=timeout
c sent 61000 tenant=acme streamed=true
c first_content 61300 tokens=1
c last_content 61900 output_tokens=4
c done 62000 outcome=ok
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the log, its store and its sealed manifest, which tests copy."""
    folder = tmp_path_factory.mktemp("once") / "work"
    folder.mkdir()
    write(folder / "log.jsonl", lines(LOG))
    promise = {"name": "p", "good": [{"metric": "ttft", "op": "<=", "ms": 250}], "target": 0.5}
    path = declare(folder, ["log.jsonl"], name="night", slo=[promise])
    well("ingest", "log.jsonl", "--run", "default", cwd=folder)
    well("seal", path.name, cwd=folder)
    return folder


@pytest.fixture
def log(work: Path, made_once: Path) -> Path:
    """Give a log of three requests: two ok, one timed out."""
    return Path(shutil.copy(made_once / "log.jsonl", work))


@pytest.fixture
def stored(log: Path, made_once: Path) -> Path:
    """Give the store of the log, in the same folder."""
    return Path(shutil.copy(made_once / "analyze.duckdb", log.parent))


@pytest.fixture
def sealed(log: Path, made_once: Path) -> Path:
    """Give the sealed manifest of the log, with the store of its own that sealing has left."""
    shutil.copytree(made_once / ".analyze", log.parent / ".analyze")
    return Path(shutil.copy(made_once / "night.json", log.parent))


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give a function that mounts a file system in memory with the options it is given."""
    made: list[Path] = []

    def mount(options: str) -> Path:
        place = tmp_path / f"mount-{len(made)}"
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
        if not hasattr(os, "geteuid") or os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
            pytest.skip("only root can mount a small file system here")
        made.append(place)
        return place

    yield mount
    for place in made:
        subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.fixture
def read_only(tmp_path: Path, mounted: Callable[[str], Path]) -> Path:
    """Give a folder in which nothing can be made."""
    if hasattr(os, "geteuid") and os.geteuid() != 0:
        folder = tmp_path / "read-only"
        folder.mkdir(mode=0o555)
        return folder
    return mounted("ro,size=1m")
