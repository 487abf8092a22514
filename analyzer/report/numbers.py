"""How a number is written: three significant figures, unit in the cell or the head, never rounded to a lie."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

NOT_REACHED = "not reached"
NONE = "\N{EM DASH}"
_S = 1000.0
# What floating point leaves of a whole.
_NOISE = 1e-12


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant figures, in plain digits."""
    if value == 0:
        return "0"
    rounded = f"{value:.{digits - 1}e}"
    exponent = int(rounded.partition("e")[2])
    return f"{float(rounded):,.{max(digits - 1 - exponent, 0)}f}"


def share(value: float | None, *, sign: bool = True) -> str:
    """A share of 0 to 1 in per cent. Only the whole is 100 %."""
    if value is None:
        return NONE
    if abs(value - 1) < _NOISE:
        return "100 %" if sign else "100"
    digits = 3
    text = significant(value * 100, digits)
    while float(text) >= 100 > value * 100 and digits < 15:  # noqa: PLR2004
        digits += 1
        text = significant(value * 100, digits)
    return f"{text} %" if sign else text


def share_range(low: float | None, high: float | None) -> str:
    """Two ends of a share; one where they are the same."""
    if low is None or high is None or low == high:
        return share(low)
    return f"{share(low, sign=False)} to {share(high)}"


def exact_share(value: float) -> str:
    """A declared share, not rounded."""
    return f"{_plain(Decimal(repr(value)) * 100)} %"


def exact_time(ms: float) -> str:
    """A declared time, not rounded, in its own unit."""
    value = Decimal(repr(ms))
    return f"{_plain(value / 1000)} s" if ms >= _S else f"{_plain(value)} ms"


def count(value: float | None) -> str:
    """A count with thousands apart."""
    return NONE if value is None else f"{int(value):,}"


def rate(value: float | None) -> str:
    """Something per second."""
    return NONE if value is None else f"{significant(value)}/s"


def unit_for(values: list[Any]) -> str:
    """One unit for a table or an axis of times in ms: s from one second on."""
    finite = [value for value in values if isinstance(value, (int, float)) and math.isfinite(value)]
    return "s" if finite and max(finite) >= _S else "ms"


def in_unit(ms: float, unit: str) -> float:
    """A time in ms as a number of `unit`."""
    return ms / _S if unit == "s" else ms


def time(ms: float | None, unit: str | None = None, *, sign: bool = True) -> str:
    """A time, infinity as a value of its own."""
    if ms is None:
        return "unknown"
    if math.isinf(ms):
        return NOT_REACHED
    unit = unit or unit_for([ms])
    text = significant(in_unit(ms, unit))
    return f"{text} {unit}" if sign else text


def time_range(low: float | None, high: float | None) -> str:
    """Two ends of a time, the unit once where both have the same; one where they are the same."""
    if low == high:
        return time(low)
    if low is not None and high is not None and math.isfinite(high) and unit_for([low]) == unit_for([high]):
        return f"{time(low, sign=False)} to {time(high)}"
    return f"{time(low)} to {time(high)}"


def raw(value: Any) -> str:
    """The full value, as text that reads back equal."""
    if value is None:
        return ""
    if isinstance(value, float) and math.isinf(value):
        return "not_reached" if value > 0 else ""
    return repr(value) if isinstance(value, float) else str(value)


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
