"""Why a recorded cell cannot be taken: conditions and reasons in SQL, of which the first that holds counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.mapped.model import FIELDS, ISO
from analyzer.sources.mapped.values import shown
from analyzer.sources.quoting import sql_text
from analyzer.vocabulary import ClockKind, Outcome, Phase, Side

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.mapped.model import Column, Mapping

_YEAR_2000 = 946_684_800_000_000_000
_MOST_SECONDS = 1_000_000
_WORDS = {"outcome": tuple(Outcome), "phase": tuple(Phase), "side": tuple(Side)}
_IS_THE_UNIT_RIGHT = "is the unit right"


def time_checks(place: int, column: Column, unit: str | None, mapping: Mapping) -> Iterator[tuple[str, str]]:
    """Of a time or a duration: `is<place>`, `d<place>` and `n<place>` are what was read of it."""
    value = f"n{place}"
    if unit == ISO:
        yield f"NOT is{place}", "'not an ISO 8601 time'"
        if not mapping.zone:
            yield f"d{place}.zone = ''", "'the time has no zone; say source.zone'"
    else:
        yield f"NOT is{place}", "'not a number'"
    yield f"{value} IS NULL", f"'the time is out of range; {_IS_THE_UNIT_RIGHT}?'"
    yield f"{value} < 0", "'negative'"
    if column.add_to is None and mapping.clock_kind == ClockKind.WALL:
        hint = f"before the year 2000; {_IS_THE_UNIT_RIGHT}, or does it count from another boundary (add_to)?"
        yield f"{value} < {_YEAR_2000}", sql_text(hint)
    elif column.add_to or mapping.start:
        hint = f"longer than {_MOST_SECONDS} s; {_IS_THE_UNIT_RIGHT}, or is it a time of its own?"
        yield f"{value} > {_MOST_SECONDS * 10**9}", sql_text(hint)


def base_checks(place: int, column: Column, base: int | None) -> Iterator[tuple[str, str]]:
    """Of a duration: `t<base>` is where it begins, `t<place>` where it ends; no `base` is a beginning at 0."""
    if base is not None:
        yield f"t{base} IS NULL", sql_text(f"it counts from {column.add_to}, which the row does not have")
    yield f"t{place} IS NULL", "'the time is out of range'"


def fact_checks(place: int, column: Column) -> Iterator[tuple[str, str]]:
    """Of a fact: `r<place>` is its text, `n<place>` its value."""
    text, value, kind = f"r{place}", f"n{place}", FIELDS[column.target]
    if allowed := _WORDS.get(column.target):
        listed = ", ".join(sql_text(word) for word in allowed)
        said = f" is none of {', '.join(allowed)}; name it under values.{column.target}"
        yield f"{text} NOT IN ({listed})", f"{shown(text)} || {sql_text(said)}"
    if kind == "VARCHAR":
        return
    if kind == "BOOLEAN":
        yield f"{value} IS NULL", "'neither true nor false'"
        return
    yield f"NOT is{place}", "'not a number'"
    if kind == "DOUBLE":
        yield f"{value} IS NULL OR NOT isfinite({value}) OR {value} <= 0", "'must be above 0'"
        return
    yield f"{value} IS NULL", "'not a whole number, or out of range'"
    if column.target == "status_code":
        yield f"{value} NOT BETWEEN 100 AND 599", "'none of HTTP'"
    elif column.target == "attempt":
        yield f"{value} < 1", "'attempts count from 1'"
    else:
        yield f"{value} < 0", "'negative'"
