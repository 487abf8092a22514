"""Ids, times, kinds and attributes of spans, whatever format wrote them."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any

KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")
TRACE_DIGITS, SPAN_DIGITS = 32, 16
_HEX = re.compile(r"[0-9a-fA-F]+")
_WHOLE = re.compile(r"-?[0-9]{1,40}")
_MAX_NS = 2**63 - 1
_MAX_COUNT = 2**32 - 1
_SAMPLE = 40


class OddRecordError(ValueError):
    """A record that cannot be a span; the message says why."""


def _no_id(value: str, digits: int) -> OddRecordError:
    return OddRecordError(f"{value[:_SAMPLE]!r} is no id of {digits} hex digits")


def identifier(value: Any, digits: int) -> str | None:
    """A trace id (32 digits) or span id (16) as lower-case hex; None when missing or all zero.

    Hex, base64 of its bytes, or base64 of its hex text: their lengths tell them apart. Both alphabets of base64 count,
    and its padding must be there: what has lost it could as well be hex that has lost digits.
    """
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise OddRecordError(f"an id must be text, found {type(value).__name__}")
    if len(value) != digits and value.endswith("="):
        try:
            raw = base64.b64decode(value.replace("-", "+").replace("_", "/"), validate=True)
        except (binascii.Error, ValueError) as fault:
            raise _no_id(value, digits) from fault
        text = raw.hex() if len(raw) * 2 == digits else raw.decode("latin-1")
    else:
        text = value
    if len(text) != digits or not _HEX.fullmatch(text):
        raise _no_id(value, digits)
    return None if set(text) == {"0"} else text.lower()


def padded_identifier(value: Any, digits: int) -> str | None:
    """An id of which zeros in front may have been left out."""
    return identifier(value.rjust(digits, "0") if isinstance(value, str) and value else value, digits)


def ids(trace_id: str | None, span_id: str | None) -> tuple[str, str]:
    """The two ids without which a span is none."""
    if trace_id is None or span_id is None:
        raise OddRecordError("the span has no trace id or no span id")
    return trace_id, span_id


def whole_number(value: Any) -> int | None:
    """A whole number as a number or as digits, exactly; None for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value)
    return None


def nanoseconds(value: Any, factor: int = 1) -> tuple[int | None, bool]:
    """Unix nanoseconds from a whole number of `factor` ns, and whether it is one that no clock shows.

    Missing and 0 are no time. What is negative or beyond 2^63 is none either, and odd.
    """
    if value is None or value == "":
        return None, False
    number = whole_number(value)
    if number is None:
        what = "nanoseconds" if factor == 1 else "microseconds"
        raise OddRecordError(f"a time must be whole {what}, found {str(value)[:_SAMPLE]!r}")
    number *= factor
    if not 0 <= number <= _MAX_NS:
        return None, True
    return number or None, False


def enum(value: Any, names: tuple[str, ...], prefix: str) -> str:
    """An enum by number or by name; an unknown one stays as it is written."""
    if value is None or value == "":
        return names[0]
    if (number := whole_number(value)) is not None:
        return names[number] if 0 <= number < len(names) else str(number)
    if isinstance(value, float) and value.is_integer():
        return enum(int(value), names, prefix)
    if not isinstance(value, str):
        raise OddRecordError(f"{prefix.rstrip('_').lower()} must be a number or a name, found {type(value).__name__}")
    name = value.removeprefix(prefix).lower()
    return name if name in names else value


def text(value: Any) -> str | None:
    """A text field; None when missing or empty."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise OddRecordError(f"a name must be text, found {type(value).__name__}")
    return value


def optional_text(value: Any) -> str | None:
    """A text without which a span is one all the same; None when it is missing, empty or no text."""
    return value if isinstance(value, str) and value else None


def optional_count(value: Any) -> int | None:
    """A count, or a set of bits, of 32 bits; None when it is missing, 0 or no such number."""
    number = int(value) if isinstance(value, float) and value.is_integer() else whole_number(value)
    return number if number is not None and 0 < number <= _MAX_COUNT else None


def number(value: float) -> float | str:
    """A double as JSON can carry it: NaN and the infinities as text."""
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def plain(value: Any) -> Any:
    """A JSON value in which no number is without end."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


def as_json(value: Any) -> str:
    """Compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def as_text(value: Any) -> str | None:
    """A value as one reads it: text as it is, anything else as JSON."""
    return value if value is None or isinstance(value, str) else as_json(value)


def loaded(source: str | bytes) -> Any:
    """The JSON value of a text; half a character, which JSON can escape and no text can hold, becomes "?".

    ValueError when it is none, RecursionError when it is nested too deep.
    """
    value = json.loads(source)
    marks: tuple[Any, Any] = ("\\ud", "\\uD") if isinstance(source, str) else (b"\\ud", b"\\uD")
    if any(mark in source for mark in marks):
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value
