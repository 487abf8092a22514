"""Folders to work in: an empty one, one with a small log, one that is full, one that cannot be written."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest
from building import declare, lines, write
from running import well

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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


@pytest.fixture
def log(work: Path) -> Path:
    """Give a log of three requests: two ok, one timed out."""
    return write(work / "log.jsonl", lines(LOG))


@pytest.fixture
def sealed(work: Path, log: Path) -> Path:
    """Give the sealed manifest of the log."""
    promise = {"name": "p", "good": [{"metric": "ttft", "op": "<=", "ms": 250}], "target": 0.5}
    path = declare(work, [log.name], name="night", slo=[promise])
    well("seal", path.name, cwd=work)
    return path


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[str], Path]]:
    """Give a function that mounts a file system in memory with the options it is given."""
    made = []

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
