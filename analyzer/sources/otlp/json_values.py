"""OTLP's JSON values as plain ones: integers beyond 2^53, doubles as numbers or text, nested attributes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.sources.span_values import OddRecordError, number, plain, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable

# A number as JSON writes it, or as JSON's text for a double does.
_DOUBLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WITHOUT_END = {"NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity", "+Infinity": "Infinity"}


def _integer(raw: Any) -> Any:
    if (whole := whole_number(raw)) is not None:
        return whole
    # JavaScript writes 2.0 as 2 and others the other way round; a fraction stays what it is.
    return int(raw) if isinstance(raw, float) and raw.is_integer() else plain(raw)


def _double(raw: Any) -> Any:
    if isinstance(raw, str):
        if raw in _WITHOUT_END:
            return _WITHOUT_END[raw]
        return number(float(raw)) if _DOUBLE.fullmatch(raw) else raw
    if isinstance(raw, (int, float)) and not isinstance(raw, bool):
        try:
            return number(float(raw))
        except OverflowError:
            return raw
    return plain(raw)


def _list(raw: Any) -> list[Any]:
    values = (raw or {}).get("values") or []
    if not isinstance(values, list):
        raise OddRecordError("an attribute's list is none")
    return values


_READ: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(("stringValue", "string_value", "boolValue", "bool_value", "bytesValue", "bytes_value"), plain),
    "intValue": _integer,
    "int_value": _integer,
    "doubleValue": _double,
    "double_value": _double,
    "arrayValue": lambda raw: [any_value(item) for item in _list(raw)],
    "array_value": lambda raw: [any_value(item) for item in _list(raw)],
    "kvlistValue": lambda raw: pairs(_list(raw)),
    "kvlist_value": lambda raw: pairs(_list(raw)),
}


def any_value(value: Any) -> Any:
    """An AnyValue as a JSON value of the same type; NaN and infinities as text, bytes as base64 text."""
    if not value:
        return None
    if not isinstance(value, dict):
        raise OddRecordError("an attribute's value does not say its type")
    # A null says that a field is not there, and what is not known is passed over.
    for kind, raw in value.items():
        if raw is not None and kind in _READ:
            return _READ[kind](raw)
    # Unless there is nothing else: a type of days to come, as it is written.
    return plain(next((raw for raw in value.values() if raw is not None), None))


def pairs(items: Any) -> dict[str, Any]:
    """A list of KeyValues as an object; of a key that stands twice the first counts."""
    if not items:
        return {}
    if not isinstance(items, list):
        raise OddRecordError("attributes are not a list of keys with values")
    found: dict[str, Any] = {}
    for item in items:
        key = item.get("key") if isinstance(item, dict) else item
        if not isinstance(item, dict) or not isinstance(key, str | None):
            raise OddRecordError("an attribute is no key with a value")
        key = key or ""
        if key not in found:
            found[key] = any_value(item.get("value"))
    return found
