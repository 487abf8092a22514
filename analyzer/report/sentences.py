"""Workload, promise and outcomes in words, from declared values and counts only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.manifest import declared
from analyzer.report import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.report.evidence import Row

# What a good request does, by the metric that is limited.
_KEEPS = {
    "ttft": "get their first content within {}",
    "ttft_gateway": "have their first content out of the gateway within {}",
    "ttft_engine": "have their first token in the engine within {}",
    "ttft_scheduled": "get their first content within {} of their scheduled send",
    "ttfa": "get their first answer text within {}",
    "e2e": "are complete within {}",
    "e2e_gateway": "are complete at the gateway within {}",
    "e2e_engine": "are complete in the engine within {}",
    "tpot": "take at most {} per output token",
    "tpot_engine": "take at most {} per output token in the engine",
    "lateness": "are sent at most {} late",
    "queue": "wait at most {} in the queue",
    "prefill": "spend at most {} in prefill",
    "decode": "spend at most {} in decode",
    "delivery": "are delivered within {}",
    "edge": "pass the edge within {}",
}

# How it ended, as a predicate; in the order in which a ledger lists them.
FAILURES = {
    "rejected": "rejected",
    "timeout": "timed out",
    "cancelled": "cancelled by the client",
    "error": "ended in an error",
    "truncated": "cut short",
    "unsent": "never sent",
    "unresolved": "without a recorded end",
}
_VERB = {"rejected": "were ", "cancelled": "were ", "truncated": "were ", "unsent": "were ", "unresolved": "were "}


def objective(conditions: Iterable[Row], selection: Iterable[Row]) -> str:
    """One promise from its rows of `slo` and `slo_select`."""
    conditions = list(conditions)
    parts = [
        _KEEPS.get(row["metric"], f"keep {row['metric']} within {{}}").format(numbers.exact_time(row["limit_ms"]))
        for row in conditions
    ]
    chosen = ", ".join(f"{row['dimension'].replace('_', ' ')} {row['value']}" for row in selection)
    whose = f" of {chosen}" if chosen else ""
    return f"At least {numbers.exact_share(conditions[0]['target'])} of requests{whose} {' and '.join(parts)}."


def failures(ledger: Row) -> list[tuple[str, int]]:
    """Outcomes other than ok that occurred, most frequent first."""
    found = [(outcome, ledger[outcome]) for outcome in FAILURES if ledger[outcome]]
    return sorted(found, key=lambda pair: -pair[1])


def failed_phrase(outcome: str, n: int) -> str:
    """So many requests ended so: `154 timed out`, `5 were cancelled by the client`."""
    verb = _VERB.get(outcome, "")
    if n == 1 and verb:
        verb = "was "
    return f"{numbers.count(n)} {verb}{FAILURES[outcome]}"


def listed(parts: list[str]) -> str:
    """Parts as an English list."""
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1]


def plural(n: int, one: str, many: str = "") -> str:
    """A count with its noun."""
    return f"{numbers.count(n)} {one if n == 1 else many or one + 's'}"


def workload(manifest: dict[str, Any]) -> tuple[str, list[str]]:
    """The declared demand in a sentence, and what of it is not known."""
    parts: list[str] = []
    unknown: list[str] = []
    for name, text in (
        ("arrivals", _arrivals(manifest)),
        ("input lengths", _lengths(manifest, "input")),
        ("output lengths", _lengths(manifest, "output")),
        ("streaming", _streaming(manifest)),
        ("model", _model(manifest)),
        ("hardware", _hardware(manifest)),
        ("client deadline", _deadline(manifest)),
        ("cancels", _unless_none(manifest, "cancel", "no cancels", "cancels: {}")),
        ("retries", _retry(manifest)),
        ("warm or cold state", _state(manifest)),
    ):
        (parts if text else unknown).append(text or name)
    sentence = "; ".join(parts)
    return (sentence[:1].upper() + sentence[1:] + ".") if parts else "Nothing of it is declared.", unknown


def seen(row: Row) -> str:
    """What the data itself shows of the demand, from the view `workload`."""
    parts = [plural(row["requests"], "request")]
    if row["tenants"]:
        parts.append(plural(row["tenants"], "tenant"))
    if row["load_points"]:
        parts.append(plural(row["load_points"], "load point"))
    for side in ("input", "output"):
        if row[f"with_{side}"]:
            p50, longest, known = row[f"{side}_p50"], row[f"{side}_max"], row[f"with_{side}"]
            of = f" (known of {numbers.count(known)})" if known < row["requests"] else ""
            parts.append(f"{side} {numbers.count(p50)} tokens at the median, {numbers.count(longest)} at most{of}")
        else:
            parts.append(f"{side} tokens not recorded")
    if row["arrival_per_s"] is not None:
        parts.append(f"{numbers.rate(row['arrival_per_s'])} on average between first and last arrival")
    return "; ".join(parts) + "."


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _arrivals(manifest: dict[str, Any]) -> str:
    at = ("workload", "arrivals")
    process = declared(manifest, *at, "process")
    if process is None:
        return ""
    text = f"{process} arrivals" if " " not in process else f"arrivals {process}"
    if (rate := declared(manifest, *at, "rate_per_s")) is not None:
        text += f" at {rate:g} per second"
    if (burst := declared(manifest, *at, "burst")) is not None:
        text += f", {numbers.count(burst)} at once"
    if (clients := declared(manifest, *at, "concurrency")) is not None:
        text += f", at most {numbers.count(clients)} in flight"
    if (pause := declared(manifest, *at, "think_time_s")) is not None:
        text += f", {pause:g} s of think time"
    return text


def _lengths(manifest: dict[str, Any], side: str) -> str:
    at = ("workload", f"{side}_tokens")
    if (fixed := declared(manifest, *at, "fixed")) is not None:
        return f"{numbers.count(fixed)} {side} tokens each"
    if (file := declared(manifest, *at, "file")) is not None:
        return f"{side} lengths from {file}"
    levels = [(name, declared(manifest, *at, name)) for name in ("p50", "p95", "max")]
    known = [f"{name} {value:,g}" for name, value in levels if value is not None]
    return f"{side} tokens {', '.join(known)}" if known else ""


def _streaming(manifest: dict[str, Any]) -> str:
    value = declared(manifest, "workload", "streaming")
    return "" if value is None else "streamed" if value else "not streamed"


def _model(manifest: dict[str, Any]) -> str:
    model = _text(declared(manifest, "model", "id"))
    precision = _text(declared(manifest, "model", "precision"))
    engine = " ".join(filter(None, (_text(declared(manifest, "runtime", key)) for key in ("engine", "engine_version"))))
    return model + (f" {precision}" if model and precision else "") + (f" on {engine}" if model and engine else "")


def _hardware(manifest: dict[str, Any]) -> str:
    device, count = declared(manifest, "hardware", "device"), declared(manifest, "hardware", "count")
    return "" if device is None else f"{count} \N{MULTIPLICATION SIGN} {device}" if count is not None else str(device)


def _deadline(manifest: dict[str, Any]) -> str:
    value = declared(manifest, "workload", "deadline_s")
    return "" if value is None else "no client deadline" if value == "none" else f"clients give up after {value:g} s"


def _unless_none(manifest: dict[str, Any], key: str, none: str, some: str) -> str:
    value = declared(manifest, "workload", key)
    return "" if value is None else none if value == "none" else some.format(value)


def _retry(manifest: dict[str, Any]) -> str:
    value = declared(manifest, "workload", "retry")
    if isinstance(value, dict):
        most = declared(value, "max_attempts")
        return f"up to {plural(most, 'attempt')} a request" if most is not None else ""
    return _unless_none(manifest, "retry", "no retries", "retries: {}")


def _state(manifest: dict[str, Any]) -> str:
    value = declared(manifest, "workload", "state")
    return "" if value is None else f"{value} service"
