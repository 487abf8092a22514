"""Cells of text as request rows, whole columns at once in SQL, or the reason why a row is refused.

Columns bear names of ours all the way: of the n-th line of a mapping r<n> is the text, d<n> what it is made of, is<n>
whether it looks right, n<n> the value, and t<n>, of a boundary, its time on the file's clock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from analyzer.sources.mapped import values
from analyzer.sources.mapped.checks import base_checks, fact_checks, time_checks
from analyzer.sources.mapped.model import FIELDS, ISO, TIMES
from analyzer.sources.quoting import sql_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as Table

    from analyzer.sources.mapped.model import Column, Mapping


class Stored(NamedTuple):
    """How a file itself types a column of times: in counts of `unit`, with a zone or without one."""

    unit: str
    zoned: bool = True


class Casting:
    """The SQL of one mapping. `cells` gives position, fault, sample, c0 ... for each row; faults are passed through."""

    def __init__(self, mapping: Mapping, names: list[str], stored: Table[str, Stored]) -> None:
        """`names` are those of the cells, in their order; `stored` those whose type the file itself tells."""
        self._mapping = mapping
        self._cell = {name: f"c{place}" for place, name in enumerate(names)}
        self._stored = stored
        self._columns = list(enumerate(mapping.columns))
        self._times = {column.target: (place, column) for place, column in self._columns if column.target in TIMES}

    def kept(self, cells: str) -> str:
        """A SELECT of request rows."""
        rows = ",\n  ".join(self._row())
        return f"{self._checked(cells)}\nSELECT position,\n  {rows}\nFROM checked WHERE refusal IS NULL"

    def refused(self, cells: str, label: str, place: str) -> str:
        """A SELECT of the rows that cannot be taken; `place` is the word for a position."""
        return (
            f"{self._checked(cells)}\nSELECT {sql_text(label)} AS source_file, {sql_text(place + ' ')} || position AS"
            " position, refusal.why AS reason, refusal.value AS sample\nFROM checked WHERE refusal IS NOT NULL"
        )

    # -- steps ------------------------------------------------------------------------------------------------------

    def _checked(self, cells: str) -> str:
        missing = self._mapping.missing
        recorded = ", ".join(f"{values.recorded(cell, missing)} AS {cell}" for cell in self._cell.values())
        told = ", ".join(f"{self._told(column)} AS r{place}" for place, column in self._columns)
        parts = "".join(f", {self._parts(place, column)}" for place, column in self._columns if _has_parts(column))
        valued = ", ".join(f"{self._value(place, column)} AS n{place}" for place, column in self._columns)
        placed = ", ".join(f"{self._placed(name)} AS t{place}" for name, (place, _) in self._times.items())
        refusals = "\n    ".join(
            f"WHEN {condition} THEN {{'why': {why}, 'value': {value}}}" for condition, why, value in self._refusals()
        )
        return f"""WITH cell AS (
  SELECT position, fault, sample, {recorded} FROM ({cells})
), told AS (
  SELECT position, fault, sample, {told} FROM cell
), read AS (
  SELECT *{parts} FROM told
), valued AS (
  SELECT *, {valued} FROM read
), placed AS (
  SELECT *, {placed} FROM valued
), checked AS (
  SELECT *, CASE
    {refusals}
  END AS refusal
  FROM placed
)"""

    def _told(self, column: Column) -> str:
        """What the file says for a field, as text; NULL where it is not recorded."""
        value = self._cell[column.column]
        if column.zero_is_missing:
            value = f"CASE WHEN coalesce(TRY_CAST({value} AS DOUBLE) <> 0, true) THEN {value} END"
        if column.only_with:
            value = f"CASE WHEN {self._cell[column.only_with]} IS NOT NULL THEN {value} END"
        return values.in_place_of(value, column.words)

    def _unit(self, column: Column) -> str | None:
        stored = self._stored.get(column.column)
        return stored.unit if stored else column.unit

    def _parts(self, place: int, column: Column) -> str:
        text = f"r{place}"
        if self._unit(column) == ISO:
            return f"{values.iso_parts(text)} AS d{place}, {values.matches(text, values.ISO_TIME)} AS is{place}"
        return f"{values.number(text)} AS d{place}, {values.matches(text, values.NUMBER)} AS is{place}"

    def _value(self, place: int, column: Column) -> str:
        unit, zone = self._unit(column), self._mapping.zone
        if column.target not in TIMES:
            return values.fact(column.target, f"r{place}", f"d{place}", f"is{place}", unit)
        if unit == ISO:
            return values.ns_of_iso(f"d{place}", zone)
        stored = self._stored.get(column.column)
        west = -values.offset_seconds(zone) if zone and stored and not stored.zoned else 0
        return values.ns_of_number(f"d{place}", f"is{place}", str(unit), west)

    def _placed(self, name: str) -> str:
        """A boundary on the file's clock: its own time, or a duration after another boundary."""
        if name not in self._times:
            return "0::BIGINT"  # where every duration of the file begins
        place, column = self._times[name]
        if column.add_to is None:
            return f"n{place}"
        return f"TRY_CAST(n{place}::HUGEINT + ({self._placed(column.add_to)})::HUGEINT AS BIGINT)"

    def _refusals(self) -> Iterator[tuple[str, str, str]]:
        """Conditions under which a row is refused, the reason and the value to show; the first that holds counts."""
        yield "fault IS NOT NULL", "fault", "sample"
        # What is wrong with a value comes before what is missing because of it.
        for checks in (self._checks, self._base_checks):
            for place, column in self._columns:
                at = values.words(column.column) + ("" if column.column == column.target else f" as {column.target}")
                for condition, why in checks(place, column):
                    yield condition, f"{sql_text(f'column {at}: ')} || {why}", values.shown(f"r{place}")
        if self._mapping.start is None:
            nothing = " AND ".join(f"t{place} IS NULL" for place, _ in self._times.values())
            yield nothing, sql_text(f"no time is recorded: {', '.join(self._times)}"), "NULL::VARCHAR"

    def _checks(self, place: int, column: Column) -> Iterator[tuple[str, str]]:
        if column.target in TIMES:
            found = time_checks(place, column, self._unit(column), self._mapping)
        else:
            found = fact_checks(place, column)
        for condition, why in found:
            yield f"r{place} IS NOT NULL AND ({condition})", why
        if column.target in ("clock", "side"):
            yield f"r{place} IS NULL", "'not recorded'"

    def _base_checks(self, place: int, column: Column) -> Iterator[tuple[str, str]]:
        if column.target in TIMES and column.add_to:
            base, _ = self._times.get(column.add_to, (None, None))
            for condition, why in base_checks(place, column, base):
                yield f"r{place} IS NOT NULL AND ({condition})", why

    # -- the row ----------------------------------------------------------------------------------------------------

    def _row(self) -> Iterator[str]:
        mapping = self._mapping
        if mapping.start:
            yield f"0::BIGINT AS {mapping.start}_ns"
        for name, (place, _) in self._times.items():
            yield f"t{place} AS {name}_ns"
        for place, column in self._columns:
            if column.target not in TIMES:
                yield f"n{place} AS {column.target}"
        if mapping.side:
            yield f"{sql_text(mapping.side)} AS side"
        if mapping.clock:
            yield f"{sql_text(mapping.clock)} AS clock"
        yield f"{sql_text(mapping.clock_kind)} AS clock_kind"
        for name, value in mapping.constants.items():
            yield f"CAST({sql_text(_literal(value))} AS {FIELDS[name]}) AS {name}"


def _has_parts(column: Column) -> bool:
    return column.target in TIMES or FIELDS[column.target] not in ("VARCHAR", "BOOLEAN")


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
