"""llmperf's individual responses: durations and counts of requests in the order of their ends, without times or ids."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources import exact, first_keys
from analyzer.sources.base import Frames
from analyzer.sources.endings import by_status
from analyzer.sources.exact import an_object, count, measured, number, word
from analyzer.sources.listed_objects import objects
from analyzer.sources.opening import open_bytes
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options

CLOCK = "llmperf"
_TOOL = "llmperf"
_KEYS = {"error_code", "ttft_s", "end_to_end_latency_s", "inter_token_latency_s"}
_TIMES = ("inter_token_latency_s", "ttft_s", "end_to_end_latency_s")
_OTHERS = ("request_output_throughput_token_per_s", "number_input_tokens", "number_output_tokens")
_STATISTICS = {f"quantiles_p{level}": f"p{level}" for level in (25, 50, 75, 90, 95, 99)}
_STATISTICS |= {"mean": "mean", "min": "min", "max": "max", "stddev": "std"}
_SUMMARY_BYTES = 1024 * 1024
_AT_ONCE = 2000
_FAR = 0.05


def outcome(code: Any) -> tuple[str, str | None, int | None]:
    """Outcome, error type and HTTP status from a row's error code: None for none, -1 where the client itself failed."""
    if code is None:
        return "ok", None, None
    status = exact.status(code)
    kind = f"HTTP {status}" if status else "exception" if code == -1 else word(code) or "unknown"
    return by_status(status), kind, status


def _differs(told: float | None, made: float) -> bool:
    return told is not None and abs(told - made) > _FAR * abs(made)


def _request(
    row: dict[str, Any], position: int, shared: dict[str, Any], rows: RequestRows, tally: Counter[str]
) -> str | None:
    """Add a request, whose times count from its own start; or why it is none."""
    if not row.keys() >= {"error_code", "ttft_s", "end_to_end_latency_s"}:
        return "it lacks error_code, ttft_s or end_to_end_latency_s"
    ended, kind, status = outcome(row["error_code"])
    first, done = measured(row["ttft_s"]), measured(row["end_to_end_latency_s"])
    if ended == "ok" and done is None:
        return "it has neither a time nor an error"
    made = count(row.get("number_output_tokens"))
    tally["failed"] += ended != "ok"
    tally["empty"] += ended == "ok" and made == 0
    if ended == "ok" and done and made:
        tally["rate"] += _differs(
            number(row.get("request_output_throughput_token_per_s")), made / (done / exact.SECOND)
        )
        if first and made > 1:
            between = (done - first) / exact.SECOND / (made - 1)
            tally["gap"] += _differs(number(row.get("inter_token_latency_s")), between)
    times = {"sent": 0, "first_content": first, "done": done}
    facts = {
        "outcome": ended,
        "error_type": kind,
        "status_code": status,
        "retokenized_input_tokens": count(row.get("number_input_tokens")),
        # Of what failed the tool counts messages and no tokens.
        "retokenized_output_tokens": made if ended == "ok" else None,
        # Every answer is; but where tokens have no time, True would say that none came.
        "streamed": True if first is not None or not made else None,
    }
    rows.add({name: ns for name, ns in times.items() if ns is not None}, shared | facts, (), position)
    return None


def _notes(tally: Counter[str], records: int) -> Iterator[str]:
    """What the file does not show, and where its fields say something else than their names."""
    if not tally["failed"]:
        yield (
            "llmperf loses a request that fails, and what is still under way at the end: this file cannot tell of any,"
            " so that its numbers are of answers only"
        )
    said = {
        "gap": "rows whose inter_token_latency_s is not (end_to_end_latency_s - ttft_s) / (number_output_tokens - 1):"
        " it holds the time to the first token",
        "rate": "rows whose request_output_throughput_token_per_s is not number_output_tokens / end_to_end_latency_s",
        "empty": "rows that ended well without a token",
    }
    for what, sentence in said.items():
        if tally[what]:
            yield f"{sentence}: {tally[what]} of {records}"


def _summary(path: Path) -> dict[str, Any]:
    """The tool's summary of the same run: beside the file, or in the folder `summary` beside its folder."""
    beside = path.with_name(path.name.replace("_individual_responses", "_summary"))
    candidates = [beside] if beside != path else []
    if path.parent.name == "individual":
        candidates.append(path.parent.with_name("summary") / path.name)
    for candidate in candidates:
        if candidate.is_file():
            try:
                with open_bytes(candidate) as stream:
                    return an_object(exact.loaded(stream.read(_SUMMARY_BYTES)))
            except (ValueError, RecursionError, SourceError):
                return {}
    return {}


def _figures(summary: dict[str, Any], point: str | None) -> Iterator[Figure]:
    """Distributions, times in ms, and counts and rates under the tool's own keys. Some are numbers written as text."""
    taken = set()
    for metric in (*_TIMES, *_OTHERS):
        for key, statistic in _STATISTICS.items():
            name = f"results_{metric}_{key}"
            taken.add(name)
            if (value := number(summary.get(name))) is not None:
                shown, unit = (value * 1e3, "ms") if metric in _TIMES else (value, None)
                yield Figure(metric, statistic, shown, unit, load_point=point)
    for name, value in summary.items():
        if name.startswith("results_") and name not in taken:
            yield Figure(word(name.removeprefix("results_")) or "(none)", "value", number(value), load_point=point)


class _LLMPerf:
    name = "llmperf"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A list of objects with the tool's durations in seconds."""
        return first_keys.of_list(head) >= _KEYS

    def explain(self, head: bytes, path: Path) -> str | None:
        """Why the tool's summary holds no requests."""
        if not first_keys.of_object(head) >= {"results_ttft_s_mean", "results_end_to_end_latency_s_mean"}:
            return None
        name = path.name.replace("_summary", "_individual_responses")
        if name != path.name and path.with_name(name).is_file():
            return f"it holds llmperf's own figures and no requests; they are read with {name} beside it"
        return (
            "it holds llmperf's figures and no requests, and percentiles cannot be merged or averaged: give the"
            " ..._individual_responses.json that --results-dir saves beside it"
        )

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, request by request; the tool's figures where its summary lies beside the file.

        SourceError when the JSON is torn.
        """
        summary = _summary(path)
        version = word(summary.get("version"))
        yield Frames(tool=f"{_TOOL} {version}" if version else _TOOL)
        streams = count(summary.get("num_concurrent_requests"))
        point = None if streams is None else f"concurrency {streams}"
        shared = {"load_point": point, "model": word(summary.get("model"))}
        rows = RequestRows(options, clock=CLOCK, clock_kind="duration")
        tally: Counter[str] = Counter()
        for position, listed in enumerate(objects(path, options), 1):
            fault = listed.fault if listed.row is None else _request(listed.row, position, shared, rows, tally)
            if fault:
                rows.refuse(listed.place, fault, listed.sample)
            if len(rows) >= _AT_ONCE:
                yield rows.flush(bytes_read=listed.bytes_read)
        notes = [*_notes(tally, rows.records)]
        told = count(summary.get("results_num_requests_started"))
        if summary and told != rows.records:
            notes.append(
                f"the summary beside the file is of {told} requests, not of these, and its figures were not taken"
            )
        own = figures(_TOOL, version, _figures(summary if told == rows.records else {}, point), options)
        yield rows.flush(*own, notes=notes, bytes_read=path.stat().st_size)


SOURCE = _LLMPerf()
