"""Rows of `trace_event` as the Trace Event Format, which ui.perfetto.dev and chrome://tracing read.

Times of that format are microseconds. Perfetto reads a number with a fraction into a double and rounds it, times 1000,
to nanoseconds (CoerceToTs in its src/trace_processor/importers/json/json_trace_tokenizer.cc; text is read the same
way). Today is about 1.8e15 us, where doubles are 250 ns apart, and a negative time is dropped. So each clock is counted
from an origin, which the name of its process and `otherData` tell. As written every time is exact; as a double it is up
to 2^51 ns, 26 days, after the origin.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analyzer import __version__
from analyzer.jobs.trace_lanes import Lanes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


EXACT_NS = 2**51


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock, which is a process of the trace."""

    pid: int
    run: str
    name: str
    kind: str
    origin_ns: int
    relations: tuple[str, ...]

    def title(self, *, with_run: bool) -> str:
        """What the process is called."""
        run = f"run {self.run}, " if with_run else ""
        second, rest = divmod(self.origin_ns, 10**9)
        zero = f"{self.origin_ns} ns"
        if self.kind == "wall":
            zero = f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
        if self.kind == "duration":
            zero += ", each request from its own start"
        return "; ".join((f"{run}clock {self.name} ({self.kind}), 0 is {zero}", *self.relations))


def document(clocks: Mapping[int, Clock], batches: Iterable[Sequence[tuple[Any, ...]]]) -> Iterator[str]:
    """The text of a trace, piece by piece.

    Rows are pid, part, kind, name, start_ns, end_ns, side, attempt_id, args; by pid, then in the order of Lanes.
    """
    several = len({clock.run for clock in clocks.values()}) > 1
    origins = [
        {"pid": c.pid, "run": c.run, "clock": c.name, "clock_kind": c.kind, "origin_ns": str(c.origin_ns)}
        for c in clocks.values()
    ]
    about = {"writer": f"analyze {__version__}", "clocks": origins}
    yield f'{{"displayTimeUnit":"ns","otherData":{_json(about)},"traceEvents":[\n'
    yield ",\n".join(_named("process_name", c.pid, c.pid, c.title(with_run=several)) for c in clocks.values())
    lanes = Lanes()
    pid = 0
    for rows in batches:
        lines: list[str] = []
        for row in rows:
            if row[0] != pid:
                pid, lanes = row[0], Lanes()
            lines += _lines(row, clocks[pid].origin_ns, lanes)
        yield "".join(f",\n{line}" for line in lines)
    yield "\n]}\n"


def _lines(row: tuple[Any, ...], origin: int, lanes: Lanes) -> Iterator[str]:
    pid, part, kind, name, start, end, side, attempt, args = row
    head = f'"name":{_json(name)},"cat":"{part}","pid":{pid},"ts":{_us(start - origin)}'
    args = _without_del(args)
    if kind == "counter":
        yield f'{{"ph":"C",{head},"tid":{pid},"args":{args}}}'
        return
    if attempt is None and kind == "instant":
        yield f'{{"ph":"i","s":"p",{head},"tid":{pid},"args":{args}}}'
        return
    group = "control" if attempt is None else f"{side}, bounded" if part == "boundary" and kind == "slice" else side
    stop = start if end is None else end
    tid, title = lanes.place(group, name if attempt is None else attempt, start, stop)
    if title:
        yield _named("thread_name", pid, tid, title)
    if kind == "slice":
        yield f'{{"ph":"X",{head},"dur":{_us(stop - start)},"tid":{tid},"args":{args}}}'
    else:
        yield f'{{"ph":"i","s":"t",{head},"tid":{tid},"args":{args}}}'


def _named(what: str, pid: int, tid: int, name: str) -> str:
    return f'{{"ph":"M","name":"{what}","pid":{pid},"tid":{tid},"args":{{"name":{_json(name)}}}}}'


def _us(ns: int) -> str:
    """Microseconds, exactly."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def _json(value: Any) -> str:
    """JSON beyond ASCII as it is: Perfetto takes no surrogates, and no delete character, which JSON allows."""
    return _without_del(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _without_del(text: str) -> str:
    return text.replace("\x7f", "\\u007f")
