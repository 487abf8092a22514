"""The only writer to stderr: errors, notes and progress, for people."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from analyzer.errors import AnalyzerError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ExitCode", "Progress", "bug", "error", "note", "progress", "statement"]


def clean(value: str) -> str:
    """One line of printable text: values from traces may hold terminal controls."""
    return "".join(c if c.isprintable() else " " if c in "\n\t" else "\N{REPLACEMENT CHARACTER}" for c in value)


def _say(kind: str, sentence: str) -> None:
    text = f"analyze: {kind}: {clean(sentence)}\n"
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()


def error(fault: AnalyzerError) -> None:
    """Say a fault in one line."""
    _say("error", str(fault))


def note(sentence: str) -> None:
    """Say something worth knowing that stops nothing."""
    _say("note", sentence)


class Progress(Protocol):
    """What a long job reports to."""

    def advance(self, done: int, what: str = "") -> None:
        """`done` of the announced total is finished; `what` is under way."""


class _Silent:
    def advance(self, done: int, what: str = "") -> None:
        pass


class _Bar:
    def __init__(self, bar: object, task: object) -> None:
        self._bar, self._task = bar, task

    def advance(self, done: int, what: str = "") -> None:
        self._bar.update(self._task, completed=done, what=clean(what)[-60:])  # type: ignore[attr-defined]


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Progress]:
    """A bar on stderr when a person watches it, silence when it is piped."""
    if not sys.stderr.isatty() or os.environ.get("NO_PROGRESS"):
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Rich

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}", markup=False),
    )
    with Rich(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Bar(bar, bar.add_task(title, total=total, what=""))


def statement(sql: str) -> None:
    """Show a SQL statement that is about to run."""
    sys.stderr.write(sql.strip() + ";\n")


def bug(fault: BaseException) -> None:
    """Say that this is our own fault, and how to report it."""
    _say(
        "bug",
        f"{type(fault).__name__}: {fault}; this is a fault of analyze itself: run the command again with"
        " `analyze --debug ...` and report what it prints",
    )
