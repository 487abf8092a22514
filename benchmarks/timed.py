"""A program run as a process of its own: wall time, processor time, peak memory, and what it printed."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
_SHOWN = 2_000


@dataclass(frozen=True, slots=True)
class Timed:
    """One process from its start to its end."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    out: str


def stop(why: str) -> NoReturn:
    """End the benchmark: a figure of work that was not done as it should be is none."""
    sys.exit(f"benchmark stopped: {why}")


def run(command: Sequence[str | Path], folder: Path) -> Timed:
    """Run a command in a folder to its end; stops the benchmark when it fails.

    Linux counts what the caller held into the peak of the process that it starts, so callers stay small.
    """
    environment = {name: value for name, value in os.environ.items() if name != "ANALYZE_STORE"}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=err)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        if process.returncode:
            err.seek(0)
            said = err.read()[-_SHOWN:].decode("utf-8", "replace")
            stop(f"{' '.join(map(str, command))[:200]} ended with {process.returncode}: {said}")
        text = out.read().decode("utf-8")
    return Timed(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _PEAK_UNIT, text)
