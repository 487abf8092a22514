"""The spans that a client, a gateway and an engine would export of a request.

Six to a request that ends well: the client's model call, the gateway's HTTP span with its admission and its call
upstream, the engine's request and its execution. An engine tells only of what it finished.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from queueing import HTTP_OK, LONGEST_OUTPUT
from shapes import (
    ADMITTED,
    CALL_FAILED,
    CALL_OK,
    CLIENT,
    ENGINE,
    ENGINE_HOSTS,
    ENGINES,
    EXECUTED,
    GATEWAY,
    SERVED_FAILED,
    SERVED_OK,
    UPSTREAM,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from queueing import Request, Try
    from shapes import Resource, Scope, Shape

SPANS_A_BATCH = 100


class Span(NamedTuple):
    """One span. `values` are those of its shape's fields without a constant, `exception` type, message and stack."""

    shape: Shape
    resource: Resource
    trace_id: int
    span_id: int
    parent_id: int
    start_ns: int
    end_ns: int
    values: tuple[Any, ...]
    exception: tuple[str, str, str] | None = None


# One in eight needs an escape or more than ASCII.
_FEATURES = (
    "search", "summary", "chat", "translate", "draft", "code review", "search", "chat", "summary", "chat", "search",
    "chat", "chat", "Übersetzung für 東京", 'the "fast" lane\tof C:\\tools', "search",
)  # fmt: skip
_AGENTS = ("OpenAI/Python 2.8.1", "AsyncOpenAI/Python 2.8.1", "openai-node/6.9.0", "curl/8.14.1")
_BLOCK_TOKENS, _CHUNK_TOKENS, _BYTES_A_TOKEN = 16, 2_048, 4
_FINISHED = (("stop",), ("length",))
_SAID = {
    "openai.RateLimitError": "Error code: 429 - {'error': {'message': 'too many wait', 'type': 'overloaded'}}",
    "openai.APITimeoutError": "Request timed out.",
    "asyncio.exceptions.CancelledError": "",
    "openai.InternalServerError": "Error code: 500 - {'error': {'message': 'EngineCore died: see \"root cause\"'}}",
}  # fmt: skip
_STACK = (
    'Traceback (most recent call last):\n  File "/app/openai/_base_client.py", line 1594, in request\n'
    "    raise self._make_status_error_from_response(err.response) from None\n{error}: {said}\n"
)


def _exception(error: str) -> tuple[str, str, str]:
    return error, _SAID[error], _STACK.format(error=error, said=_SAID[error])


_EXCEPTIONS = {error: _exception(error) for error in _SAID}
_ODD, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


def count(request: Request) -> int:
    """How many spans a request has."""
    return 1 + sum(1 + 2 * (t.admitted_ns is not None) + 2 * (t.engine_done_ns is not None) for t in request.tries)


def spans_of(request: Request) -> list[Span]:
    """Every span of a request, the client's first."""
    trace = request.trace_id
    root = trace * _ODD & _MASK | 1
    spans = [_call(request, root)]
    for number, tried in enumerate(request.tries):
        spans += _try_spans(request, tried, number, root, (root + 16 * (number + 1)) & _MASK)
    return spans


def _call(request: Request, span_id: int) -> Span:
    last = request.tries[-1]
    called = (request.request_id, request.tenant, _FEATURES[request.trace_id >> 8 & 15], len(request.tries))
    place = (CLIENT, request.trace_id, span_id, 0, request.sent_ns, request.done_ns)
    if last.error_type:
        return Span(CALL_FAILED, *place, (*called, last.error_type), _EXCEPTIONS[last.error_type])
    first = ((last.first_content_ns or 0) - request.sent_ns) / 1e9
    finished = _FINISHED[request.output_tokens >= LONGEST_OUTPUT]
    answered = (f"chatcmpl-{request.request_id}", finished, request.input_tokens, request.output_tokens, first)
    return Span(CALL_OK, *place, (*called, *answered))


def _try_spans(request: Request, tried: Try, number: int, root: int, first_id: int) -> Iterator[Span]:
    """What gateway and engine export of one try; an engine tells only of what it finished."""
    trace, bits = request.trace_id, request.trace_id >> 32
    asked, given = request.input_tokens * _BYTES_A_TOKEN, request.output_tokens * _BYTES_A_TOKEN
    served = (
        f"10.0.{bits & 63}.{bits >> 8 & 255}", 32_768 + (bits >> 16 & 16_383), _AGENTS[bits >> 30 & 3],
        tried.status_code, request.request_id, request.tenant, asked, given,
    )  # fmt: skip
    failed = tried.error_type is not None
    yield Span(
        SERVED_FAILED if failed else SERVED_OK, GATEWAY, trace, first_id, root, tried.arrived_ns,
        tried.gateway_done_ns,
        (*served, str(tried.status_code) if tried.status_code != HTTP_OK else "upstream_reset") if failed else served,
        _EXCEPTIONS[tried.error_type] if tried.error_type else None,
    )  # fmt: skip
    if tried.admitted_ns is None or tried.worker is None or tried.engine_arrived_ns is None:
        return
    host, upstream_id = ENGINE_HOSTS[tried.worker], first_id + 2 & _MASK
    room = 131_072 - request.input_tokens
    yield Span(
        ADMITTED, GATEWAY, trace, first_id + 1 & _MASK, first_id, tried.arrived_ns, tried.admitted_ns,
        (tried.waiting, tried.running, host, room / 131_072, bits >> 40 & 1 == 1, request.input_tokens, room),
    )  # fmt: skip
    yield Span(
        UPSTREAM, GATEWAY, trace, upstream_id, first_id, tried.admitted_ns, tried.gateway_done_ns,
        (host, tried.status_code, f"10.1.0.{tried.worker + 1}", number, asked),
    )  # fmt: skip
    started, first, last, done = tried.started_ns, tried.first_token_ns, tried.last_token_ns, tried.engine_done_ns
    if started is None or first is None or last is None or done is None:
        return
    engine, arrived = ENGINES[tried.worker], tried.engine_arrived_ns
    queued, decoded = started - arrived, last - first
    yield Span(
        ENGINE, engine, trace, first_id + 3 & _MASK, upstream_id, arrived, done,
        (
            f"chatcmpl-{request.request_id}", request.input_tokens, request.output_tokens,
            (first - arrived) / 1e9, (last - arrived) / 1e9, queued / 1e9,
            tried.prefill_ns / 1e9, decoded / 1e9, (tried.prefill_ns + decoded) / 1e9,
        ),
    )  # fmt: skip
    tokens = request.input_tokens + request.output_tokens
    yield Span(
        EXECUTED, engine, trace, first_id + 4 & _MASK, first_id + 3 & _MASK, started, last,
        (
            request.output_tokens, 1 + request.input_tokens // _CHUNK_TOKENS, 1 + tokens // _BLOCK_TOKENS,
            tried.running / 100, f"cuda:{tried.worker}", tried.running, tried.running * tokens,
        ),
    )  # fmt: skip


def batches(requests: Iterable[Request]) -> Iterator[list[Span]]:
    """Spans as a collector's batch processor hands them on: so many at once, whoever they are of."""
    batch: list[Span] = []
    for span in chain.from_iterable(map(spans_of, requests)):
        batch.append(span)
        if len(batch) >= SPANS_A_BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def grouped(batch: Iterable[Span]) -> dict[Resource, dict[Scope, list[Span]]]:
    """A batch by resource and scope, each in the order in which it was first met."""
    found: dict[Resource, dict[Scope, list[Span]]] = {}
    for span in batch:
        found.setdefault(span.resource, {}).setdefault(span.shape.scope, []).append(span)
    return found
