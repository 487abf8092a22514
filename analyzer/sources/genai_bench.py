"""genai-bench's results of one scenario and concurrency: durations in seconds or milliseconds, no times of day."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources import exact, first_keys
from analyzer.sources.base import Frames
from analyzer.sources.endings import by_status
from analyzer.sources.exact import an_object, count, is_number, measured, number, word
from analyzer.sources.listed_objects import torn
from analyzer.sources.opening import open_bytes, open_counted
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options

CLOCK = "genai-bench"
_TOOL = "genai-bench"
_KNOWN_VERSION = "0.0.5"
_ROWS, _WHOLE_RUN = "individual_request_metrics", "aggregated_metrics"
_UNITS = {"s": exact.SECOND, "ms": exact.MILLISECOND}
_TIMES = ("ttft", "tpot", "e2e_latency", "output_latency")
_STATISTICS = {"stddev": "std"}
_METADATA_BYTES = 1024 * 1024
_AT_ONCE = 2000
# The client puts a status of its own on what never had one.
_MADE_UP = (
    ("Connection error", "error", "connection"),
    ("Request timed out", "timeout", "timeout"),
    ("Response ended prematurely", "truncated", "broken stream"),
    ("Connection broken", "truncated", "broken stream"),
)
_WARMUP = re.compile(r"--warmup-ratio[ =]([0-9.]+)")
_COOLDOWN = re.compile(r"--cooldown-ratio[ =]([0-9.]+)")


def outcome(code: Any, message: Any) -> tuple[str, str | None, int | None]:
    """Outcome, error type and HTTP status of a failed request, of which the file has a code and a text."""
    text = message if isinstance(message, str) else ""
    for words, ended, what in _MADE_UP:
        if words in text[:200]:
            return ("timeout", "timeout", None) if "timed out" in text else (ended, what, None)
    status = exact.status(code)
    kind = f"HTTP {status}" if status else "unknown"
    return by_status(status), kind, status


def load_point(run: dict[str, Any]) -> str | None:
    """The operating point in words: the scenario, and how many requests at once or in a batch."""
    scenario = word(run.get("scenario"))
    by_batch = run.get("iteration_type") == "batch_size"
    level = number(run.get("batch_size" if by_batch else "num_concurrency"))
    words = []
    if level is not None and run.get("total_arrivals") is not None:
        words = [f"{level:g}/s"]
    elif level is not None:
        words = [f"{'batch size' if by_batch else 'concurrency'} {level:g}"]
    return " ".join([scenario, *words] if scenario else words) or None


def _request(row: dict[str, Any], unit: int, shared: dict[str, Any], rows: RequestRows, tally: Counter[str]) -> None:
    """One request; times count from its own start."""
    position = rows.records + 1
    if row.get("error_code"):
        ended, kind, status = outcome(row["error_code"], row.get("error_message"))
        rows.add({"sent": 0}, shared | {"outcome": ended, "error_type": kind, "status_code": status}, (), position)
        return
    done = measured(row.get("e2e_latency"), unit)
    if done is None:
        rows.refuse(f"request {position}", "it has neither a time nor an error", ", ".join(sorted(row))[:120])
        return
    first, made = measured(row.get("ttft"), unit), count(row.get("num_output_tokens"))
    # Without a first token the tool takes the end for it; of an answer that is no text it sets all of the output to 0.
    if first is not None and first >= done:
        first = None
    no_text = first is None and not made and row.get("output_latency") == 0
    tally["no first"] += first is None and not no_text
    tally["empty"] += made == 0 and not no_text
    reasoning = count(row.get("num_reasoning_tokens"))
    total = count(row.get("total_tokens"))
    given = count(row.get("num_input_tokens"))
    if reasoning and None not in (total, given, made) and total == (given or 0) + (made or 0) + reasoning:
        tally["twice"] += 1
    speed = number(row.get("output_inference_speed"))
    tally["fast"] += bool(speed and speed > 500)  # noqa: PLR2004 (half of where the tool cuts)
    times = {"sent": 0, "done": done} | ({"first_content": first} if first is not None else {})
    facts = {
        "outcome": "ok",
        "input_tokens": given,
        "output_tokens": None if no_text else made,
        "reasoning_tokens": None if no_text else reasoning,
        "streamed": False if no_text else True if first is not None else None,
    }
    rows.add(times, shared | facts, (), position)


def _notes(run: dict[str, Any], tally: Counter[str], records: int) -> Iterator[str]:
    """What a reader of the tool's own numbers would not see."""
    told, failed = count(run.get("num_requests")), count(run.get("num_error_requests"))
    if told is not None and told != records:
        yield f"the tool counts {told} requests and its file holds {records}"
    rate = number(run.get("error_rate"))
    if told and failed is not None and rate is not None and abs(rate - failed / told) > 1e-6:  # noqa: PLR2004 (rounding)
        yield f"its error_rate says {rate:g}, which it takes before it counts: {failed} of {told} requests failed"
    said = {
        "no first": "answers without a first token of their own, for which the tool took the end, or 0",
        "empty": "answers without a token, which count as successes",
        "twice": "rows whose total_tokens add reasoning to an output that holds it, as the tokens here do not",
        "fast": "answers at more than 500 tokens/s (those above 1000 the tool leaves out without a count)",
    }
    for what, sentence in said.items():
        if tally[what]:
            yield f"{sentence}: {tally[what]}"


def _figures(run: dict[str, Any], per_ms: float, point: str | None) -> Iterator[Figure]:
    """The tool's distributions, times in ms, and its counts and rates under its own keys."""
    for metric, statistics in an_object(run.get("stats")).items():
        is_time = metric in _TIMES
        for key, value in an_object(statistics).items():
            if (found := number(value)) is not None:
                shown = found / per_ms if is_time else found
                names = word(metric) or "(none)", _STATISTICS.get(key) or word(key) or "(none)"
                yield Figure(*names, shown, "ms" if is_time else None, load_point=point)
    yield Figure("duration", "value", number(run.get("run_duration")), "s", "setting", point)
    for key, value in run.items():
        if is_number(value) and key != "run_duration":
            yield Figure(word(key) or "(none)", "value", number(value), load_point=point)
    for code, times in an_object(run.get("error_codes_frequency")).items():
        yield Figure(f"error_codes_frequency {word(code)}", "value", number(times), load_point=point)


def _metadata(path: Path) -> dict[str, Any]:
    """What the tool was told, from the file that it writes beside its results; empty where there is none."""
    beside = path.with_name("experiment_metadata.json")
    if not beside.is_file():
        return {}
    try:
        with open_bytes(beside) as stream:
            return an_object(exact.loaded(stream.read(_METADATA_BYTES)))
    except (ValueError, RecursionError, SourceError):
        return {}


def _left_out(metadata: dict[str, Any], which: re.Pattern[str], key: str, records: int) -> int:
    """How many requests at an end of the run the tool leaves out of its figures."""
    told = which.search(str(metadata.get("cmd")))
    ratio = number(metadata.get(key)) or number(told[1] if told else None)
    return int(records * ratio) if ratio and 0 < ratio < 1 else 0


class _GenaiBench:
    name = "genai_bench"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """An object of figures of a run, and of its requests."""
        return first_keys.of_object(head) >= {_WHOLE_RUN, _ROWS}

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why another file of the tool holds no requests."""
        keys = first_keys.of_object(head)
        if _WHOLE_RUN in keys:
            return (
                "it holds genai-bench's figures and no requests (individual_request_metrics), which percentiles are"
                " made of: give the file that the tool writes into its experiment folder"
            )
        if keys >= {"benchmark_version", "traffic_scenario"}:
            return "it holds what genai-bench was told to do, which is read with the results beside it"
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, request by request. SourceError when the JSON is torn, or its unit of time unknown."""
        import ijson

        metadata = _metadata(path)
        version = word(metadata.get("benchmark_version"))
        yield Frames(tool=f"{_TOOL} {version}" if version else _TOOL)
        try:
            with open_bytes(path) as stream:
                unit_name = next(ijson.items(stream, "_time_unit"), "s")
            with open_bytes(path) as stream:
                run = an_object(next(ijson.items(stream, _WHOLE_RUN), None))
            if unit_name not in _UNITS:
                raise SourceError(f"{path} has times in {str(unit_name)[:40]!r}", "its _time_unit must be s or ms")
            yield from self._rows(path, options, run, unit_name, metadata)
        except (ijson.JSONError, ArithmeticError) as fault:
            # Its first line: the others show what stands there.
            raise torn(path, str(fault).split("\n", 1)[0]) from fault

    def _rows(
        self, path: Path, options: Options, run: dict[str, Any], unit_name: str, metadata: dict[str, Any]
    ) -> Iterator[Frames]:
        import ijson

        version = word(metadata.get("benchmark_version"))
        point, expected = load_point(run), count(run.get("num_requests")) or 0
        warm = _left_out(metadata, _WARMUP, "warmup_ratio", expected)
        cold = _left_out(metadata, _COOLDOWN, "cooldown_ratio", expected)
        shared: dict[str, Any] = {"load_point": point, "model": word(metadata.get("api_model_name"))}
        rows = RequestRows(options, clock=CLOCK, clock_kind="duration")
        tally: Counter[str] = Counter()
        stream, counted = open_counted(path)
        with stream:
            for row in ijson.items(stream, f"{_ROWS}.item"):
                if not isinstance(row, dict):
                    rows.refuse(f"request {rows.records + 1}", "it is no object", type(row).__name__)
                    continue
                phase = "warmup" if rows.records < warm else None
                _request(row, _UNITS[unit_name], {**shared, "phase": phase}, rows, tally)
                if len(rows) >= _AT_ONCE:
                    yield rows.flush(bytes_read=counted())
        notes = [*_notes(run, tally, rows.records)]
        if cold:
            notes.append(
                f"requests at the end that the tool leaves out as cool-down, and that are counted here: {cold}"
            )
        if version and version != _KNOWN_VERSION:
            notes.append(f"written by version {version}, and read as {_KNOWN_VERSION} writes")
        own = figures(_TOOL, version, _figures(run, 1.0 if unit_name == "ms" else 1e-3, point), options)
        yield rows.flush(*own, notes=notes, bytes_read=path.stat().st_size)


SOURCE = _GenaiBench()
