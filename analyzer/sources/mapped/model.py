"""A mapping: which columns of a foreign file are which boundaries and facts of a request."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from analyzer.sources.request_rows import BOUNDARIES, FACTS
from analyzer.vocabulary import Boundary, ClockKind, Side

TIMES: tuple[str, ...] = tuple(BOUNDARIES)
FIELDS = {"request": "VARCHAR", "attempt": "INTEGER", "clock": "VARCHAR", "side": "VARCHAR", **FACTS}
"""What a column may fill besides a boundary, with the type it has there."""
NANOSECONDS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
ISO = "iso"


@dataclass(frozen=True, slots=True)
class Column:
    """One line of [columns]: `target` is a boundary or fact of ours, `column` a name of theirs.

    `words` are their words with what stands in their place, in the order of the file; "" is not recorded.
    """

    target: str
    column: str
    unit: str | None = None
    add_to: str | None = None
    zero_is_missing: bool = False
    only_with: str | None = None
    optional: bool = False
    words: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping file that has passed every check; `digest` is the SHA-256 of its bytes, `path` as it was given."""

    path: str
    digest: str
    columns: tuple[Column, ...]
    side: str | None = None
    clock: str | None = None
    clock_kind: str = ClockKind.WALL
    format: str | None = None
    delimiter: str = ","
    zone: str | None = None
    missing: tuple[str, ...] = ()
    tool: str | None = None
    constants: dict[str, Any] = field(default_factory=dict)

    @property
    def needed(self) -> dict[str, bool]:
        """Every column of theirs that is asked for, and whether the file must have it."""
        found: dict[str, bool] = {}
        for column in self.columns:
            for name in filter(None, (column.column, column.only_with)):
                found[name] = found.get(name, False) or not column.optional
        return found

    @property
    def start(self) -> str | None:
        """The boundary that durations count from, which is 0 by itself; None where the file has times."""
        return start_of(self.clock_kind, self.side)


def start_of(clock_kind: str, side: str | None) -> str | None:
    """Where a request begins for those who only know how long it took."""
    if clock_kind != ClockKind.DURATION:
        return None
    return Boundary.SENT if side == Side.CLIENT else Boundary.ARRIVED
