"""Rules by which a failed attempt is put into a class: [[failure]] of a rule file."""

from __future__ import annotations

import re
from itertools import product
from typing import TYPE_CHECKING, Any

from analyzer.errors import UsageFault
from analyzer.vocabulary import FailureClass, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_KEYS = {"name", "says", "class", "outcome", "status", "error"}
_FAILURES = (Outcome.REJECTED, Outcome.TIMEOUT, Outcome.CANCELLED, Outcome.ERROR, Outcome.TRUNCATED)
_RANGE = re.compile(r"([1-5]\d\d)(?:-([1-5]\d\d))?")

Row = tuple[str | int | None, ...]


def _fault(origin: str, place: str, what: str) -> UsageFault:
    return UsageFault(f"{origin}: {place} {what}", "docs/rules.md says what a rule holds")


def _several(origin: str, place: str, value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    if not all(isinstance(v, (str, int)) and not isinstance(v, bool) and v != "" for v in values):
        raise _fault(origin, place, "must be a value or a list of values")
    return values


def _statuses(origin: str, place: str, values: Sequence[Any]) -> Iterator[tuple[int, int]]:
    for value in values:
        match = _RANGE.fullmatch(str(value))
        if match is None:
            raise _fault(origin, place, f"is {value!r}: write a status such as 504, or a range such as '500-599'")
        yield int(match[1]), int(match[2] or match[1])


def _one(origin: str, told: Any) -> tuple[str, str, str, list[str], list[tuple[int, int]], list[str]]:
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        raise _fault(origin, "a failure", "has no name")
    here = f"failure {told['name']!r}"
    if strange := sorted(told.keys() - _KEYS):
        raise _fault(origin, here, f"has the unknown key {strange[0]}")
    if told.get("class") not in tuple(FailureClass):
        raise _fault(origin, f"{here}, class", f"is {told.get('class')!r}, which is none of {', '.join(FailureClass)}")
    outcomes = [str(v) for v in _several(origin, f"{here}, outcome", told.get("outcome", []))]
    for outcome in outcomes:
        if outcome not in _FAILURES:
            raise _fault(origin, f"{here}, outcome", f"is {outcome!r}, which is none of {', '.join(_FAILURES)}")
    statuses = list(_statuses(origin, f"{here}, status", _several(origin, f"{here}, status", told.get("status", []))))
    errors = [str(v) for v in _several(origin, f"{here}, error", told.get("error", []))]
    if not (outcomes or statuses or errors):
        raise _fault(origin, here, "fits every failure: name an outcome, a status or an error")
    return told["name"], str(told.get("says", "")), str(told["class"]), outcomes, statuses, errors


def rows(told: Any, origin: str, first: int) -> list[Row]:
    """Rows of `failure_rule`, one per way to fit a rule, numbered from `first`. UsageFault when a rule is not one."""
    if not isinstance(told, list):
        raise _fault(origin, "failure", "must be written as [[failure]]")
    found: list[Row] = []
    for number, one in enumerate(told, start=first):
        name, says, failure_class, outcomes, statuses, errors = _one(origin, one)
        ways = product(outcomes or (None,), statuses or ((None, None),), errors or (None,))
        for outcome, (low, high), error in ways:
            pattern = error and re.sub(r"([\\%_])", r"\\\1", error.lower()).replace("*", "%")
            found.append((number, name, origin, says, failure_class, outcome, low, high, pattern))
    return found
