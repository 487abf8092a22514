"""MLPerf LoadGen's own figures: its detail log, or its summary where there is no detail log beside it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import HEAD_BYTES, Frames
from analyzer.sources.loadgen_files import beside, entries, has_trace, is_detail, is_number, load_point, told
from analyzer.sources.opening import head, lines
from analyzer.sources.refusing import outline, refused
from analyzer.sources.tool_figures import Figure, figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options

TOOL = "MLPerf LoadGen"
_NS = 1_000_000
_SUMMARY = b"MLPerf Results Summary"
_METRIC = {"first_token": "first_token_latency", "time_per_output_token": "time_to_output_token"}
# Keys such as result_first_token_99.90_percentile_latency_ns, result_min_latency_ns, result_time_to_output_token_min.
_LEVEL = re.compile(r"result_(?:(first_token|time_per_output_token)_)?(\d+\.\d\d)_percentile_(?:latency_)?ns")
_END = re.compile(r"result_(?:(first_token)_)?(min|max|mean)_latency_ns")
_TOKEN_END = re.compile(r"result_time_to_output_token_(min|max|mean)")
_LIMITS = {"requested_server_ttft_latency": "limit ttft", "requested_server_tpot_latency": "limit tpot"}
_SETTINGS = {
    "effective_scenario": "scenario", "effective_test_mode": "mode", "effective_target_qps": "target qps",
}  # fmt: skip
_COUNTED = {"num_errors", "num_warnings", "early_stopping_met"}
_NO_TOKENS = "Number of tokens need to be greater than 1"
# The summary's lines: figures in ns, rates, and how the run was judged.
_LINE = re.compile(
    r"(?:(?P<level>\d+\.\d\d) percentile|(?P<end>Min|Max|Mean))"
    r"(?P<what> latency| first token latency| time (?:to|per) output token) \(ns\)\s*:\s*(?P<ns>-?[0-9]{1,18})",
    re.IGNORECASE,
)
_PAIR = re.compile(r"\s*(?P<key>[A-Za-z_][A-Za-z_ ]*?)\s*(?P<unit>\(ns\))?\s*:\s*(?P<value>\S+)\s*")
_DIGITS = re.compile(r"[0-9]{1,18}")
_SUMMARY_METRIC = {
    "latency": "latency", "first token latency": "first_token_latency",
    "time to output token": "time_to_output_token", "time per output token": "time_to_output_token",
}  # fmt: skip
_SUMMARY_KEYS = {
    "completed samples per second": "result_completed_samples_per_sec",
    "scheduled samples per second": "result_scheduled_samples_per_sec",
    "completed tokens per second": "result_completed_tokens_per_second",
    "result is": "result_validity",
}
_SUMMARY_LIMITS = {"ttft_latency": "limit ttft", "tpot_latency": "limit tpot"}


def _statistic(level: str) -> str:
    return f"p{float(level):g}"


def _whole(value: Any) -> bool:
    return isinstance(value, int) and is_number(value)


def figure(key: str, value: Any) -> Figure | None:
    """The figure that a line of the detail log states; None when it states none, or not as a number."""
    if key in _LIMITS:
        return Figure(_LIMITS[key], "value", value / _NS, "ms", "setting") if _whole(value) and value > 0 else None
    if key in _SETTINGS:
        return _setting(key, value)
    for form in (_LEVEL, _END, _TOKEN_END):
        if (found := form.fullmatch(key)) is None:
            continue
        if not _whole(value):
            return None
        which, statistic = (*found.groups(),) if form is not _TOKEN_END else ("time_per_output_token", found[1])
        statistic = _statistic(statistic) if form is _LEVEL else statistic
        return Figure(_METRIC.get(which or "", "latency"), statistic, value / _NS, "ms")
    if not key.startswith("result_") and key not in _COUNTED:
        return None
    if isinstance(value, bool):
        value = "true" if value else "false"
    if isinstance(value, str):
        return Figure(key, "value", value) if value in ("true", "false", "VALID", "INVALID") else None
    return Figure(key, "value", value) if is_number(value) else None


def _setting(key: str, value: Any) -> Figure | None:
    if key.endswith("qps"):
        return Figure(_SETTINGS[key], "value", value, "1/s", "setting") if is_number(value) else None
    return Figure(_SETTINGS[key], "value", value[:40], None, "setting") if isinstance(value, str) else None


class _Detail:
    name = "mlperf_detail"

    def sniff(self, head: bytes, path: Path) -> bool:
        """A detail log or a summary of LoadGen beside a trace that holds the samples which it is about."""
        return (is_detail(head) or _SUMMARY in head[:1000]) and has_trace(path)

    def explain(self, head: bytes, path: Path) -> str | None:
        """Why a file that LoadGen wrote is not read by itself."""
        if is_detail(head) or _SUMMARY in head[:1000]:
            return (
                "it holds LoadGen's own figures, and no trace of their samples is beside it; "
                "run with LogSettings.enable_trace and keep mlperf_log_trace.json in the same folder"
            )
        if b"encountered during test." in head[:1000] and "summary" in path.name:
            return "it is LoadGen's summary of a run that checked accuracy, which states no figure"
        if b'"seq_id"' in head[:1000] and b'"qsl_idx"' in head[:1000]:
            return _of_answers(path)
        if head.split() == [b"[", b"]"] and beside(path, "accuracy") == path:
            return _of_answers(path)
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `tool_figure`: times in ms, counts and rates under the tool's own keys."""
        if is_detail(head(path, HEAD_BYTES)):
            yield self._detail(path, options)
        else:
            yield self._summary(path, options)

    def _detail(self, path: Path, options: Options) -> Frames:
        found = list(entries(path, options.max_line_bytes))
        run = told(found)
        stated = [
            one._replace(load_point=run.load_point)
            for entry in found
            if entry.fault is None and (one := figure(entry.key, entry.value)) is not None
        ]
        faults = [(f"line {entry.line}", entry.fault, entry.sample) for entry in found if entry.fault is not None]
        short = sum(entry.key == "error_runtime" and entry.value == _NO_TOKENS for entry in found)
        return Frames(
            (*figures(TOOL, run.version, stated, options), *refused(options.label, faults)),
            records=len(found),
            set_aside=len(found) - len(stated) - len(faults),
            tool=f"mlperf_loadgen {run.version}" if run.version else "mlperf_loadgen",
            notes=(_short(short),) if short else (),
        )

    def _summary(self, path: Path, options: Options) -> Frames:
        rows = list(_lines(path, options))
        texts = [text for _, text, fault in rows if fault is None]
        faults = [(f"line {line}", fault, outline(text)) for line, text, fault in rows if fault is not None]
        stated = [] if beside(path, "detail") else _stated(texts)
        return Frames(
            (*figures(TOOL, None, stated, options), *refused(options.label, faults)),
            records=len(rows),
            set_aside=len(rows) - len(stated) - len(faults),
            tool="mlperf_loadgen",
        )


def _of_answers(path: Path) -> str:
    if has_trace(path):
        return "it holds LoadGen's answers without times; their token counts are read with the trace beside it"
    return (
        "it holds LoadGen's answers without times; they stand in mlperf_log_trace.json, "
        "which LoadGen writes with LogSettings.enable_trace"
    )


def _short(count: int) -> str:
    return (
        f"{count} samples had no more than one token: the tool's time per output token of such a sample is below zero,"
        " and is among the values of its percentiles"
    )


def _lines(path: Path, options: Options) -> Iterator[tuple[int, str, str | None]]:
    for block in lines(path, options.max_line_bytes):
        yield from ((position, raw.decode("utf-8", "replace"), reason) for position, reason, raw in block.broken)
        table = block.table
        for position, text in zip(table["position"].to_pylist(), table["line"].to_pylist(), strict=True):
            yield position, text, None


def _stated(texts: list[str]) -> list[Figure]:
    """The figures of a summary's lines."""
    pairs = {pair["key"].lower(): pair["value"] for text in texts if (pair := _PAIR.fullmatch(text))}
    qps = pairs.get("target_qps", "")
    point = load_point(pairs.get("scenario"), float(qps) if _is_number(qps) else None, pairs.get("mode"))
    stated: dict[tuple[str, str], Figure] = {}
    for text in texts:
        if (one := _of_line(text)) is not None:
            stated.setdefault((one.metric, one.statistic), one._replace(load_point=point))
    return list(stated.values())


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _of_line(text: str) -> Figure | None:
    if (found := _LINE.fullmatch(text.strip())) is not None:
        statistic = _statistic(found["level"]) if found["level"] else found["end"].lower()
        return Figure(_SUMMARY_METRIC[found["what"].strip().lower()], statistic, int(found["ns"]) / _NS, "ms")
    if (pair := _PAIR.fullmatch(text)) is None:
        return None
    key, value = pair["key"].lower(), pair["value"]
    if key in _SUMMARY_LIMITS and pair["unit"]:
        limit = int(value) / _NS if _DIGITS.fullmatch(value) else None
        return Figure(_SUMMARY_LIMITS[key], "value", limit, "ms", "setting") if limit else None
    if key == "target_qps" and _is_number(value):
        return Figure("target qps", "value", float(value), "1/s", "setting")
    if key in ("scenario", "mode"):
        return Figure(key, "value", value, None, "setting")
    if key not in _SUMMARY_KEYS:
        return None
    if key == "result is":
        return Figure(_SUMMARY_KEYS[key], "value", value) if value in ("VALID", "INVALID") else None
    return Figure(_SUMMARY_KEYS[key], "value", float(value)) if _is_number(value) else None


SOURCE = _Detail()
