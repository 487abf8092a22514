"""Cells of text as request rows, whole columns at once in SQL, or the reason why a row is refused.

Names and words of theirs reach the SQL as literals only; columns bear names of ours, c0, c1 and so on.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, NamedTuple

from analyzer.sources.mapped.model import FIELDS, ISO, NANOSECONDS, TIMES
from analyzer.sources.quoting import sql_text
from analyzer.vocabulary import ClockKind, Outcome, Phase, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Mapping as Table

    from analyzer.sources.mapped.model import Column, Mapping

_SHOWN = 60
_YEAR_2000 = 946_684_800_000_000_000
_MOST_SECONDS = 1_000_000
_NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
_ISO = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*)?"
    r" ?(Z|z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?$"
)
_DECIMAL = "DECIMAL(38, 9)"
_WORDS = {"outcome": tuple(Outcome), "phase": tuple(Phase), "side": tuple(Side)}
_ANY = "*"
_MAGNITUDES = range(-9, 28)


class Stored(NamedTuple):
    """How a file itself types a column of times: in counts of `unit`, without a zone or with one."""

    unit: str
    zoned: bool = True


def words(name: str) -> str:
    """A name of theirs for a sentence: in one line, not too long, in quotes."""
    clean = "".join(character if character.isprintable() else " " for character in name)
    return f'"{clean if len(clean) <= _SHOWN else clean[: _SHOWN - 1] + "…"}"'


def offset_seconds(zone: str) -> int:
    """UTC or +02:00 in seconds east of Greenwich."""
    if zone == "UTC":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


class Casting:
    """The SQL of one mapping. `cells` gives position, fault, sample, c0 ... for each row; faults are passed through."""

    def __init__(self, mapping: Mapping, names: list[str], stored: Table[str, Stored]) -> None:
        """`names` are those of the cells, in their order; `stored` those whose type the file itself tells."""
        self._mapping = mapping
        self._cell = {name: f"c{place}" for place, name in enumerate(names)}
        self._stored = stored
        self._times = {
            column.target: (place, column) for place, column in enumerate(mapping.columns) if _is_time(column)
        }

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
        columns = list(enumerate(self._mapping.columns))
        missing = ", ".join(sql_text(word) for word in ("", *self._mapping.missing))
        trimmed = ", ".join(
            f"CASE WHEN trim({cell}, {_SPACE}) NOT IN ({missing}) THEN trim({cell}, {_SPACE}) END AS {cell}"
            for cell in self._cell.values()
        )
        told = ", ".join(f"{self._told(column)} AS r{place}" for place, column in columns)
        parts = "".join(f", {self._parts(place, column)}" for place, column in columns if _has_parts(column))
        values = ", ".join(f"{self._value(place, column)} AS n{place}" for place, column in columns)
        placed = ", ".join(f"{self._placed(name)} AS t{place}" for name, (place, _) in self._times.items())
        refusals = "\n    ".join(
            f"WHEN {condition} THEN {{'why': {why}, 'value': {value}}}" for condition, why, value in self._checks()
        )
        return f"""WITH cell AS (
  SELECT position, fault, sample, {trimmed} FROM ({cells})
), told AS (
  SELECT position, fault, sample, {told} FROM cell
), read AS (
  SELECT *{parts} FROM told
), valued AS (
  SELECT *, {values} FROM read
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
        if not column.words:
            return value
        arms = " ".join(
            f"WHEN {_stands_for(word, f'({value})')} THEN {sql_text(ours) if ours else 'NULL'}"
            for word, ours in sorted(column.words, key=lambda pair: pair[0] == _ANY)
        )
        return f"CASE {arms} ELSE {value} END"

    def _parts(self, place: int, column: Column) -> str:
        """What a value is made from, and whether it looks like one."""
        text = f"r{place}"
        if self._unit(column) == ISO:
            found = f"regexp_extract({text}, '{_ISO}', ['day', 'clock', 'part', 'zone'])"
            return f"{found} AS d{place}, {_matches(text, _ISO)} AS is{place}"
        return f"TRY_CAST({text} AS {_DECIMAL}) AS d{place}, {_matches(text, _NUMBER)} AS is{place}"

    def _unit(self, column: Column) -> str | None:
        stored = self._stored.get(column.column)
        return stored.unit if stored else column.unit

    def _value(self, place: int, column: Column) -> str:
        """A field's value in its type; NULL where the text is none. Times in ns, as far as the file tells them."""
        text, number, is_one = f"r{place}", f"d{place}", f"is{place}"
        unit = self._unit(column)
        if _is_time(column):
            return self._iso_ns(number) if unit == ISO else self._ns(column, number, is_one, str(unit))
        kind = FIELDS[column.target]
        if kind == "VARCHAR":
            trace = r"'^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$'"
            if column.target == "trace_id":
                return f"coalesce(nullif(regexp_extract(lower({text}), {trace}, 1), ''), lower({text}))"
            return text
        if kind == "BOOLEAN":
            word = f"lower({text})"
            return f"CASE WHEN {word} IN ('true', '1') THEN true WHEN {word} IN ('false', '0') THEN false END"
        if kind == "DOUBLE":
            scale = NANOSECONDS[unit or "ms"] / NANOSECONDS["ms"]
            return f"CASE WHEN {is_one} THEN TRY_CAST({text} AS DOUBLE) * {scale!r} END"
        return f"CASE WHEN {is_one} AND {number} = trunc({number}) THEN TRY_CAST({number} AS {kind}) END"

    def _ns(self, column: Column, number: str, is_one: str, unit: str) -> str:
        factor = NANOSECONDS[unit]
        most = (2**63 - 1) // factor
        value = f"CAST(round({number} * {factor}) AS BIGINT)"
        stored = self._stored.get(column.column)
        if stored and not stored.zoned and self._mapping.zone:
            value = f"TRY_CAST({value}::HUGEINT - {offset_seconds(self._mapping.zone) * 10**9} AS BIGINT)"
        return f"CASE WHEN {is_one} AND {number} BETWEEN -{most} AND {most} THEN {value} END"

    def _iso_ns(self, parts: str) -> str:
        """ISO 8601 down to the nanosecond, which the database's own times of day do not keep."""
        zone = f"{parts}.zone"
        east = (
            f"(CASE left({zone}, 1) WHEN '-' THEN -1 ELSE 1 END * (TRY_CAST(substr({zone}, 2, 2) AS BIGINT) * 3600"
            f" + CASE WHEN length({zone}) > 3 THEN TRY_CAST(right({zone}, 2) AS BIGINT) * 60 ELSE 0 END))"
        )
        default = str(offset_seconds(self._mapping.zone)) if self._mapping.zone else "NULL"
        offset = f"CASE WHEN {zone} = '' THEN {default} WHEN left({zone}, 1) IN ('+', '-') THEN {east} ELSE 0 END"
        seconds = f"epoch_us(TRY_CAST({parts}.day || ' ' || {parts}.clock AS TIMESTAMP)) // 1000000"
        part = f"TRY_CAST(rpad({parts}.part, 9, '0') AS BIGINT)"
        return f"TRY_CAST(({seconds} - ({offset}))::HUGEINT * 1000000000 + {part} AS BIGINT)"

    def _placed(self, name: str) -> str:
        """A boundary on the file's clock: its own time, or a duration after another boundary."""
        if name not in self._times:
            return "0::BIGINT"  # where every duration of the file begins
        place, column = self._times[name]
        if column.add_to is None:
            return f"n{place}"
        return f"TRY_CAST(n{place}::HUGEINT + ({self._placed(column.add_to)})::HUGEINT AS BIGINT)"

    # -- what is refused --------------------------------------------------------------------------------------------

    def _checks(self) -> Iterator[tuple[str, str, str]]:
        """Conditions under which a row is refused, the reason and the value to show, all as SQL; the first counts."""
        yield "fault IS NOT NULL", "fault", "sample"
        for place, column in enumerate(self._mapping.columns):
            at = words(column.column) + ("" if column.column == column.target else f" as {column.target}")
            found = self._time_checks(place, column) if _is_time(column) else self._fact_checks(place, column)
            for condition, why in found:
                value = f"{_shown(f'r{place}')}"
                reason = f"{sql_text(f'column {at}: ')} || {why}"
                yield f"r{place} IS NOT NULL AND ({condition})", reason, value
            if column.target in ("clock", "side"):
                yield f"n{place} IS NULL", sql_text(f"column {at}: not recorded"), "NULL::VARCHAR"
        nothing = " AND ".join(f"t{place} IS NULL" for place, _ in self._times.values())
        if self._mapping.start is None:
            known = ", ".join(self._times)
            yield nothing, sql_text(f"no time is recorded: {known}"), "NULL::VARCHAR"

    def _time_checks(self, place: int, column: Column) -> Iterator[tuple[str, str]]:
        value, wall = f"n{place}", self._mapping.clock_kind == ClockKind.WALL
        if self._unit(column) == ISO:
            yield f"NOT is{place}", "'not an ISO 8601 time'"
            if not self._mapping.zone:
                yield f"d{place}.zone = ''", "'the time has no zone; say source.zone'"
        else:
            yield f"NOT is{place}", "'not a number'"
        yield f"{value} IS NULL", "'the time is out of range; is the unit right?'"
        yield f"{value} < 0", "'negative'"
        if column.add_to is None and wall:
            hint = "'before the year 2000; is the unit right, or does it count from another boundary (add_to)?'"
            yield f"{value} < {_YEAR_2000}", hint
        elif column.add_to or self._mapping.start:
            hint = f"'longer than {_MOST_SECONDS} s; is the unit right, or is it a time of its own?'"
            yield f"{value} > {_MOST_SECONDS * 10**9}", hint
        if column.add_to and column.add_to in self._times:
            base, _ = self._times[column.add_to]
            yield f"t{base} IS NULL", sql_text(f"it counts from {column.add_to}, which the row does not have")
        if column.add_to:
            yield f"t{place} IS NULL", "'the time is out of range'"

    def _fact_checks(self, place: int, column: Column) -> Iterator[tuple[str, str]]:
        text, value, kind = f"r{place}", f"n{place}", FIELDS[column.target]
        if allowed := _WORDS.get(column.target):
            listed = ", ".join(allowed)
            yield (
                f"{text} NOT IN ({', '.join(sql_text(word) for word in allowed)})",
                f"{_shown(text)} || {sql_text(f' is none of {listed}; name it under values.{column.target}')}",
            )
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

    # -- the row ----------------------------------------------------------------------------------------------------

    def _row(self) -> Iterator[str]:
        mapping = self._mapping
        if mapping.start:
            yield f"0::BIGINT AS {mapping.start}_ns"
        for name, (place, _) in self._times.items():
            yield f"t{place} AS {name}_ns"
        for place, column in enumerate(mapping.columns):
            if not _is_time(column):
                yield f"n{place} AS {column.target}"
        if mapping.side:
            yield f"{sql_text(mapping.side)} AS side"
        if mapping.clock:
            yield f"{sql_text(mapping.clock)} AS clock"
        yield f"{sql_text(mapping.clock_kind)} AS clock_kind"
        for name, value in mapping.constants.items():
            yield f"CAST({sql_text(_literal(value))} AS {FIELDS[name]}) AS {name}"


_SPACE = "' ' || chr(9) || chr(10) || chr(13)"


def _is_time(column: Column) -> bool:
    return column.target in TIMES


def _has_parts(column: Column) -> bool:
    return _is_time(column) or FIELDS[column.target] not in ("VARCHAR", "BOOLEAN")


def _literal(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _matches(text: str, pattern: str) -> str:
    return f"regexp_full_match({text}, '{pattern}')"


def _shown(text: str) -> str:
    """A value that may be shown: a number, a time or a short word. Anything else may be what a user wrote."""
    harmless = _matches(text, "[-+0-9.,:eETZ ]{1,40}|[A-Za-z_-]{1,24}")
    return f"CASE WHEN {harmless} THEN {text} ELSE length({text}) || ' characters of text' END"


def _stands_for(word: str, value: str) -> str:
    """Whether a value is what a key of [values] says."""
    if word == _ANY:
        return f"{value} IS NOT NULL"
    number = f"TRY_CAST({value} AS {_DECIMAL})"
    if limits := bounds(word):
        return f"{number} BETWEEN {limits[0]} AND {limits[1]}"
    same = f"{value} = {sql_text(word)}"
    exact = _decimal(word)
    return same if exact is None else f"({same} OR {number} = {exact})"


def bounds(word: str) -> tuple[str, str] | None:
    """The ends of a range such as 400..499, as plain decimals; None where the key is no range."""
    low, dots, high = word.partition("..")
    first, last = _decimal(low), _decimal(high)
    return (first, last) if dots and first is not None and last is not None else None


def _decimal(text: str) -> str | None:
    """A number as SQL can hold it, None for anything else."""
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        return None
    # Beyond that a value of the file is no number to the database either.
    return f"{value:f}" if value.is_finite() and value.adjusted() in _MAGNITUDES else None
