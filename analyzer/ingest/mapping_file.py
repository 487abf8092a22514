"""Reading a mapping file: strictly, whole, and with every fault in one sentence."""

from __future__ import annotations

import hashlib
import math
import tomllib
from datetime import date, time
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.errors import UsageFault
from analyzer.manifest import faults
from analyzer.sources.mapped import Column, Mapping
from analyzer.sources.mapped.model import FIELDS, ISO, TIMES, start_of
from analyzer.sources.mapped.values import bounds
from analyzer.vocabulary import Boundary, ClockKind

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "mapping.schema.json"
_MOST_BYTES = 1024 * 1024
_HINT = "docs/mapping.md has an example, and `analyze sources suggest FILE` drafts one"
_OF_THE_FILE = ("side", "clock", "clock_kind", "unit", "zone", "format", "delimiter", "missing", "tool")

Document = dict[str, Any]


def load_mapping(path: str | Path) -> Mapping:
    """The mapping that a TOML file holds. UsageFault says what is wrong with it."""
    content = _content(Path(path))
    document = _document(content, path)
    found = list(_no_values(document, "")) or faults.of(document, SCHEMA) or list(_contradictions(document))
    if found:
        raise UsageFault(f"{path}: {faults.summed_up(found)}", "" if len(found) > 1 else "see docs/mapping.md")
    return _mapping(document, str(path), hashlib.sha256(content).hexdigest())


def _content(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as fault:
        raise UsageFault(f"{path} cannot be read: {getattr(fault, 'strerror', None) or fault}", _HINT) from None
    if len(content) > _MOST_BYTES:
        raise UsageFault(f"{path} is larger than {_MOST_BYTES >> 20} MiB, so it is no mapping", _HINT)
    return content


def _document(content: bytes, path: str | Path) -> Document:
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as fault:
        raise UsageFault(f"{path} is not UTF-8 text: byte {fault.start} is not", "save it as UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as fault:
        raise UsageFault(f"{path} is not TOML: {fault}", _HINT) from None


def _no_values(value: Any, where: str) -> Iterator[str]:
    """What TOML has and a mapping cannot use."""
    if isinstance(value, (date, time)):
        yield f'{where} is a date or a time; write it in ""'
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{where} is no finite number"
    elif isinstance(value, str) and "\x00" in value:
        yield f"{where} holds a NUL"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _no_values(key, f"a key in {where or 'the top'}")
            yield from _no_values(inner, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _no_values(inner, f"{where}[{place}]")


# -- what a schema cannot say -----------------------------------------------------------------------------------------


def _contradictions(document: Document) -> Iterator[str]:
    source, columns = document["source"], _tables(document)
    for field in ("side", "clock"):
        if field not in source and field not in columns:
            yield f"source.{field} is missing"
    for field in columns:
        if field in source:
            yield f"{field} stands under source and under columns; say it once"
    times = {target: column for target, column in columns.items() if target in TIMES}
    if not times:
        yield f"columns names no time: one of {', '.join(TIMES)} is needed"
    yield from _unit_faults(times, source)
    yield from _start_faults(times, source)
    for target in times:
        yield from _base_faults(target, times, start_of(_kind(source), source.get("side")))
    yield from _word_faults(document.get("values", {}), columns)


def _unit_faults(times: Document, source: Document) -> Iterator[str]:
    without = [target for target, column in times.items() if "unit" not in column and "unit" not in source]
    if without:
        listed = " and ".join(filter(None, (", ".join(without[:-1]), without[-1])))
        verb = "has" if len(without) == 1 else "have"
        yield f'{listed} {verb} no unit; say unit = "ns", "us", "ms", "s" or "iso" there, or once under source'
    for target, column in times.items():
        if column.get("unit", source.get("unit")) == ISO and ("add_to" in column or _kind(source) != ClockKind.WALL):
            yield f"columns.{target} is a duration or on no wall clock, and its unit is iso"


def _start_faults(times: Document, source: Document) -> Iterator[str]:
    if _kind(source) != ClockKind.DURATION:
        return
    if "side" not in source:
        yield "source.clock_kind is duration, so source.side must say where a request begins"
        return
    start = start_of(ClockKind.DURATION, source["side"])
    for target in {start, Boundary.SCHEDULED} & times.keys():
        why = f"{start} is 0 by itself" if target == start else f"nothing comes before {start}"
        yield (
            f"columns.{target} is told though source.clock_kind is duration, in which {why}; times that count from one"
            " moment of the run are monotonic"
        )


def _base_faults(target: str, times: Document, start: str | None) -> Iterator[str]:
    """A duration counts from a boundary that is told, and in the end from one that is no duration."""
    seen, at = {target}, target
    while (base := times[at].get("add_to")) is not None:
        if base in seen:
            yield f"columns.{target} counts from itself by add_to"
            return
        if base not in times:
            if base != start and at == target:
                yield f"columns.{target} counts from {base}, which no column tells"
            return
        seen.add(base)
        at = base


def _word_faults(values: Document, columns: Document) -> Iterator[str]:
    for target, table in values.items():
        if target not in columns:
            yield f"values.{target} has words for a field that no column tells"
        for word in table:
            limits = bounds(word)
            if limits and Decimal(limits[0]) > Decimal(limits[1]):
                yield f"values.{target}: the range {word} ends before it begins"


def _kind(source: Document) -> str:
    return str(source.get("clock_kind", ClockKind.WALL))


# -- the mapping itself -----------------------------------------------------------------------------------------------


def _tables(document: Document) -> dict[str, Document]:
    """Every column as a table, also where its name alone stands there."""
    return {
        target: {"column": column} if isinstance(column, str) else column
        for target, column in document["columns"].items()
    }


def _mapping(document: Document, path: str, digest: str) -> Mapping:
    source, values = document["source"], document.get("values", {})
    columns = []
    for target, column in _tables(document).items():
        told = dict(column)
        if target in TIMES:
            told.setdefault("unit", source.get("unit"))
        words = tuple((word, _word(ours)) for word, ours in values.get(target, {}).items())
        columns.append(Column(target=target, words=words, **told))
    return Mapping(
        path=path,
        digest=digest,
        columns=tuple(columns),
        **{name: source[name] for name in _OF_THE_FILE if name in source and name not in ("unit", "missing")},
        missing=tuple(source.get("missing", ())),
        constants={name: value for name, value in source.items() if name in FIELDS and name not in ("side", "clock")},
    )


def _word(ours: Any) -> str:
    return str(ours).lower() if isinstance(ours, bool) else str(ours)
