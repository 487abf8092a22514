"""Write both event logs of the 64-client burst: `python construct.py [FOLDER]`.

Constructed, not measured. Published are: the counts (3 waves of 64; 38 answered and 154 timed out against 192
answered), the p95 of time to first content among the answered (53.251 s and 0.523 s), the client's limit of
60 s, and four requests of the serialized server's first wave. Every other time comes from the formulas below:
one request at a time behind a lock for the serialized server, all at once for vLLM. Times are in ms after the
wave's start.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS = 64
EPOCH_MS = 1_767_225_600_000  # 2026-01-01T00:00:00Z: the record has no wall clock, a round one shows it
BETWEEN_WAVES_MS = 90_000
PUBLISHED_MS = {0: (225, 4_242), 1: (4_406, 13_140), 5: (13_394, 24_662)}  # request: first content, complete
PUBLISHED_TIMEOUT = 2


@dataclass(frozen=True, slots=True)
class Wave:
    """One wave of the serialized server: how many it answered, its first and its last answer."""

    answered: int
    first_content_ms: int
    last_first_content_ms: int
    last_done_ms: int


# They answer 38 in all. The second wave's last first content is the 37th of 38, so the nearest-rank p95.
SERIALIZED = (Wave(11, 225, 52_480, 56_590), Wave(13, 231, 53_251, 58_140), Wave(14, 219, 54_310, 58_930))


def shuffled(request: int, wave: int) -> int:
    """Give a request its place in its wave, from 0 to 63; no two share one."""
    return (37 * request + 11 * wave) % CLIENTS


def handover_ms(turn: int, wave: int) -> int:
    """Time from one answer's end to the next one's first content; the published ones are 164 and 254."""
    return 160 + (13 * turn + 29 * wave) % 95


def serialized(wave: int) -> dict[int, tuple[int, int]]:
    """Request: first content and completion, for those that the serialized server answered in time."""
    plan = SERIALIZED[wave]
    answers = dict(PUBLISHED_MS) if wave == 0 else {}
    waiting = sorted(set(range(CLIENTS)) - set(answers), key=lambda request: shuffled(request, wave))
    if wave == 0:
        waiting.remove(PUBLISHED_TIMEOUT)
    turns = range(len(answers), plan.answered)
    begin = plan.first_content_ms
    if answers:
        begin = max(done for _, done in answers.values()) + handover_ms(turns[0], wave)
    # Answers differ in length: each holds the lock for 3 to 13 parts of what the wave has left.
    parts = [3 + (5 * turn + 3 * wave) % 11 for turn in turns[:-1]]
    span = plan.last_first_content_ms - begin
    firsts = [begin + span * part // sum(parts) for part in accumulate(parts, initial=0)]
    dones = [first - handover_ms(turn, wave) for turn, first in zip(turns[1:], firsts[1:], strict=True)]
    times = zip(firsts, [*dones, plan.last_done_ms], strict=True)
    return answers | dict(zip(waiting, times, strict=False))  # those who still wait get no answer


def vllm(wave: int) -> dict[int, tuple[int, int]]:
    """Request: first content and completion; vLLM answered all. The 183rd of 192 is the p95."""
    answers = {}
    for request in range(CLIENTS):
        rank = 3 * shuffled(request, wave) + wave + 1
        first = 157 + 2 * rank
        answers[request] = (first, first + 1_500 + (53 * request + 17 * wave) % 2_300)
    return answers


def gave_up_ms(request: int, wave: int) -> int:
    """When a client without an answer left: a few ms past its limit of 60 s; 60,002 for the published one."""
    return 60_001 + (7 * request + 3 * wave + 9) % 11


def lines(server: str, wave: int, answers: dict[int, tuple[int, int]]) -> Iterator[dict[str, object]]:
    """Yield the event lines of one wave. A client that gave up kept no first content."""
    start = EPOCH_MS + wave * BETWEEN_WAVES_MS
    for request in range(CLIENTS):
        times = {"sent": 0}
        outcome = "timeout"
        if request in answers:
            outcome = "ok"
            first, done = answers[request]
            times |= {"first_content": first, "last_content": done - 1 - request % 3, "done": done}
        else:
            times["done"] = gave_up_ms(request, wave)
        facts: dict[str, dict[str, object]] = {
            "sent": {"repeat": wave, "load_point": f"{CLIENTS} clients", "streamed": True},
            "done": {"outcome": outcome},
        }
        for event, ms in times.items():
            yield {
                "request": f"{server}-w{wave}-r{request:02d}",
                "event": event,
                "ns": f"{start + ms}000000",
                "clock": "t4-client",
                "side": "client",
            } | facts.get(event, {})


def main() -> None:
    """Write serialized.events.jsonl and vllm.events.jsonl."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for server in (serialized, vllm):
        name = server.__name__
        log = [json.dumps(line) for wave in range(len(SERIALIZED)) for line in lines(name, wave, server(wave))]
        (folder / f"{name}.events.jsonl").write_bytes(("\n".join(log) + "\n").encode())


if __name__ == "__main__":
    main()
