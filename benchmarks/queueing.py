"""Requests as a small queueing model makes them: seeded, endless, in the order in which they end.

Arrivals are Poisson. A gateway lets a request wait for one of the engines' slots, first come first served, or refuses
it (429) when too many wait. A slot is held for a prefill, which grows with the input, and a decode, which grows with
the output. Lengths are log-normal, tenants differ in share and length. Some clients leave, some engines fail, and what
was refused or failed may be tried again. Nothing about a request is drawn twice, so every view of it agrees.
"""

from __future__ import annotations

import heapq
import math
import random
from bisect import bisect
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z

ARRIVALS_PER_S = 25.5
SLOTS = 64
WORKERS = 4
MOST_WAITING = 24
DEADLINE_NS = 20_000_000_000
MOST_TRIES = 3
HTTP_OK = 200
LONGEST_INPUT, LONGEST_OUTPUT = 16_384, 2_048

# Share of the traffic, median input and median output tokens.
TENANTS = {
    "atlas": (0.36, 320, 130),
    "birch": (0.22, 700, 90),
    "cobalt": (0.14, 180, 260),
    "delta": (0.10, 1_500, 60),
    "ember": (0.07, 400, 180),
    "fjord": (0.05, 900, 120),
    "granite": (0.04, 4_000, 200),
    "harbor": (0.02, 250, 400),
}
_NAMES = tuple(TENANTS)
_SHARES = tuple(accumulate(share for share, _, _ in TENANTS.values()))
_INPUT_SPREAD, _OUTPUT_SPREAD = 0.9, 0.7

_PREFILL_S, _PREFILL_PER_TOKEN_S = 0.012, 0.000_06
_STEP_S, _STEP_SPREAD = 0.0135, 0.12
_LEAVES, _PATIENCE_S = 0.035, 2.5
_FAILS = 0.012
_TRIED_AGAIN, _BACKOFF_S = 0.55, 0.8
_ON_THE_WIRE_S, _AT_THE_DOOR_S, _FRONT_END_S = 0.000_4, 0.000_6, 0.000_3


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt at a request; times in unix nanoseconds, None where it did not get so far."""

    sent_ns: int
    arrived_ns: int
    done_ns: int
    gateway_done_ns: int
    outcome: str
    status_code: int
    error_type: str | None
    waiting: int
    """Requests that waited when it came."""
    running: int
    """Slots that were held when it came."""
    admitted_ns: int | None = None
    worker: int | None = None
    engine_arrived_ns: int | None = None
    started_ns: int | None = None
    first_token_ns: int | None = None
    first_content_ns: int | None = None
    last_token_ns: int | None = None
    last_content_ns: int | None = None
    engine_done_ns: int | None = None
    prefill_ns: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A request and all its attempts. It ended as the last of them did."""

    request_id: str
    trace_id: int
    tenant: str
    input_tokens: int
    output_tokens: int
    """Tokens of the whole answer, had anyone waited for it."""
    tries: tuple[Try, ...]

    @property
    def outcome(self) -> str:
        """How it ended: only what failed is tried again."""
        return self.tries[-1].outcome

    @property
    def sent_ns(self) -> int:
        """When the client first sent it."""
        return self.tries[0].sent_ns

    @property
    def done_ns(self) -> int:
        """When the client was done with it."""
        return self.tries[-1].done_ns


@dataclass(slots=True)
class _Open:
    """A request that is still to be tried, or tried again."""

    number: int
    request_id: str
    trace_id: int
    tenant: str
    input_tokens: int
    output_tokens: int
    tries: list[Try] = field(default_factory=list)

    def closed(self) -> Request:
        return Request(
            self.request_id, self.trace_id, self.tenant, self.input_tokens, self.output_tokens, tuple(self.tries)
        )


@dataclass(slots=True)
class _Slots:
    """What the engines hold: when each slot is free again, and until when those wait who wait."""

    free: list[tuple[int, int]] = field(default_factory=lambda: [(0, slot) for slot in range(SLOTS)])
    waiting: list[int] = field(default_factory=list)

    def queue(self, now: int) -> int:
        """How many wait."""
        while self.waiting and self.waiting[0] <= now:
            heapq.heappop(self.waiting)
        return len(self.waiting)

    def running(self, now: int) -> int:
        """How many slots are held."""
        return sum(free > now for free, _ in self.free)


def _ns(seconds: float) -> int:
    return int(seconds * 1e9)


def _length(rng: random.Random, median: int, spread: float, longest: int) -> int:
    return min(max(1, round(rng.lognormvariate(math.log(median), spread))), longest)


def _new(rng: random.Random, number: int) -> _Open:
    tenant = _NAMES[min(bisect(_SHARES, rng.random()), len(_NAMES) - 1)]
    _, given, made = TENANTS[tenant]
    return _Open(
        number,
        f"{number:08x}-{rng.getrandbits(48):012x}",
        rng.getrandbits(128) | 1,
        tenant,
        _length(rng, given, _INPUT_SPREAD, LONGEST_INPUT),
        _length(rng, made, _OUTPUT_SPREAD, LONGEST_OUTPUT),
    )


def requests(seed: int) -> Iterator[Request]:
    """Requests without end, in the order in which their clients are done with them."""
    rng = random.Random(seed)  # noqa: S311 (traffic, not secrets)
    slots = _Slots()
    again: list[tuple[int, int, _Open]] = []
    ended: list[tuple[int, int, Request]] = []
    arrival, number = BASE_NS, 0
    while True:
        if again and again[0][0] <= arrival:
            now, _, one = heapq.heappop(again)
        else:
            now, one = arrival, _new(rng, number)
            number += 1
            arrival += _ns(-math.log(1.0 - rng.random()) / ARRIVALS_PER_S)
        tried = _try(rng, slots, one, now)
        one.tries.append(tried)
        may_again = tried.outcome in ("rejected", "error") and len(one.tries) < MOST_TRIES
        if may_again and rng.random() < _TRIED_AGAIN:
            backoff = _ns(_BACKOFF_S * 2 ** len(one.tries) * (0.5 + rng.random()))
            heapq.heappush(again, (tried.done_ns + backoff, one.number, one))
        else:
            heapq.heappush(ended, (tried.done_ns, one.number, one.closed()))
        while ended and ended[0][0] <= now:
            yield heapq.heappop(ended)[2]


def _try(rng: random.Random, slots: _Slots, one: _Open, sent: int) -> Try:
    """Send it once."""
    wire = _ns(_ON_THE_WIRE_S * (0.5 + rng.random()))
    arrived = sent + wire
    waiting, running = slots.queue(arrived), slots.running(arrived)
    at_the_door = _ns(_AT_THE_DOOR_S * (0.5 + rng.random()))
    if waiting >= MOST_WAITING:
        gone = arrived + at_the_door
        return Try(
            sent, arrived, gone + wire, gone, "rejected", 429, "openai.RateLimitError", waiting, running
        )  # fmt: skip
    leaves = sent + DEADLINE_NS
    if rng.random() < _LEAVES:
        # Not before the engine has it, so that no side's end comes before its beginning.
        leaves = min(leaves, sent + 3 * wire + at_the_door + _ns(-math.log(1.0 - rng.random()) * _PATIENCE_S))
    return _served(rng, slots, one, _Sent(sent, wire, at_the_door, leaves, waiting, running))


@dataclass(frozen=True, slots=True)
class _Sent:
    """A try that is let in, and when its client leaves if nothing has come to an end by then."""

    sent: int
    wire: int
    at_the_door: int
    leaves: int
    waiting: int
    running: int


def _served(rng: random.Random, slots: _Slots, one: _Open, sent: _Sent) -> Try:
    arrived = sent.sent + sent.wire
    admitted = arrived + sent.at_the_door
    engine = admitted + sent.wire
    queued = engine + _ns(_FRONT_END_S * (0.5 + rng.random()))
    prefill = _ns((_PREFILL_S + _PREFILL_PER_TOKEN_S * one.input_tokens) * (0.9 + 0.2 * rng.random()))
    decode = _ns((one.output_tokens - 1) * _STEP_S * rng.lognormvariate(0.0, _STEP_SPREAD))
    fails = rng.random() < _FAILS
    failure_at = rng.random()
    free, slot = slots.free[0]
    started = max(queued, free)
    first = started + prefill + _ns(_FRONT_END_S * rng.random())
    last = first + decode
    back = sent.wire + _ns(_FRONT_END_S)
    stops = started + round((last - started) * failure_at) if fails else last
    done = stops + 2 * back
    left = done > sent.leaves
    if left:
        # The gateway notices, and the engine lets go, a moment later.
        stops, done = sent.leaves + 2 * sent.wire, sent.leaves
    heapq.heappush(slots.waiting, min(started, stops))
    if stops > started:
        heapq.heapreplace(slots.free, (stops, slot))

    def if_seen(at: int, until: int = done) -> int | None:
        return at if at <= until else None

    if left:
        # Whose deadline had come ran out of time, whoever went before left for a reason of their own.
        late = sent.leaves == sent.sent + DEADLINE_NS
        outcome, status = ("timeout", 499) if late else ("cancelled", 499)
        error = "openai.APITimeoutError" if late else "asyncio.exceptions.CancelledError"
    elif fails:
        # Before the first token an engine can still say 500; after it the stream just carries an error.
        outcome, status, error = "error", 500 if first > stops else 200, "openai.InternalServerError"
    else:
        outcome, status, error = "ok", 200, None
    whole = outcome == "ok"
    first_content = if_seen(first + back)
    return Try(
        sent.sent, arrived, done, sent.leaves + sent.wire if left else done - sent.wire, outcome, status, error,
        sent.waiting, sent.running, admitted, slot % WORKERS, engine,
        if_seen(started, stops), if_seen(first, stops), first_content,
        last if whole else None, last + back if whole else None, last + back // 2 if whole else None, prefill,
    )  # fmt: skip


@dataclass(slots=True)
class Totals:
    """What a store must hold of these requests, counted as they go by."""

    requests: int = 0
    attempts: int = 0
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Requests by tenant and outcome."""
    attempt_outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    first_ns: int = 2**63 - 1
    last_ns: int = 0

    def count(self, request: Request) -> None:
        """Take in one more."""
        self.requests += 1
        self.attempts += len(request.tries)
        self.outcomes[request.tenant, request.outcome] += 1
        self.attempt_outcomes.update((request.tenant, tried.outcome) for tried in request.tries)
        self.first_ns = min(self.first_ns, request.sent_ns)
        self.last_ns = max(self.last_ns, request.done_ns)

    def by_outcome(self) -> dict[str, int]:
        """Requests by outcome."""
        found: Counter[str] = Counter()
        for (_, outcome), requests in self.outcomes.items():
            found[outcome] += requests
        return dict(sorted(found.items()))
