"""The requests of a run as its tool saves them: lists side by side, of which entry i is about request i."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST_S = 10**9
_MOST = 2**63 - 1


class OddRunError(ValueError):
    """An object that cannot be taken as a run; the message says why."""


class OddRowError(ValueError):
    """A request that cannot be taken; the message says why."""


def whole(value: Any) -> int | None:
    """A count; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None


def number(value: Any) -> float | None:
    """A finite number that is not negative; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= _MOST:
        return None
    return value


def seconds(value: Any) -> Decimal | None:
    """Seconds exactly as written, which a double's shortest digits are; None if they are none."""
    if (found := number(value)) is None or found >= _LONGEST_S:
        return None
    return Decimal(repr(found))


def ns(time: Decimal) -> int:
    """Seconds in nanoseconds."""
    return int((time * 1_000_000_000).to_integral_value())


class Lists:
    """The lists of one run, of which entry i is about request i. OddRunError when they are not of one length."""

    def __init__(self, run: dict[str, Any], names: Iterable[str]) -> None:
        self._lists: dict[str, list[Any]] = {}
        for name in names:
            found = run.get(name)
            if isinstance(found, list):
                self._lists[name] = found
            elif found is not None:
                raise OddRunError(f"{name} is no list")
        lengths = {name: len(found) for name, found in self._lists.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{count} {name}" for name, count in lengths.items())
            raise OddRunError(f"its lists are not of one length, so that no value can be given to a request: {told}")
        self.size = next(iter(lengths.values()), 0)

    def __contains__(self, name: str) -> bool:
        return name in self._lists

    def at(self, name: str, i: int) -> Any:
        """The value of request i, None without such a list."""
        return self._lists[name][i] if name in self._lists else None

    def count(self, name: str, i: int) -> int | None:
        """The same, as a count."""
        return whole(self.at(name, i))

    def text(self, name: str, i: int) -> str:
        """The same, as a text; empty when it is none."""
        value = self.at(name, i)
        return value if isinstance(value, str) else ""

    def time(self, name: str, i: int) -> Decimal | None:
        """The same, as seconds: 0 and null stand for what was not measured. OddRowError when they are none."""
        value = self.at(name, i)
        if value is None:
            return None
        if (found := seconds(value)) is None:
            raise OddRowError(f"{name} holds what is no time")
        return found or None

    def gaps(self, name: str, i: int) -> list[Any]:
        """The same, as a list of gaps; empty when there is none."""
        value = self.at(name, i)
        if not isinstance(value, list | None):
            raise OddRowError(f"{name} holds what is no list")
        return value or []


def message_times(first: Decimal, gaps: list[Any]) -> list[Decimal]:
    """When each message came, from the first and the gaps after it. OddRowError when a gap is no time."""
    times = [first]
    for gap in gaps:
        if (found := seconds(gap)) is None:
            raise OddRowError("a gap between its messages is no time")
        times.append(times[-1] + found)
    return times
