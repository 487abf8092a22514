"""Single cells of text as values, in SQL: times to the nanosecond, facts in their types, words of theirs as ours.

What is theirs reaches the SQL as a literal only.
"""

from __future__ import annotations

from decimal import Decimal, InvalidOperation

from analyzer.sources.mapped.model import FIELDS, NANOSECONDS
from analyzer.sources.quoting import sql_text

NUMBER = r"[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
ISO_TIME = (
    r"^([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,]([0-9]{1,9})[0-9]*)?"
    r" ?(Z|z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}|[+-][0-9]{2})?$"
)
_DECIMAL = "DECIMAL(38, 9)"
_MAGNITUDES = range(-9, 28)
_TRACEPARENT = "^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$"
_SPACE = "' ' || chr(9) || chr(10) || chr(13)"
ANY = "*"


def words(name: str, most: int = 60) -> str:
    """A name of theirs for a sentence: in one line, not too long, in quotes."""
    clean = "".join(character if character.isprintable() else " " for character in name)
    return f'"{clean if len(clean) <= most else clean[: most - 1] + "…"}"'


def recorded(cell: str, missing: tuple[str, ...]) -> str:
    """A cell without the space around it; NULL where it holds nothing, or a word that stands for that."""
    nothing = ", ".join(sql_text(word) for word in ("", *missing))
    return f"CASE WHEN trim({cell}, {_SPACE}) NOT IN ({nothing}) THEN trim({cell}, {_SPACE}) END"


def matches(text: str, pattern: str) -> str:
    """Whether a whole text is of a pattern."""
    return f"regexp_full_match({text}, '{pattern}')"


def shown(text: str) -> str:
    """A value as far as it may be shown: a number, a time or a short word. Anything else may be what a user wrote."""
    harmless = matches(text, "[-+0-9.,:eETZ ]{1,40}|[A-Za-z_-]{1,24}")
    return f"CASE WHEN {harmless} THEN {text} ELSE length({text}) || ' characters of text' END"


# -- times ------------------------------------------------------------------------------------------------------------


def number(text: str) -> str:
    """A text as a decimal, exactly; NULL where it is none or has more than 29 digits before the point."""
    return f"TRY_CAST({text} AS {_DECIMAL})"


def ns_of_number(value: str, looks_right: str, unit: str, west_s: int = 0) -> str:
    """A decimal in a unit as ns; NULL where that is out of range. `west_s` are the seconds that its zone lies west."""
    factor = NANOSECONDS[unit]
    most = (2**63 - 1) // factor
    ns = f"CAST(round({value} * {factor}) AS BIGINT)"
    if west_s:
        ns = f"TRY_CAST({ns}::HUGEINT + {west_s * 10**9} AS BIGINT)"
    return f"CASE WHEN {looks_right} AND {value} BETWEEN -{most} AND {most} THEN {ns} END"


def iso_parts(text: str) -> str:
    """ISO 8601 as a struct of texts."""
    return f"regexp_extract({text}, '{ISO_TIME}', ['day', 'clock', 'part', 'zone'])"


def ns_of_iso(parts: str, zone: str | None) -> str:
    """Such a struct as ns since 1970, which the database's own times do not keep; `zone` is for times without one."""
    told = f"{parts}.zone"
    east = (
        f"(CASE left({told}, 1) WHEN '-' THEN -1 ELSE 1 END * (TRY_CAST(substr({told}, 2, 2) AS BIGINT) * 3600"
        f" + CASE WHEN length({told}) > 3 THEN TRY_CAST(right({told}, 2) AS BIGINT) * 60 ELSE 0 END))"
    )
    default = str(offset_seconds(zone)) if zone else "NULL"
    offset = f"CASE WHEN {told} = '' THEN {default} WHEN left({told}, 1) IN ('+', '-') THEN {east} ELSE 0 END"
    seconds = f"epoch_us(TRY_CAST({parts}.day || ' ' || {parts}.clock AS TIMESTAMP)) // 1000000"
    part = f"TRY_CAST(rpad({parts}.part, 9, '0') AS BIGINT)"
    return f"TRY_CAST(({seconds} - ({offset}))::HUGEINT * 1000000000 + {part} AS BIGINT)"


def offset_seconds(zone: str) -> int:
    """UTC or +02:00 in seconds east of Greenwich."""
    if zone == "UTC":
        return 0
    seconds = int(zone[1:3]) * 3600 + int(zone[4:6]) * 60
    return -seconds if zone[0] == "-" else seconds


# -- facts ------------------------------------------------------------------------------------------------------------


def fact(target: str, text: str, value: str, looks_right: str, unit: str | None) -> str:
    """A fact in its type, from its text, that as a decimal, and whether it looks like one; NULL where it is none."""
    kind = FIELDS[target]
    if target == "trace_id":
        return f"coalesce(nullif(regexp_extract(lower({text}), '{_TRACEPARENT}', 1), ''), lower({text}))"
    if kind == "VARCHAR":
        return text
    if kind == "BOOLEAN":
        word = f"lower({text})"
        return f"CASE WHEN {word} IN ('true', '1') THEN true WHEN {word} IN ('false', '0') THEN false END"
    if kind == "DOUBLE":
        scale = NANOSECONDS[unit or "ms"] / NANOSECONDS["ms"]
        return f"CASE WHEN {looks_right} THEN TRY_CAST({text} AS DOUBLE) * {scale!r} END"
    return f"CASE WHEN {looks_right} AND {value} = trunc({value}) THEN TRY_CAST({value} AS {kind}) END"


def in_place_of(value: str, table: tuple[tuple[str, str], ...]) -> str:
    """What stands in place of a value by a table of theirs and ours; the value itself where the table has none."""
    arms = " ".join(
        f"WHEN {_stands_for(word, f'({value})')} THEN {sql_text(ours) if ours else 'NULL'}"
        for word, ours in sorted(table, key=lambda pair: pair[0] == ANY)
    )
    return f"CASE {arms} ELSE {value} END" if arms else value


def _stands_for(word: str, value: str) -> str:
    if word == ANY:
        return f"{value} IS NOT NULL"
    if limits := bounds(word):
        return f"{number(value)} BETWEEN {limits[0]} AND {limits[1]}"
    same = f"{value} = {sql_text(word)}"
    exact = _decimal(word)
    return same if exact is None else f"({same} OR {number(value)} = {exact})"


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
