"""GuideLLM's benchmarks.json (0.6 and 0.8): one row per request, unix seconds of the load generator's clock."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.base import Frames
from analyzer.sources.endings import by_status
from analyzer.sources.opening import open_bytes
from analyzer.sources.refusing import shown
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options

CLOCK = "guidellm"
# Strategies with a schedule of their own, which do not wait for answers.
_OPEN_LOOP = {"constant", "poisson", "async", "replay"}
_STATUS = re.compile(r"'(\d{3}) ")


def _ns(seconds: Any) -> int | None:
    """Unix seconds, as an exact decimal, in nanoseconds; None for null and for 0, which stands for never."""
    if not isinstance(seconds, (Decimal, int)) or isinstance(seconds, bool) or seconds <= 0:
        return None
    return int((Decimal(seconds) * 1_000_000_000).to_integral_value())


def _count(value: Any) -> int | None:
    return int(value) if isinstance(value, (int, Decimal)) and not isinstance(value, bool) and value >= 0 else None


def load_point(strategy: dict[str, Any]) -> str:
    """An operating point in words: its strategy with its rate or concurrency."""
    kind = str(strategy.get("type_") or strategy.get("kind") or "unknown")
    if (rate := strategy.get("rate")) is not None:
        return f"{kind} {float(rate):.4g}/s"
    if (streams := strategy.get("streams")) is not None:
        return f"{kind} {streams}"
    return kind


def outcome(group: str, error: str | None, sent: bool) -> tuple[str, str | None, int | None]:
    """Outcome, error type and HTTP status of a row from the list it stands in and the error's text."""
    if group == "successful":
        return "ok", None, None
    if group == "incomplete":
        return ("cancelled" if sent else "unsent"), None, None
    text = error or ""
    kind = text.split("(", 1)[0].strip() or "unknown"
    found = _STATUS.search(text)
    status = int(found.group(1)) if found else None
    if status is not None:
        return by_status(status), kind, status
    if "Timeout" in kind:
        return "timeout", kind, status
    if kind == "RemoteProtocolError" and "without sending complete message" in text:
        return "truncated", kind, status
    return "error", kind, status


def _boundaries(row: dict[str, Any], open_loop: bool, ended_well: bool) -> dict[str, int]:
    """Boundary -> ns, for those that the row has."""
    timings = (row.get("info") or {}).get("timings") or row.get("timings") or {}
    end = timings.get("request_end") if ended_well else timings.get("request_end") or timings.get("resolve_end")
    found = {
        "scheduled": timings.get("targeted_start") if open_loop or not timings.get("request_start") else None,
        "sent": timings.get("request_start"),
        "first_content": timings.get("first_token_iteration"),
        "first_answer": timings.get("first_output_token_iteration"),
        "last_content": timings.get("last_token_iteration"),
        "done": end if timings.get("request_start") else None,
    }
    return {name: ns for name, seconds in found.items() if (ns := _ns(seconds)) is not None}


def _request(
    row: dict[str, Any], group: str, position: int, shared: dict[str, Any], open_loop: bool, rows: RequestRows
) -> None:
    """One request: its boundaries and what is known of it."""
    request = row.get("request_id") or (row.get("info") or {}).get("request_id")
    times = _boundaries(row, open_loop, group == "successful")
    if not request or not times:
        rows.refuse(f"{group} {position}", "the row has no request id or no time", shown(str(request)))
        return
    ended, error_type, status = outcome(group, (row.get("info") or {}).get("error"), "sent" in times)
    given, made = row.get("input_metrics") or {}, row.get("output_metrics") or {}
    facts = {
        "request": str(request),
        "outcome": ended,
        "error_type": error_type,
        "status_code": status,
        "response_id": row.get("response_id"),
        "input_tokens": _count(given.get("total_tokens")),
        "output_tokens": _count(made.get("total_tokens")),
        "reasoning_tokens": _count(made.get("reasoning_tokens")),
        "cached_tokens": _count(given.get("cached_tokens")),
        "streamed": True if "first_content" in times else None,
    }
    rows.add(times, shared | facts)


def _warmup_end(benchmark: dict[str, Any]) -> int | None:
    start, length = _ns(benchmark.get("start_time")), benchmark.get("warmup_duration")
    return start + (_ns(length) or 0) if start and length else None


_PERCENTILES = {
    "p001": "p0.1", "p01": "p1", "p05": "p5", "p10": "p10", "p25": "p25", "p50": "p50", "p75": "p75", "p90": "p90",
    "p95": "p95", "p99": "p99", "p999": "p99.9",
}  # fmt: skip
# Its numbers that a formula is known of, with what makes milliseconds of them.
_PRINTED = {
    "time_to_first_token_ms": 1, "request_latency": 1000, "time_per_output_token_ms": 1, "inter_token_latency_ms": 1,
}  # fmt: skip


def _figures(benchmark: dict[str, Any], point: str) -> Iterator[Figure]:
    """What the tool prints of the answered requests, times in ms, and how many requests it counts."""
    for metric, factor in _PRINTED.items():
        of = ((benchmark.get("metrics") or {}).get(metric) or {}).get("successful") or {}
        if not of.get("count"):
            continue
        told = {"mean": of.get("mean"), "std": of.get("std_dev"), "min": of.get("min"), "max": of.get("max")}
        told |= {name: (of.get("percentiles") or {}).get(key) for key, name in _PERCENTILES.items()}
        for statistic, value in told.items():
            if value is not None:
                yield Figure(metric, statistic, float(value) * factor, "ms", load_point=point)
        yield Figure(metric, "count", int(of["count"]), load_point=point)
    made = (benchmark.get("scheduler_metrics") or {}).get("requests_made") or {}
    for status in ("successful", "errored", "incomplete"):
        yield Figure(f"requests_made.{status}", "value", _count(made.get(status)), "requests", load_point=point)


def _benchmark(benchmark: dict[str, Any], index: int, seen: set[str], version: str | None, options: Options) -> Frames:
    config = benchmark.get("config") or {}
    strategy = config.get("strategy") or {}
    point = load_point(strategy)
    point = f"{point} #{index + 1}" if point in seen else point
    seen.add(point)
    open_loop = str(strategy.get("type_") or strategy.get("kind")) in _OPEN_LOOP
    shared: dict[str, Any] = {"load_point": point, "model": (config.get("backend") or {}).get("model")}
    warm = _warmup_end(benchmark)
    rows = RequestRows(options, clock=CLOCK)
    for group in ("successful", "errored", "incomplete"):
        for position, row in enumerate((benchmark.get("requests") or {}).get(group) or (), 1):
            start = _ns(((row.get("info") or {}).get("timings") or {}).get("request_start"))
            phase = "warmup" if warm and start and start < warm else None
            _request(row, group, position, {**shared, "phase": phase}, open_loop, rows)
    created = _count((benchmark.get("scheduler_state") or {}).get("created_requests"))
    notes: tuple[str, ...] = ()
    if created is not None and created != rows.records:
        notes = (f"{point}: the tool counts {created} requests and its file holds {rows.records}",)
    return rows.flush(*figures("GuideLLM", version, _figures(benchmark, point), options), notes=notes)


class _GuideLLM:
    name = "guidellm"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A JSON object whose metadata names a GuideLLM version."""
        return head.lstrip().startswith(b"{") and b'"guidellm_version"' in head

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, one benchmark of the file at a time. SourceError when the JSON is torn."""
        import ijson

        seen: set[str] = set()
        try:
            with open_bytes(path) as stream:
                version = next(ijson.items(stream, "metadata.guidellm_version"), None)
            yield Frames(tool=f"guidellm {version}")
            with open_bytes(path) as stream:
                for index, benchmark in enumerate(ijson.items(stream, "benchmarks.item")):
                    yield _benchmark(benchmark, index, seen, version and str(version), options)
        except ijson.JSONError as fault:
            raise SourceError(
                f"{path} is not whole JSON: {fault}", "copy the file again, or let the tool finish"
            ) from fault


SOURCE = _GuideLLM()
