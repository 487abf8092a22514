"""The command as a user runs it: a process of its own, an empty home, and what it says on each of its two streams."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).with_name("analyze.exe" if os.name == "nt" else "analyze")


@dataclass(frozen=True, slots=True)
class Ran:
    """Exit code, stdout and stderr of a command that has ended."""

    code: int
    out: str
    err: str

    @property
    def notes(self) -> list[str]:
        """What stderr notes."""
        return [line.removeprefix("analyze: note: ") for line in self.err.splitlines() if ": note: " in line]

    @property
    def rows(self) -> list[dict[str, str]]:
        """The table on stdout."""
        names, *rows = [line.split("\t") for line in self.out.splitlines()]
        return [dict(zip(names, row, strict=True)) for row in rows]


def surroundings(home: Path, **more: str) -> dict[str, str]:
    """An environment with PATH and an empty home, and nothing else of the caller's."""
    home.mkdir(exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": str(home), **more}


def analyze(*arguments: str | Path, cwd: Path, **environment: str) -> Ran:
    """Run the installed command in a folder."""
    assert COMMAND.is_file(), f"{COMMAND} is missing: install the project into this environment"
    done = subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        env=surroundings(cwd.parent / ".home", **environment),
        capture_output=True,
        timeout=120,
        check=False,
    )
    encoding = environment.get("PYTHONIOENCODING", "utf-8")
    return Ran(done.returncode, done.stdout.decode(encoding), done.stderr.decode(encoding))


def well(*arguments: str | Path, cwd: Path, **environment: str) -> Ran:
    """Run the command and see that it succeeds without a word of error."""
    ran = analyze(*arguments, cwd=cwd, **environment)
    assert ran.code == 0, ran.err
    assert all(line.startswith("analyze: note: ") for line in ran.err.splitlines()), ran.err
    return ran


def refusal(ran: Ran, code: int) -> str:
    """The one sentence of a command that failed as it should: nothing on stdout, no traceback, one error line."""
    assert ran.code == code, (ran.code, ran.err)
    assert "Traceback" not in ran.err
    assert ran.out == ""
    errors = [line for line in ran.err.splitlines() if not line.startswith("analyze: note: ")]
    assert len(errors) == 1, ran.err
    assert errors[0].startswith("analyze: error: "), ran.err
    assert errors[0].isprintable()
    return errors[0].removeprefix("analyze: error: ")


def asked(query: str, *, cwd: Path, store: str = "analyze.duckdb") -> list[tuple[Any, ...]]:
    """The rows that `analyze sql` gives."""
    ran = well("sql", query, "--json", "--store", store, cwd=cwd)
    return [tuple(row.values()) for row in json.loads(ran.out)]
