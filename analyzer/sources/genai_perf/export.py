"""GenAI-Perf's profile_export.json, as Perf Analyzer writes it: every response of every request, in unix ns."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.genai_perf.responses import Message, UnknownFormError, messages
from analyzer.sources.opening import open_bytes
from analyzer.sources.refusing import outline
from analyzer.sources.request_rows import RequestRows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options
    from analyzer.sources.request_rows import Chunk

CLOCK = "genai-perf"
_REQUESTS = "experiments.item.requests.item"
_AT_ONCE = 2000
_LATEST_NS = 8 * 10**18
_SUMMARY = (
    "it is GenAI-Perf's summary, which holds no requests: those are in profile_export.json beside it,"
    " which Perf Analyzer writes (--profile-export-file)"
)


def load_point(mode: str | None, level: Any) -> str | None:
    """An experiment's load in words."""
    if mode is None or not isinstance(level, (int, Decimal)):
        return mode
    return f"concurrency {level}" if mode == "concurrency" else f"{float(level):.4g}/s"


def _ns(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < _LATEST_NS else None


def _count(usage: dict[str, Any], *keys: str) -> int | None:
    found: Any = usage
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def _inputs(request: dict[str, Any]) -> tuple[str | None, int | None, bool | None]:
    """Model, input tokens where their ids were sent, and whether a stream was asked for."""
    inputs = request.get("request_inputs")
    if not isinstance(inputs, dict):
        return None, None, None
    ids = inputs.get("input_ids")
    count = len(ids) if isinstance(ids, list) else None
    try:
        payload = json.loads(inputs.get("payload") or "{}")
    except (TypeError, ValueError, RecursionError):
        return None, count, None
    if not isinstance(payload, dict):
        return None, count, None
    model, stream = payload.get("model"), payload.get("stream")
    return model if isinstance(model, str) and model else None, count, stream if isinstance(stream, bool) else None


def _outcome(heard: list[Message], *, speaks_events: bool) -> str | None:
    """How a request ended; None when it was not answered before the file ends."""
    if not heard:
        return None
    if any(message.kind == "error" for message in heard):
        return "error"
    if speaks_events and not any(message.finished for message in heard):
        return "truncated"
    return "ok"


def _facts(request: dict[str, Any], heard: list[Message], streamed: bool | None, outcome: str | None) -> dict[str, Any]:
    # Counts on the way are none of the whole.
    counts = [message.usage for message in heard if message.usage and outcome == "ok"]
    usage = counts[-1] if counts else {}
    model, given, _ = _inputs(request)
    made = [message.tokens for message in heard if message.tokens]
    input_tokens = _count(usage, "prompt_tokens")
    output_tokens = _count(usage, "completion_tokens")
    return {
        "model": model,
        "streamed": streamed,
        "outcome": outcome,
        "error_type": "error in the stream" if outcome == "error" else None,
        "input_tokens": given if input_tokens is None else input_tokens,
        "output_tokens": (sum(made) if made and outcome == "ok" else None) if output_tokens is None else output_tokens,
        "reasoning_tokens": _count(usage, "completion_tokens_details", "reasoning_tokens"),
        "cached_tokens": _count(usage, "prompt_tokens_details", "cached_tokens"),
    }


def _times(sent: int, done: int | None, chunks: list[Chunk]) -> dict[str, int]:
    content = [time_ns for time_ns, kind, _ in chunks if kind in ("text", "reasoning", "tool")]
    answer = [time_ns for time_ns, kind, _ in chunks if kind in ("text", "tool")]
    found = {
        "sent": sent,
        "first_content": min(content, default=None),
        "first_answer": min(answer, default=None),
        "last_content": max(content, default=None),
        "done": done,
    }
    return {name: ns for name, ns in found.items() if ns is not None}


def _request_into(request: Any, point: str | None, rows: RequestRows) -> None:
    """One request: its times, its messages, and what is known of it; or why it is refused."""
    place = f"request {rows.records + 1}"
    sent = _ns(request.get("timestamp")) if isinstance(request, dict) else None
    if sent is None:
        rows.refuse(place, "no time at which the request was sent", outline(json.dumps(request, default=str)))
        return
    times, outputs = request.get("response_timestamps"), request.get("response_outputs")
    if (
        not isinstance(times, list)
        or not isinstance(outputs, list)
        or len(times) != len(outputs)
        or any(_ns(time_ns) is None for time_ns in times)
        or not all(isinstance(output, dict) for output in outputs)
    ):
        rows.refuse(place, "not as many times as responses", outline(json.dumps(request, default=str)))
        return
    try:
        heard = list(messages(request, times))
    except UnknownFormError:
        rows.refuse(place, "a response has no form that is known here", outline(json.dumps(request, default=str)))
        return
    spoken = [message for _, message in heard]
    in_one = any(message.kind == "whole" for message in spoken)
    outcome = _outcome(spoken, speaks_events=any("response" in output for output in outputs))
    chunks: list[Chunk] = [
        (time_ns, message.kind, message.tokens)
        for time_ns, message in heard
        if message.kind not in ("done", "whole", "error")
    ]
    asked = _inputs(request)[2]
    streamed = False if in_one else True if len(chunks) > 1 else asked
    facts = _facts(request, spoken, streamed, outcome) | {"load_point": point}
    # When a stream broke off is not told: only what came before is.
    rows.add(_times(sent, max(times) if outcome == "ok" else None, chunks), facts, chunks)


class _GenAIPerf:
    name = "genai_perf"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A JSON object of experiments with requests as Perf Analyzer exports them."""
        asked = b'"request_inputs"' in head or b'"window_boundaries"' in head
        return head.lstrip().startswith(b"{") and b'"experiments"' in head and b'"experiment"' in head and asked

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why GenAI-Perf's summary is not read."""
        figures = b'"request_throughput"' in head and b'"input_config"' in head
        return _SUMMARY if figures and b"aiperf" not in head and b"perf_analyzer" in head else None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, request by request. SourceError when the JSON is torn."""
        import ijson

        version = mode = level = None
        rows = RequestRows(options, clock=CLOCK)
        request: Any = None
        try:
            with open_bytes(path) as stream:
                for prefix, event, value in ijson.parse(stream):
                    if prefix == "experiments.item" and event == "start_map":
                        mode = level = None
                    elif prefix == "experiments.item.experiment.mode":
                        mode = str(value)
                    elif prefix == "experiments.item.experiment.value":
                        level = value
                    elif prefix == "version":
                        version = value
                    elif prefix.startswith(_REQUESTS):
                        begins = request is None
                        request = ijson.ObjectBuilder() if begins else request
                        request.event(event, value)
                        whole = event.startswith("end") or (begins and not event.startswith("start"))
                        if prefix == _REQUESTS and whole:
                            _request_into(request.value, load_point(mode, level), rows)
                            request = None
                            if len(rows) >= _AT_ONCE:
                                yield rows.flush()
        except ijson.JSONError as fault:
            raise SourceError(
                f"{path} is not whole JSON: {fault}", "copy the file again, or let the tool finish"
            ) from fault
        named = isinstance(version, str) and version
        yield rows.flush(tool=f"perf_analyzer {version}" if named else "perf_analyzer")


SOURCE = _GenAIPerf()
