"""Write the client log of a sample as our event log: `python reexpress.py SAMPLE ORIGINAL [TARGET]`.

SAMPLE is three-services or vllm-direct, ORIGINAL the log as the load generator of that run wrote it (one JSON
object a request). TARGET defaults to client.events.jsonl in the sample's folder. The same original always
gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Seen:
    """What the client saw of one request: times in unix ns (None: never came), facts by when it knew them."""

    request: str
    trace_id: str | None
    sent_ns: int
    first_content_ns: int | None
    last_content_ns: int | None
    done_ns: int
    at_send: Facts
    at_answer: Facts
    at_end: Facts


def from_three_services(record: Facts) -> Seen:
    """Read a record of the run through the gateway: flat, every request streamed, every end has one key."""
    outcomes = {"ok": "ok", "client_cancel": "cancelled"}
    return Seen(
        request=record["client_request_id"],
        trace_id=record["trace_id"],
        sent_ns=record["sent_unix_ns"],
        first_content_ns=record.get("first_content_unix_ns"),
        last_content_ns=record.get("last_content_unix_ns"),
        done_ns=record["done_unix_ns"],
        at_send={"tenant": record["tenant"], "streamed": True},
        at_answer={"response_id": record.get("response_id")},
        at_end={
            "outcome": outcomes[record["outcome"]],
            "input_tokens": record.get("prompt_tokens"),
            "output_tokens": record.get("completion_tokens"),
        },
    )


def from_vllm_direct(record: Facts) -> Seen:
    """Read a record of the run against vLLM: a cancel has a key of its own, usage and error are nested."""
    cancelled_ns = record.get("client_cancel_unix_ns")
    error = record.get("error") or {}
    usage = record.get("usage") or {}
    return Seen(
        request=record["x_request_id"],
        trace_id=record["trace_id"],
        sent_ns=record["send_unix_ns"],
        first_content_ns=record.get("first_content_unix_ns"),
        last_content_ns=record.get("last_content_unix_ns"),
        done_ns=record["done_unix_ns"] if cancelled_ns is None else cancelled_ns,
        at_send={"streamed": _streamed(record)},
        at_answer={"response_id": record.get("response_id"), "status_code": record.get("status")},
        at_end={
            "outcome": "cancelled" if cancelled_ns is not None else "error" if error else "ok",
            "error_type": error.get("type"),
            "input_tokens": usage.get("prompt_tokens"),
            "output_tokens": usage.get("completion_tokens"),
        },
    )


def _streamed(record: Facts) -> bool | None:
    """Whether a stream was asked for; None for a refused request, whose answer looks alike either way."""
    if record.get("error"):
        return None
    # Only whole answers were searched for an error, so only they have that key. The request that was given up
    # before any header has no answer to tell by; its name does.
    return "error" not in record and record["scenario"] != "abort_nonstream"


@dataclass(frozen=True, slots=True)
class Sample:
    """How one sample's original log is read, and the clock that stamped it."""

    clock: str
    read: Callable[[Facts], Seen]


SAMPLES = {
    "three-services": Sample("client-1", from_three_services),
    "vllm-direct": Sample("client", from_vllm_direct),
}


def events(seen: Seen, clock: str) -> Iterator[Facts]:
    """Yield the event lines of one request by time; a fact stands on the first line that could know it."""
    facts = {"sent": seen.at_send, "done": seen.at_end}
    answered = "done" if seen.first_content_ns is None else "first_content"
    facts[answered] = seen.at_answer | facts.get(answered, {})
    times = {
        "sent": seen.sent_ns,
        "first_content": seen.first_content_ns,
        "last_content": seen.last_content_ns,
        "done": seen.done_ns,
    }
    for event, time_ns in times.items():
        if time_ns is None:
            continue
        line: Facts = {"request": seen.request, "event": event, "ns": str(time_ns), "clock": clock}
        line |= {"side": "client", "trace_id": seen.trace_id} | facts.get(event, {})
        yield {name: value for name, value in line.items() if value is not None}


def main() -> None:
    """Read the arguments, write the log."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sample", choices=SAMPLES)
    parser.add_argument("original", type=Path)
    parser.add_argument("target", type=Path, nargs="?")
    arguments = parser.parse_args()
    sample = SAMPLES[arguments.sample]
    target = arguments.target or Path(__file__).parent / arguments.sample / "client.events.jsonl"
    records = [json.loads(line) for line in arguments.original.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(event) for record in records for event in events(sample.read(record), sample.clock)]
    target.write_bytes(("\n".join(lines) + "\n").encode())


if __name__ == "__main__":
    main()
