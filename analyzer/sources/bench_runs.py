"""Runs as load generators of serving engines save them: one JSON object a run, its requests as lists side by side."""

from __future__ import annotations

import json
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.errors import SourceError
from analyzer.sources.documents import WHOLE, Pieces
from analyzer.sources.opening import open_bytes, open_counted
from analyzer.sources.refusing import outline
from analyzer.sources.span_values import loaded
from analyzer.sources.tool_figures import Figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options
    from analyzer.sources.request_rows import RequestRows

_BLOCK = 1024 * 1024
_KEY = re.compile(rb'"(\w+)"\s*:')
_STATISTIC = re.compile(r"(mean|median|std|p\d+(?:\.\d+)?)_(\w+)_ms")
_LONGEST_S = 10**9
_MOST = 2**63 - 1
# Rows are handed on when so many messages have come together.
_MESSAGES_AT_ONCE = 100_000


class OddRunError(ValueError):
    """An object that cannot be taken as a run; the message says why."""


class OddRowError(ValueError):
    """A request that cannot be taken; the message says why."""


def keys(head: bytes) -> set[bytes]:
    """The keys in the first bytes of a file that begins as an object; none of any other."""
    return set(_KEY.findall(head)) if head.lstrip().startswith(b"{") else set()


def holds(path: Path, key: str) -> bool:
    """Whether a key stands anywhere in a file; in a text it would stand with its quotation marks escaped."""
    wanted = re.compile(rb'"' + key.encode() + rb'"\s*:')
    left = b""
    with open_bytes(path) as stream:
        while block := stream.read(_BLOCK):
            if wanted.search(left + block):
                return True
            left = block[-64:]
    return False


# -- values ---------------------------------------------------------------------------------------------------------


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


# -- what the tool says of itself -----------------------------------------------------------------------------------


def load_point(rate: Any, cap: Any) -> str:
    """An operating point in words, from a rate (a number, a word, or without end) and a limit of requests in flight."""
    limit = whole(cap)
    if (found := number(rate)) is not None:
        return f"{found:.10g}/s" + (f", at most {limit} at once" if limit else "")
    if isinstance(rate, str) and rate not in ("inf", ""):
        return rate[:40] + (f", at most {limit} at once" if limit else "")
    return f"concurrency {limit}" if limit else "all at once"


def statistics(run: dict[str, Any], metrics: Iterable[str], point: str) -> Iterator[Figure]:
    """The summary's figures of these metrics, ms.

    Where nothing was measured these tools print the mean of a lone 0: such a metric has no figures.
    """
    wanted = {metric for metric in metrics if number(run.get(f"mean_{metric}_ms"))}
    for key, value in run.items():
        found = _STATISTIC.fullmatch(key)
        if not found or found[2] not in wanted or number(value) is None:
            continue
        statistic = found[1]
        if statistic == "median":
            if f"p50_{found[2]}_ms" in run:
                continue
            statistic = "p50"
        yield Figure(found[2], statistic, value, "ms", "printed", point)


def counts(run: dict[str, Any], units: dict[str, str], point: str) -> Iterator[Figure]:
    """Counts and rates by the tool's own keys, with the unit of each; and the duration that it divides by."""
    for key, unit in units.items():
        if (value := number(run.get(key))) is not None:
            yield Figure(key, "value", value, unit, "printed", point)
    if (value := number(run.get("duration"))) is not None:
        yield Figure("duration", "value", value, "s", "setting", point)


# -- the file -------------------------------------------------------------------------------------------------------


class Document(NamedTuple):
    """A run, or why there is none; `read` tells how much of the file is behind it."""

    place: str
    run: dict[str, Any]
    fault: str | None
    body: bytes
    read: int


def documents(path: Path, options: Options) -> Iterator[Document]:
    """Every JSON object of a file, and what is none."""
    stream, count = open_counted(path)
    with stream:
        for piece in Pieces(stream, frozenset({WHOLE}), options.max_document_bytes, options.max_depth):
            value, fault = None, piece.fault
            if fault is None:
                try:
                    value = loaded(piece.body)
                except (ValueError, RecursionError) as odd:
                    fault = f"not valid JSON: {odd.msg}" if isinstance(odd, json.JSONDecodeError) else "not valid JSON"
            if fault is None and not isinstance(value, dict):
                fault = "not a JSON object"
            yield Document(piece.place, value if isinstance(value, dict) else {}, fault, piece.body, count())


def each_run(
    path: Path, options: Options, rows: RequestRows, take: Callable[[Document], Iterator[Frames]]
) -> Iterator[Frames]:
    """What `take` makes of each run; the others are refused. SourceError when the file holds none that can be read."""
    taken, why = 0, "it is empty"
    for document in documents(path, options):
        fault = document.fault
        if fault is None:
            try:
                yield from take(document)
            except OddRunError as odd:
                fault = str(odd)
        if fault is None:
            taken += 1
        else:
            why = fault
            rows.refuse(document.place, fault, outline(document.body))
    if not taken:
        raise SourceError(f"{path} holds no run that can be read: {why}", "copy the file again, or let the tool finish")
    yield rows.flush()


class Batches:
    """Rows on their way, handed on before their messages are too many to be held."""

    def __init__(self, rows: RequestRows, read: int) -> None:
        self._rows, self._read, self._messages = rows, read, 0

    def after(self, messages: int) -> Iterator[Frames]:
        """Frames, when with this row so many messages have come together."""
        self._messages += messages + 1
        if self._messages >= _MESSAGES_AT_ONCE:
            self._messages = 0
            yield self._rows.flush(bytes_read=self._read)


class Points:
    """Names of operating points, each once in a file: a second run at one is a point of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def name(self, point: str) -> str:
        """The point's name, with a number behind it if it was there before."""
        times = self._seen[point] = self._seen.get(point, 0) + 1
        return point if times == 1 else f"{point} #{times}"
