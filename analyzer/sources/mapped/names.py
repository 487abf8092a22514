"""What columns of foreign files are likely called, and what they may mean; no name is trusted without its values."""

from __future__ import annotations

import re
from typing import NamedTuple

# Where a name is about one thing and no other. What an engine knows as a token a client sees as content.
MOMENTS = {
    "scheduled": ("scheduled", "intended", "intended_start"),
    "sent": ("sent", "send", "send_start", "request_sent", "request_send", "request_start", "submitted", "dispatched"),
    "arrived": ("arrive", "arrived", "arrival", "received", "recv"),
    "admitted": ("admitted", "admit"),
    "rejected": ("rejected",),
    "preempted": ("preempted",),
    "resumed": ("resumed",),
    "first_token": ("first_token",),
    "first_content": ("first_content", "first_chunk"),
    "first_answer": ("first_answer",),
    "last_token": ("last_token",),
    "last_content": ("last_content", "last_chunk"),
    "done": ("done", "end", "ended", "finish", "finished", "complete", "completed", "request_end", "request_finished"),
    "cancel_seen": ("cancel_seen",),
    "cancel_forwarded": ("cancel_forwarded",),
    "dequeued": ("dequeued",),
    "released": ("released",),
}  # fmt: skip
# Names of moments that several boundaries answer to.
UNSURE_MOMENTS = {
    "start": ("sent", "arrived", "started"), "started": ("sent", "started"), "begin": ("sent", "arrived", "started"),
    "created": ("sent", "arrived"), "queued": ("arrived", "admitted"), "enqueued": ("arrived", "admitted"),
    "first": ("first_token", "first_content"), "first_byte": ("first_content",), "ttfb": ("first_content",),
    "last": ("last_token", "last_content"), "credit_issued": ("scheduled",), "": ("sent", "arrived", "done"),
}  # fmt: skip
FIRST_CONTENT_AFTER = ("ttft", "time_to_first_token", "first_token_latency")
# Durations: the boundaries that they may end at.
UNSURE_DURATIONS = {
    **dict.fromkeys(
        ("e2e", "e2e_latency", "e2el", "end_to_end_latency", "latency", "request_latency", "duration", "elapsed",
         "response", "total", "total_latency", "request_duration"),
        ("done", "last_content"),
    ),
    **dict.fromkeys(("queue", "queue_wait", "in_queue", "time_in_queue", "queueing", "wait", "waiting"), ("started",)),
    **dict.fromkeys(("prefill", "prefill_latency"), ("first_token",)),
    "decode": ("last_token",),
}  # fmt: skip
FACTS = {
    "request": ("request", "request_id", "req_id", "reqid", "rid", "x_request_id"),
    "attempt": ("attempt",),
    "retry_of": ("retry_of",),
    "idempotency_key": ("idempotency_key",),
    "input_tokens": ("prompt_tokens", "usage_prompt_tokens"),
    "output_tokens": ("completion_tokens", "usage_completion_tokens"),
    "reasoning_tokens": ("reasoning_tokens",),
    "cached_tokens": ("cached_tokens", "cache_read_tokens", "cached_prompt_tokens"),
    "model": ("model", "model_name", "model_id"),
    "revision": ("revision",),
    "tenant": ("tenant", "tenant_id", "customer", "customer_id", "org", "organization"),
    "route": ("route", "path", "endpoint"),
    "region": ("region",),
    "worker": ("worker", "worker_id", "replica", "pod"),
    "trace_id": ("trace_id", "traceparent"),
    "response_id": ("response_id",),
    "load_point": ("load_point", "concurrency", "request_rate", "rate", "qps"),
    "repeat": ("repeat",),
    "stop_reason": ("stop_reason", "finish_reason"),
    "error_type": ("error_type", "error_code", "error_class", "exception", "fault"),
    "streamed": ("stream", "streamed", "streaming", "is_streaming"),
    "correct": ("correct",),
}  # fmt: skip
_COUNTED = "the server's count, or the client's own count of the text"
UNSURE_FACTS = {
    **dict.fromkeys(("id", "uuid", "guid"), (("request",), "of the request, or of a row, a user or an answer")),
    **dict.fromkeys(
        ("correlation_id", "x_correlation_id", "corr", "session_id", "conversation_id"),
        (("request",), "an id that several requests may share"),
    ),
    **dict.fromkeys(
        ("input_tokens", "num_input_tokens", "input_len", "prompt_len", "input_sequence_length", "isl", "tokens_in"),
        (("input_tokens", "retokenized_input_tokens"), _COUNTED),
    ),
    **dict.fromkeys(
        ("output_tokens", "num_output_tokens", "output_len", "output_sequence_length", "osl", "generated_tokens",
         "tokens_out"),
        (("output_tokens", "retokenized_output_tokens"), _COUNTED),
    ),
    **dict.fromkeys(("user", "user_id", "project"), (("tenant",), "it may stand for the tenant, or be of a person")),
    **dict.fromkeys(("host", "hostname", "node", "server"), (("worker", "clock"), "who worked, or whose clock it is")),
    **dict.fromkeys(
        ("error", "err", "error_message"),
        (("error_type",), "error_type is for few different words, and messages may hold what a user wrote"),
    ),
    **dict.fromkeys(("timeout", "deadline"), (("deadline_ms",), "whether the client gave up then is not told")),
    **dict.fromkeys(("retry", "retries", "try"), (("attempt",), "attempts count from 1; a number of retries does not")),
    **dict.fromkeys(("stage", "scenario", "phase_name"), (("load_point", "phase"), "what it stands for is not told")),
}  # fmt: skip
ENDINGS = ("status", "status_code", "http_status", "http_status_code", "code", "outcome", "result", "state")
SUCCESS = ("success", "succeeded", "successful", "ok", "is_ok", "is_success")
PHASES = ("phase", "benchmark_phase")

OUTCOMES = {
    "ok": ("ok", "success", "successful", "succeeded"),
    "error": ("error", "failed", "failure", "errored"),
    "timeout": ("timeout", "timed_out", "timedout", "deadline_exceeded"),
    "cancelled": ("cancelled", "canceled"),
    "rejected": ("rejected", "rate_limited", "throttled", "overloaded", "shed"),
    "truncated": ("truncated",),
    "unsent": ("unsent",),
    "unresolved": ("unresolved",),
}  # fmt: skip
PHASE_WORDS = {"warmup": ("warmup", "warm_up"), "measured": ("measured", "profiling", "main"), "cold": ("cold",)}

_UNITS = {
    "ns": ("ns", "nano", "nanos", "nanoseconds"),
    "us": ("us", "micros", "microseconds"),
    "ms": ("ms", "millis", "milliseconds"),
    "s": ("s", "sec", "secs", "seconds"),
}
_ORNAMENTS = {"at", "time", "ts", "timestamp", "unix", "epoch", "t", "date", "datetime", "utc", "times"}
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


class Stem(NamedTuple):
    """A name without its unit and, in `bare`, without words that only say that it is a time."""

    full: str
    bare: str
    unit: str | None


def stem(name: str) -> Stem:
    """What is left of the last part of a dotted name: lower case, parts joined by _."""
    above, _, last = name.rpartition(".")
    if last == "value" and above:
        last = above.rpartition(".")[2]  # {"ttft": {"value": 12, "unit": "ms"}}
    parts = [part.lower() for part in _PARTS.findall(last)]
    unit = next((unit for unit, words in _UNITS.items() if len(parts) > 1 and parts[-1] in words), None)
    if unit:
        parts.pop()
    bare = [part for part in parts if part not in _ORNAMENTS]
    return Stem("_".join(parts), "_".join(bare), unit)


def meant(found: Stem, table: dict[str, tuple[str, ...]]) -> str | None:
    """The field that a table knows under this name, None when it knows none."""
    return next((ours for ours, listed in table.items() if {found.full, found.bare} & set(listed)), None)


def word_meant(word: str, table: dict[str, tuple[str, ...]]) -> str | None:
    """The word of ours that one of theirs surely stands for, None when that is not sure."""
    plain = word.strip().lower().replace("-", "_").replace(" ", "_")
    return next((ours for ours, words in table.items() if plain in words), None)
