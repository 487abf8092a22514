"""Tables as values: columns, cells, and the query that gave them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from analyzer.report import numbers


@dataclass(frozen=True, slots=True)
class Column:
    """A head. `key` is its name in a CSV, whose values are the full ones and so may have another unit."""

    label: str
    key: str
    numeric: bool = True
    title: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown, the full value that is copied, and which kind of thing it is (a class of the style sheet)."""

    text: str
    value: str
    kind: str = ""
    title: str = ""
    small: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with the query of its rows. `folded` tables wait behind a toggle; `views` are explained under Method."""

    id: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sql: str
    views: tuple[str, ...]
    note: str = ""
    folded: bool = False


def words(value: Any, *, kind: str = "", title: str = "", small: str = "", before: str = "") -> Cell:
    """A cell of text; NULL is a dash."""
    text = "" if value is None else str(value)
    return Cell(text or numbers.NONE, text, kind if text else "dim", title, small, before)


def number(value: float | None, *, kind: str = "") -> Cell:
    """A cell of a count; `kind` where it is not zero."""
    return Cell(numbers.count(value), numbers.raw(value), kind if value else "" if value == 0 else "dim")


def share(low: float | None, high: float | None = None, *, kind: str = "") -> Cell:
    """A cell of a share or of its two ends."""
    high = low if high is None else high
    both = numbers.raw(low) if low == high else f"{numbers.raw(low)} … {numbers.raw(high)}"
    return Cell(numbers.share_range(low, high), both, kind or ("dim" if low is None else ""), both)


def time(low: float | None, high: float | None, unit: str, *, small: str = "") -> Cell:
    """A cell of a time in ms, or of the two ends that are known of it."""
    if low == high:
        never = low is not None and math.isinf(low)
        full = numbers.raw(low)
        text = numbers.time(low, unit, sign=False)
        kind = "never" if never else "dim" if low is None else ""
        return Cell(text, full, kind, f"{full} ms" if low is not None and not never else "", small)
    text = f"{numbers.time(low, unit, sign=False)} … {numbers.time(high, unit, sign=False)}"
    full = f"{numbers.raw(low) or 'unknown'} … {numbers.raw(high) or 'unknown'}"
    return Cell(text, full, "range", f"between {full}, in ms", small)


def absent(text: str, why: str) -> Cell:
    """A cell in the place of a number that there is not."""
    return Cell(text, text, "dim", why)
