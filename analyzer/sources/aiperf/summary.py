"""AIPerf's profile_export_aiperf.json: the figures that it prints, taken beside the requests that they are of."""

from __future__ import annotations

import math
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from analyzer.sources.aiperf import beside, lines
from analyzer.sources.base import Frames
from analyzer.sources.tool_figures import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options

TOOL = "AIPerf"
_MS = {"ms": 1.0, "s": 1e3, "sec": 1e3, "us": 1e-3, "ns": 1e-6}
_OLD_NAMES = {"ttft": "time_to_first_token", "ttst": "time_to_second_token"}
_PRINTED = ("time_to_first_token", "inter_token_latency", "inter_chunk_latency", "request_latency")
_LIMITS = {"time_to_first_token": "ttft", "inter_token_latency": "tpot", "request_latency": "e2e"}
_PERCENTILE = re.compile(r"p\d{1,2}(\.\d+)?")
_WORDS = {"avg": "mean", "min": "min", "max": "max", "std": "std", "sum": "sum", "count": "count"}
# Parts of a figure that are no statistic.
_ABOUT = {"unit", "tag", "header", "count"}

_NO_REQUESTS = (
    "it is AIPerf's summary, which holds no requests: ingest it beside profile_export.jsonl, which AIPerf writes with"
    " --export-level records (the default), or with raw together with every message"
)
_PHASES = "it is AIPerf's list of phases, which holds no requests: those are in profile_export.jsonl beside it"
_TABLE = (
    "it is a summary of AIPerf or GenAI-Perf as a table: the same figures are read from the JSON beside it,"
    " and the requests from AIPerf's profile_export.jsonl or GenAI-Perf's profile_export.json"
)
_PROMPTS = "it holds the prompts that AIPerf sent and no times: those are in profile_export.jsonl beside it"
_SLICES = "it is AIPerf's summary by slices of time: slices are cut anew from profile_export.jsonl beside it"


def _is_summary(head: bytes) -> bool:
    """A JSON object of AIPerf's figures: with its version, or in the older form with the command that made them."""
    if not head.lstrip().startswith(b"{"):
        return False
    if b'"aiperf_version"' in head:
        return b'"timeslices"' not in head
    figure = re.search(rb'"request_(?:throughput|count|latency)"\s*:\s*\{\s*"(?:tag|unit)"', head)
    return figure is not None and (b"aiperf profile" in head or (b'"records"' in head and b'"was_cancelled"' in head))


def _number(value: Any) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return None
    return float(value)


def _metrics(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Figures by name, from the top of the document, or from `records` in the older form."""
    held = document.get("records") if isinstance(document.get("records"), dict) else document
    for name, stats in (held or {}).items():
        if isinstance(stats, dict) and isinstance(stats.get("unit"), str):
            yield _OLD_NAMES.get(name, name), stats


def _printed(name: str, stats: dict[str, Any], settings: beside.Beside) -> Iterator[Figure]:
    """One metric's figures: every statistic of those that `as_printed` makes again, and the value of single numbers."""
    unit, point = stats["unit"], settings.measured_point
    given = {key: number for key, value in stats.items() if (number := _number(value)) is not None}
    if name in _PRINTED and unit in _MS:
        metric = f"{name}, server tokens" if name == "inter_token_latency" and settings.server_counts else name
        for key, value in given.items():
            if key == "count":
                yield Figure(metric, "count", value, None, load_point=point)
            elif key in _WORDS or _PERCENTILE.fullmatch(key):
                yield Figure(metric, _WORDS.get(key, key), value * _MS[unit], "ms", load_point=point)
    elif set(given) - _ABOUT == {"avg"} and unit != "ns":
        # Times of day are left out: as doubles they have lost their last digits.
        yield Figure(name, "value", given["avg"], "s" if unit == "sec" else unit, load_point=point)


def _limits(document: dict[str, Any]) -> dict[str, Any]:
    config = document.get("input_config")
    if not isinstance(config, dict):
        return {}
    found = config.get("slos")
    if found is None and isinstance(config.get("input"), dict):
        found = config["input"].get("goodput")
    return found if isinstance(found, dict) else {}


def _window_s(document: dict[str, Any]) -> float | None:
    """How long AIPerf observed the run, from its start and end."""
    try:
        start, end = (datetime.fromisoformat(document[key]) for key in ("start_time", "end_time"))
        return (end - start).total_seconds()
    except (KeyError, TypeError, ValueError):
        return None


def _value(document: dict[str, Any], name: str) -> float | None:
    return next((_number(stats.get("avg")) for found, stats in _metrics(document) if found == name), None)


def _duration(document: dict[str, Any]) -> tuple[float | None, str | None]:
    """What AIPerf divides its rates by, s, and a note where that is not what it calls the benchmark's duration."""
    length, window = _value(document, "benchmark_duration"), _window_s(document)
    count, rate = _value(document, "request_count"), _value(document, "request_throughput")
    if not (length and window and count and rate) or abs(count / rate - length) <= 1e-3 * length:
        return length, None
    if abs(count / rate - window) > 1e-3 * window:
        return length, f"request_throughput is {count / rate:.3f} s' worth of requests, and no duration told is that"
    return window, f"rates are over the {window:.3f} s observed and not over benchmark_duration, {length:.3f} s"


def _settings(document: dict[str, Any], duration: float | None, point: str | None) -> Iterator[Figure]:
    for name, limit in _limits(document).items():
        if name in _LIMITS:
            yield Figure(f"limit {_LIMITS[name]}", "value", _number(limit), "ms", "setting", point)
        elif isinstance(name, str):
            yield Figure(f"limit {name}", "value", _number(limit), None, "setting", point)
    yield Figure("duration", "value", duration, "s", "setting", point)


class _Summary:
    name = "aiperf_summary"

    def sniff(self, head: bytes, path: Path) -> bool:
        """AIPerf's figures, where the requests that they are of lie in the same folder."""
        return _is_summary(head) and beside.requests_beside(path) is not None

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why a file of AIPerf without requests is not read."""
        if _is_summary(head):
            return _NO_REQUESTS
        if head.startswith(b"Metric,avg,min,max"):
            return _TABLE
        for keys, said in (
            ((b'"phases"', b'"phase_kind"', b'"metrics_json"'), _PHASES),
            ((b'"timeslices"', b'"timeslice_index"'), _SLICES),
            ((b'"data"', b'"session_id"', b'"payloads"'), _PROMPTS),
        ):
            if head.lstrip().startswith(b"{") and all(key in head for key in keys):
                return said
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `tool_figure`; the document is one record. SourceError when the JSON is torn."""
        document = beside.load(path)
        settings = beside.settings(document)
        duration, note = _duration(document)
        told = settings.version
        found = [figure for name, stats in _metrics(document) for figure in _printed(name, stats, settings)]
        found += _settings(document, duration, settings.measured_point)
        yield Frames(
            figures(TOOL, told, found, options),
            records=1,
            tool=f"aiperf {told}" if told else "aiperf",
            notes=(*lines.said_of_version(told), *((note,) if note else ())),
        )


SOURCE = _Summary()
