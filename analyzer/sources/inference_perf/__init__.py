"""inference-perf's per_request_lifecycle_metrics.json: requests and their messages, seconds of a monotonic clock."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.sources import first_keys
from analyzer.sources.base import Frames
from analyzer.sources.inference_perf import requests, stages
from analyzer.sources.inference_perf.requests import Tally
from analyzer.sources.inference_perf.stages import Points
from analyzer.sources.listed_objects import objects
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import figures

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frame, Options

CLOCK = "inference-perf"
_TOOL = "inference-perf"
_REST = {"info", "request", "response", "computed_metrics", "error"}
# What spans of a trace and the tool's report of sessions have besides a start and an end.
_OTHERS = {"span_id", "spanId", "trace_id", "traceId", "context", "num_events", "duration_sec"}
_SUMMARY = {"load_summary", "successes", "failures"}
_PART = re.compile(r"(?:stage_-?\d+|summary|adapter_.*)(?=_lifecycle_metrics)")
_FRAGMENT = re.compile(rb"^\s*uid: inference-perf-stage-", re.MULTILINE)
_CONFIG = re.compile(rb"^\s*request_lifecycle:", re.MULTILINE)
_AT_ONCE = 500
_ASK = "set report.request_lifecycle.per_request to true and give the per_request_lifecycle_metrics.json that it saves"


class _InferencePerf:
    name = "inference_perf"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A list of objects with a start, an end, and something of a request."""
        keys = first_keys.of_list(head)
        return keys >= {"start_time", "end_time"} and bool(keys & _REST) and not keys & _OTHERS

    def explain(self, head: bytes, path: Path) -> str | None:
        """Why another report of the tool holds no requests, and which of its options saves them."""
        keys = first_keys.of_object(head)
        if keys >= _SUMMARY:
            return _of_figures(path, of_server=b'"queue_len"' in head)
        if keys == {"global", "reports"} and b'"warnings"' in head:
            return "it holds inference-perf's checks of its own reports, and no requests"
        if _FRAGMENT.search(head):
            beside = any(path.parent.glob(f"*{stages.REQUESTS}*"))
            said = "it holds figures of a stage that inference-perf writes for benchmark reports, and no requests"
            return said if beside else f"{said}: {_ASK}"
        if _CONFIG.search(head):
            return "it holds what inference-perf was told to do, which is read with the requests beside it"
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, request by request; the tool's figures where its other reports lie beside the file.

        SourceError when the JSON is torn.
        """
        yield Frames(tool=_TOOL)
        points, frames, notes = _reports(path, options)
        rows = RequestRows(options, clock=CLOCK, clock_kind="monotonic")
        tally = Tally()
        for position, listed in enumerate(objects(path, options), 1):
            fault = listed.fault if listed.row is None else requests.into(listed.row, position, points, rows, tally)
            if fault:
                rows.refuse(listed.place, fault, listed.sample)
            if len(rows) >= _AT_ONCE:
                yield rows.flush(bytes_read=listed.bytes_read)
        yield rows.flush(*frames, notes=[*notes, *tally.notes()], bytes_read=path.stat().st_size)


def _of_figures(path: Path, *, of_server: bool) -> str:
    if of_server:
        return f"it holds what the server told Prometheus while inference-perf ran, and no requests: {_ASK}"
    beside = path.with_name(_PART.sub("per_request", path.name))
    if beside != path and beside.is_file():
        return f"it holds inference-perf's own figures and no requests; they are read with {beside.name} beside it"
    return f"it holds inference-perf's figures and no requests, and percentiles cannot be merged or averaged: {_ASK}"


def _reports(path: Path, options: Options) -> tuple[Points, tuple[Frame, ...], list[str]]:
    """Stages of the requests, the tool's own figures, and what is to be said, from the reports beside the file."""
    found, config, notes = stages.beside(path)
    settings, told = stages.settings_of(config)
    if not found:
        return Points(), figures(_TOOL, None, settings, options), [*notes, stages.NO_STAGES]
    seen = stages.Requests()
    for listed in objects(path, options):
        if listed.row is not None:
            seen.add(listed.row)
    points, kept, why = stages.placed(found, seen)
    own = [figure for report in kept for figure in stages.figures_of(report)]
    remarks = [remark for report in kept for remark in stages.remarks_of(report)]
    return points, figures(_TOOL, None, [*settings, *own], options), [*notes, *told, *why, *remarks]


SOURCE = _InferencePerf()
