"""What a load generator says of its run as a whole: the operating point, and its own figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.sources.bench_lists import number, whole
from analyzer.sources.tool_figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STATISTIC = re.compile(r"(mean|median|std|p\d+(?:\.\d+)?)_(\w+)_ms")


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


class Points:
    """Names of operating points, each once in a file: a second run at one is a point of its own."""

    def __init__(self) -> None:
        self._seen: dict[str, int] = {}

    def name(self, point: str) -> str:
        """The point's name, with a number behind it if it was there before."""
        times = self._seen[point] = self._seen.get(point, 0) + 1
        return point if times == 1 else f"{point} #{times}"
