"""Numbers and words of a tool's JSON on their way into rows: exact and within bounds, or none."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import Any

SECOND, MILLISECOND = 1_000_000_000, 1_000_000
_LARGEST = 2**63 - 1
_LONGEST = 200
_STATUS = re.compile(r"[1-5][0-9]{2}")


def loaded(source: str | bytes) -> Any:
    """The JSON value of a text, with fractions as exact decimals.

    ValueError when it is none, or holds a number that no decimal can be; RecursionError when it is nested too deep.
    """
    try:
        return json.loads(source, parse_float=Decimal)
    except ArithmeticError as fault:
        raise ValueError("a number is out of range") from fault


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number, and a finite one."""
    return isinstance(value, (int, Decimal)) and not isinstance(value, bool)


def nanoseconds(value: Any, unit: int = SECOND) -> int | None:
    """A time or duration of so many units in ns, rounded to one; None for what is no number or not within 63 bits."""
    most = _LARGEST // unit
    if not is_number(value) or not -most < value < most:
        return None
    return int((Decimal(value) * unit).to_integral_value())


def measured(value: Any, unit: int = SECOND) -> int | None:
    """The same of something that takes time: what is not above 0 was not measured."""
    found = nanoseconds(value, unit)
    return found if found is not None and found > 0 else None


def count(value: Any) -> int | None:
    """A count: a whole number from 0 on; None for anything else."""
    if not is_number(value) or not 0 <= value <= _LARGEST or value != int(value):
        return None
    return int(value)


def status(value: Any) -> int | None:
    """An HTTP status, as a number or as its digits."""
    found = count(int(value) if isinstance(value, str) and _STATUS.fullmatch(value) else value)
    return found if found is not None and 100 <= found <= 599 else None  # noqa: PLR2004 (HTTP's own range)


def word(value: Any) -> str | None:
    """A name or an id as the store can hold it; None when it is no text or empty."""
    if not isinstance(value, str) or not value:
        return None
    return value[:_LONGEST].encode("utf-8", "replace").decode("utf-8")


def number(value: Any) -> float | None:
    """A figure, given as a number or as its digits; None for what is none or not finite."""
    try:
        found = float(value) if isinstance(value, (int, float, Decimal, str)) and not isinstance(value, bool) else None
    except (ValueError, OverflowError):
        return None
    return found if found is not None and abs(found) < float("inf") else None


def an_object(value: Any) -> dict[str, Any]:
    """The value where it is an object, an empty one where it is anything else."""
    return value if isinstance(value, dict) else {}


def a_list(value: Any) -> list[Any]:
    """The value where it is a list, an empty one where it is anything else."""
    return value if isinstance(value, list) else []
