"""The words of the field as types: boundaries, outcomes, sides, clocks, evidence."""

from __future__ import annotations

from enum import StrEnum


class Side(StrEnum):
    """Who saw it, from the outermost inwards."""

    CLIENT = "client"
    GATEWAY = "gateway"
    ENGINE = "engine"


class Boundary(StrEnum):
    """An observable event of an attempt, in the order in which they happen."""

    SCHEDULED = "scheduled"
    SENT = "sent"
    ARRIVED = "arrived"
    ADMITTED = "admitted"
    REJECTED = "rejected"
    STARTED = "started"
    PREEMPTED = "preempted"
    RESUMED = "resumed"
    PREFILL_DONE = "prefill_done"
    DECODE_STARTED = "decode_started"
    FIRST_TOKEN = "first_token"  # noqa: S105 (a boundary, no secret)
    FIRST_CONTENT = "first_content"
    FIRST_ANSWER = "first_answer"
    LAST_TOKEN = "last_token"  # noqa: S105 (a boundary, no secret)
    LAST_CONTENT = "last_content"
    DONE = "done"
    CANCEL_SEEN = "cancel_seen"
    CANCEL_FORWARDED = "cancel_forwarded"
    DEQUEUED = "dequeued"
    RELEASED = "released"


class Control(StrEnum):
    """A change of the service's state, of no single request."""

    DETECT = "detect"
    PROVISION = "provision"
    LOAD = "load"
    WARM = "warm"
    PROBE = "probe"
    READY = "ready"
    DRAIN = "drain"
    GRACE = "grace"
    STOP = "stop"
    KILL = "kill"
    SCALE = "scale"
    ROLLOUT = "rollout"


class Outcome(StrEnum):
    """How an attempt ended; exactly one."""

    OK = "ok"
    REJECTED = "rejected"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    ERROR = "error"
    TRUNCATED = "truncated"
    UNSENT = "unsent"
    UNRESOLVED = "unresolved"


class FailureClass(StrEnum):
    """What a failure is put down to."""

    OVERLOAD = "overload"
    RESOURCE_EXHAUSTION = "resource_exhaustion"
    DEPENDENCY = "dependency"
    BAD_REVISION = "bad_revision"
    CLIENT = "client"
    UNKNOWN = "unknown"


class Evidence(StrEnum):
    """How a boundary or a stage is known."""

    MEASURED = "measured"
    DERIVED = "derived"
    BOUNDED = "bounded"


class ClockKind(StrEnum):
    """What a timestamp counts from."""

    WALL = "wall"
    MONOTONIC = "monotonic"
    DURATION = "duration"


class Phase(StrEnum):
    """What a request was sent for; only `measured` enters a number unless asked."""

    WARMUP = "warmup"
    MEASURED = "measured"
    COLD = "cold"


class Verdict(StrEnum):
    """Whether a promise was kept."""

    KEPT = "kept"
    BROKEN = "broken"
    CANNOT_TELL = "cannot tell"


NOT_REACHED = "not_reached"
EVERY = "(all)"
MISSING = "(none)"
