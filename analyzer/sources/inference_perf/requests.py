"""One request of inference-perf: from an element of its per-request report to a row."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.sources import exact
from analyzer.sources.endings import by_status
from analyzer.sources.exact import a_list, an_object, count, measured, word
from analyzer.sources.inference_perf import answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.inference_perf.stages import Points
    from analyzer.sources.request_rows import RequestRows

_STATUS = re.compile(r"HTTP Error (\d{3})")


@dataclass(slots=True)
class Tally:
    """What is to be said of the requests of a file, counted."""

    counts: Counter[str] = field(default_factory=Counter)

    def notes(self) -> Iterator[str]:
        """One sentence each."""
        said = {
            "partial": "failed requests that had begun to answer, of which the tool keeps no time and no token",
            "untold": "answers whose times may be those of any line of the stream, as older versions stamp them: their"
            " content has none here",
            "unstamped": "answers with tokens of which the tool stamped none, such as calls of tools",
            "reasoning": "answers that began with reasoning, of which the tool stamped none, without a first content",
            "error": "answers that told an error inside of the stream, and that the tool counts as successes",
            "truncated": "answers that stopped without an end, and that the tool counts as successes",
            "retried": "requests that were sent more than once, with the times of every try together",
        }
        for what, sentence in said.items():
            if number := self.counts[what]:
                yield f"{sentence}: {number}"


def outcome(error: Any) -> tuple[str, str | None, int | None]:
    """Outcome, error type and HTTP status from the error that the tool noted, None for none."""
    if error is None:
        return "ok", None, None
    error = an_object(error)
    kind, message = word(error.get("error_type")) or "unknown", str(error.get("error_msg"))
    found = _STATUS.match(kind)
    status = exact.status(found[1]) if found else None
    if status is not None:
        return by_status(status), kind, status
    if "Timeout" in kind or "timed out" in message:
        return "timeout", kind, status
    if "Cancelled" in kind:
        return "cancelled", kind, status
    if kind in ("ClientPayloadError", "IncompleteReadError", "StreamInterruptedError") and "not complete" in message:
        return "truncated", kind, status
    return "error", kind, status


def into(row: dict[str, Any], position: int, points: Points, rows: RequestRows, tally: Tally) -> str | None:
    """Add a request; or why it is none."""
    start = measured(row.get("start_time"))
    if start is None:
        return "the request has no start time"
    info = an_object(row.get("info"))
    # Older versions have these fields in info itself.
    told = an_object(info.get("response_metrics")) if "response_metrics" in info else info
    text = row.get("response") or an_object(info.get("extra_info")).get("raw_response")
    text = text if isinstance(text, str) else ""
    ended, kind, status = outcome(row.get("error"))
    if ended == "ok" and (fault := answers.stream_fault(text)):
        tally.counts[fault] += 1
        ended, kind = fault, f"{fault} in the stream" if fault == "error" else None
    elif ended != "ok":
        tally.counts["partial"] += answers.has_content(text) and not told.get("chunk_times")
    seen = answers.heard(told, text)
    tally.counts[seen.fault or ""] += row.get("error") is None
    tally.counts["retried"] += bool(count(info.get("retries_attempted")))
    times = {"sent": start, **(seen.times or _computed(row, start))}
    if (done := measured(row.get("end_time"))) is not None:
        times["done"] = done
    facts = {"load_point": points.of(start), "outcome": ended, "error_type": kind, "status_code": status}
    facts |= _facts(row, info, told, text, seen)
    rows.add(times, facts, seen.chunks, position)
    return None


def _facts(
    row: dict[str, Any], info: dict[str, Any], told: dict[str, Any], text: str, seen: answers.Heard
) -> dict[str, Any]:
    asked = _asked(row.get("request"))
    usage = answers.usage_of(told)
    given = count(
        an_object(an_object(info.get("request_metrics")).get("text")).get("input_tokens", info.get("input_tokens"))
    )
    failed, made = row.get("error") is not None, count(told.get("output_tokens"))
    # A failed request says 0 tokens, which nobody counted; so does an answer whose content the tool cannot read.
    uncounted = failed or (made == 0 and seen.fault is not None)
    return {
        **usage,
        "retokenized_input_tokens": None if failed or given == usage["input_tokens"] else given,
        "retokenized_output_tokens": None if uncounted else made,
        # Not True where the messages were not observed: that would say that none of them had content.
        "streamed": True if seen.stream else False if asked.get("stream") is False else None,
        "model": word(asked.get("model")),
        "tenant": word(an_object(info.get("labels")).get("tenant")),
        "response_id": word(info.get("server_request_id")) or word(answers.response_id(told, text)),
        "stop_reason": word(answers.stop_reason(text)),
    }


def _asked(request: Any) -> dict[str, Any]:
    """The request's body, which is kept as text."""
    try:
        return an_object(exact.loaded(request)) if isinstance(request, str) else {}
    except (ValueError, RecursionError):
        return {}


def _computed(row: dict[str, Any], start: int) -> dict[str, int]:
    """First and last content from the tool's own numbers of the request, where the report leaves out the rest."""
    computed = an_object(row.get("computed_metrics"))
    first = measured(computed.get("time_to_first_token"))
    gaps = a_list(computed.get("inter_token_latencies"))
    if row.get("info") is not None or first is None:
        return {}
    times = {"first_content": start + first}
    if gaps and all(exact.is_number(gap) for gap in gaps):
        last = exact.nanoseconds(computed["time_to_first_token"] + sum(gaps, Decimal(0)))
        times |= {"last_content": start + last} if last is not None else {}
    return times
