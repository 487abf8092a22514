"""Reports of inference-perf beside the one of requests: the requests' stages, and the tool's own figures."""

from __future__ import annotations

import bisect
import re
from array import array
from dataclasses import dataclass, field
from glob import escape
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources import exact
from analyzer.sources.exact import an_object, count, nanoseconds, number, word
from analyzer.sources.opening import open_bytes
from analyzer.sources.tool_figures import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NO_STAGES = "the file's requests name no stage and no report of one lies beside it: they are taken for one load point"
_NOT_SHOWN = "which stage a request is of is not shown"
REQUESTS, REPORT = "per_request_lifecycle_metrics", "_lifecycle_metrics"
_STAGE = re.compile(r"stage_(\d{1,9})")
_MOST_BYTES = 8 * 1024 * 1024
# Times in the reports are differences of doubles.
_NEAR_NS = 2_000
_FAR = 0.05
_TIMES = (
    "request_latency", "normalized_time_per_output_token", "time_per_output_token", "time_to_first_token",
    "inter_token_latency",
)  # fmt: skip
_LIMITS = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "ntpot": "ntpot", "request_latency": "e2e"}


@dataclass(frozen=True, slots=True)
class Report:
    """A report of a stage, or (number None) of the whole run."""

    stage: int | None
    told: dict[str, Any]

    @property
    def load(self) -> dict[str, Any]:
        """What the tool says of the load it made."""
        return an_object(self.told.get("load_summary"))

    def counted(self, group: str) -> int | None:
        """How many requests are in `successes` or `failures`."""
        return count(an_object(self.told.get(group)).get("count"))

    @property
    def point(self) -> str | None:
        """The operating point in words, with the rate that was reached and not the one that was asked for."""
        if self.stage is None:
            return None
        if (streams := count(self.load.get("concurrency"))) is not None:
            return f"stage {self.stage}, concurrency {streams}"
        reached = number(self.load.get("achieved_rate"))
        return f"stage {self.stage}" + (f", {reached:.4g}/s" if reached else "")


@dataclass(slots=True)
class Requests:
    """When each request of a file began and ended, ns, and which failed."""

    starts: array[int] = field(default_factory=lambda: array("q"))
    ends: array[int] = field(default_factory=lambda: array("q"))
    failed: array[int] = field(default_factory=lambda: array("b"))

    def add(self, row: dict[str, Any]) -> None:
        """Take in one request; one without times belongs to no stage that can be shown."""
        start, end = exact.measured(row.get("start_time")), exact.measured(row.get("end_time"))
        if start is not None and end is not None:
            self.starts.append(start)
            self.ends.append(end)
            self.failed.append(row.get("error") is not None)


@dataclass(frozen=True, slots=True)
class Points:
    """The operating point of a request, by the time of its start."""

    begins: tuple[int, ...] = ()
    points: tuple[str | None, ...] = ()

    def of(self, start: int | None) -> str | None:
        """The point of what began then; None where no stage was shown."""
        place = bisect.bisect_right(self.begins, start) if start is not None else 0
        return self.points[place - 1] if place else None


def beside(path: Path) -> tuple[list[Report], str, list[str]]:
    """The reports beside a report of requests, the configuration's text, and what is to be said of those unread."""
    before, found, after = path.name.partition(REQUESTS)
    if not found:
        return [], "", []
    reports, notes = [], []
    for file in sorted(path.parent.glob(f"{escape(before)}*{REPORT}{escape(after)}")):
        name = file.name.removeprefix(before).removesuffix(REPORT + after)
        stage = _STAGE.fullmatch(name)
        if not stage and name != "summary":
            continue
        try:
            told = an_object(exact.loaded(_start(file)))
        except (ValueError, RecursionError, SourceError):
            told = {}
        if told:
            reports.append(Report(int(stage[1]) if stage else None, told))
        else:
            notes.append(f"{file.name} beside it is no whole report and was not read")
    config = path.with_name(f"{before}config.yaml")
    reports.sort(key=lambda report: -1 if report.stage is None else report.stage)
    return reports, _start(config).decode("utf-8", "replace") if config.is_file() else "", notes


def _start(path: Path) -> bytes:
    with open_bytes(path) as stream:
        return stream.read(_MOST_BYTES)


def placed(reports: list[Report], requests: Requests) -> tuple[Points, list[Report], list[str]]:
    """Which stage each request is of, which reports are of these requests, and what is to be said of the rest.

    Counts and times must show it: a report of other requests gives no figure, and one of a stage no stage.
    """
    import numpy as np

    starts, ends = np.array(requests.starts, np.int64), np.array(requests.ends, np.int64)
    failed = np.array(requests.failed, np.uint8)
    order = np.argsort(starts, kind="stable")

    def shows(report: Report, part: Any) -> bool:
        counts = (len(part) - int(failed[part].sum()), int(failed[part].sum()))
        told = (report.counted("successes"), report.counted("failures"))
        return len(part) > 0 and told == counts and _lasted(report, starts[part], ends[part])

    kept, notes = [], []
    stages = [report for report in reports if report.stage is not None]
    for whole in reports:
        if whole.stage is None and shows(whole, order):
            kept.append(whole)
        elif whole.stage is None:
            notes.append("the summary beside the file is of other requests, and its figures were not taken")
    begins, done = [], 0
    for stage in stages:
        size = sum(stage.counted(group) or 0 for group in ("successes", "failures"))
        part, done = order[done : done + size], done + size
        if not shows(stage, part):
            return Points(), kept, [*notes, f"{_NOT_SHOWN}: counts and times of stage {stage.stage} are of others"]
        begins.append(int(starts[part[0]]))
    if not stages:
        return Points(), kept, [*notes, NO_STAGES]
    if done != len(order):
        return Points(), kept, [*notes, f"{_NOT_SHOWN}: the reports of stages hold {done}, the file {len(order)}"]
    return Points(tuple(begins), tuple(stage.point for stage in stages)), [*kept, *stages], notes


def _lasted(stage: Report, starts: Any, ends: Any) -> bool:
    """Whether requests took the time that a stage's report says; it must say one."""
    told = (
        (stage.told.get("benchmark_time_seconds"), int(ends.max() - starts.min())),
        (stage.load.get("send_duration"), int(starts.max() - starts.min())),
    )
    known = [(ns, took) for seconds, took in told if (ns := nanoseconds(seconds)) is not None]
    return bool(known) and all(abs(ns - took) <= _NEAR_NS for ns, took in known)


def figures_of(report: Report) -> Iterator[Figure]:
    """What a report says of its requests: distributions in ms, counts and rates under the tool's own keys."""
    good, point = an_object(report.told.get("successes")), report.point
    yield Figure("duration", "value", number(report.told.get("benchmark_time_seconds")), "s", "setting", point)
    latency = an_object(good.get("latency"))
    groups = {name: an_object(latency.get(name)) for name in _TIMES} | {
        "schedule_delay": an_object(report.load.get("schedule_delay"))
    }
    for metric, statistics in groups.items():
        for key, value in statistics.items():
            if (seconds := number(value)) is not None:
                name = "p50" if key == "median" else word(key) or "(none)"
                yield Figure(metric, name, seconds * 1e3, "ms", load_point=point)
    for group in ("successes", "failures"):
        yield Figure(f"{group}.count", "value", report.counted(group), load_point=point)
    yield Figure("requested_rate", "value", number(report.load.get("requested_rate")), "/s", "setting", point)
    own = {
        "achieved_rate": report.load.get("achieved_rate"),
        **an_object(good.get("throughput")),
        **an_object(good.get("goodput_metrics")),
    }
    for key, value in own.items():
        yield Figure(word(key) or "(none)", "value", number(value), load_point=point)


def remarks_of(report: Report) -> Iterator[str]:
    """What a reader of the tool's report would not see: the rate that was missed, failures outside of its goodput."""
    asked, reached = number(report.load.get("requested_rate")), number(report.load.get("achieved_rate"))
    if asked and reached and abs(reached / asked - 1) > _FAR:
        yield f"stage {report.stage} sent {reached:.4g}/s, {100 * reached / asked:.0f} % of the {asked:g}/s asked for"
    goodput = an_object(an_object(report.told.get("successes")).get("goodput_metrics"))
    share, good = number(goodput.get("goodput_percentage")), count(goodput.get("good_requests"))
    failed, answered = report.counted("failures"), report.counted("successes")
    if share is not None and good is not None and failed and answered:
        where = "the whole run" if report.stage is None else f"stage {report.stage}"
        of_all = 100 * good / (failed + answered)
        yield f"the tool's goodput of {share:.1f} % in {where} is of successes, and {of_all:.1f} % of all requests"


def settings_of(config: str) -> tuple[list[Figure], list[str]]:
    """Limits of goodput from the text of config.yaml, in ms, and what its settings change in the tool's figures."""
    told = _scalars(config)
    found = []
    for key, name in _LIMITS.items():
        seconds = number(told.get(("report", "goodput", "constraints", key)))
        found.append(Figure(f"limit {name}", "value", None if seconds is None else seconds * 1e3, "ms", "setting"))
    notes = []
    if told.get(("report", "request_lifecycle", "use_server_output_tokens")) == "true":
        notes = ["its figures per token are by the server's tokens, as it was told (use_server_output_tokens)"]
    return found, notes


def _scalars(config: str) -> dict[tuple[str, ...], str]:
    """The scalars of a YAML document by the keys above them; items of lists are passed over."""
    found, above = {}, list[tuple[int, str]]()
    for line in config.splitlines():
        indent = len(line) - len(line.lstrip(" "))
        key, colon, value = line.strip().partition(":")
        if not colon or key.startswith(("-", "#")):
            continue
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, key))
        if value.strip():
            found[tuple(name for _, name in above)] = value.strip()
    return found
