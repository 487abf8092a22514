"""Times and lengths of a manifest as whole nanoseconds, without passing through a float."""

from __future__ import annotations

import re
from datetime import date
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(\d\d):(\d\d))", re.ASCII)
_NANOSECONDS = re.compile(r"-?\d{1,19}", re.ASCII)
_EPOCH = date(1970, 1, 1).toordinal()
_SECOND = 10**9
_DAY_S = 86_400
_LAST_NS = 2**63 - 1


def to_ns(text: str) -> int:
    """Read an ISO time with a zone, or nanoseconds since 1970 as text, as nanoseconds.

    ValueError carries the rest of the sentence "<field> …" where it is neither.
    """
    found = int(text) if _NANOSECONDS.fullmatch(text) else _iso_to_ns(text)
    if not -_LAST_NS <= found <= _LAST_NS:
        raise ValueError("is out of range; times lie between the years 1678 and 2262")
    return found


def _iso_to_ns(text: str) -> int:
    match = _ISO.fullmatch(text)
    if not match:
        raise ValueError("is no time with a zone such as 2026-11-30T10:00:00Z")
    year, month, day, hour, minute = (int(part) for part in match.groups()[:5])
    second, fraction = int(match[6] or 0), int((match[7] or "").ljust(9, "0"))
    try:
        days = date(year, month, day).toordinal() - _EPOCH
    except ValueError as fault:
        raise ValueError(f"is no date: {fault}") from None
    zone_h, zone_m = int(match[9] or 0), int(match[10] or 0)
    if hour > 23 or minute > 59 or second > 59 or zone_h > 23 or zone_m > 59:  # noqa: PLR2004 (a clock's face)
        raise ValueError("is no time of day (leap seconds are not written)")
    zone = (zone_h * 60 + zone_m) * (-60 if match[8] == "-" else 60)
    seconds = days * _DAY_S + hour * 3600 + minute * 60 + second - zone
    return seconds * _SECOND + fraction


def seconds_to_ns(seconds: float) -> int:
    """Round to whole nanoseconds a number of seconds as it is written in decimal."""
    return int((_exact(seconds) * _SECOND).to_integral_value(ROUND_HALF_EVEN))


def seconds_to_ms(seconds: float) -> float:
    """Convert a number of seconds as it is written in decimal: .0023 s is 2.3 ms."""
    return float(_exact(seconds) * 1000)


def offset_to_ns(offset_ms: float, error_ms: float) -> tuple[int, int]:
    """Return (offset, error) in nanoseconds; the error grows by what rounding the offset has lost."""
    exact = _exact(offset_ms) * 10**6
    offset = exact.to_integral_value(ROUND_HALF_EVEN)
    error = _exact(error_ms) * 10**6 + abs(exact - offset)
    return int(offset), int(error.to_integral_value(ROUND_CEILING))


def _exact(number: float) -> Decimal:
    # repr is the shortest decimal that reads back equal: what the manifest says, not its binary neighbour.
    return Decimal(repr(number))
