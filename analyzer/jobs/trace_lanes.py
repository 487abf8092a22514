"""Which thread of a trace viewer each slice stands on.

Slices of one thread must nest or stand apart: of two that overlap otherwise Perfetto drops one, or moves it (statistics
slice_drop_ and slice_spill_overlapping_complete_event in its src/trace_processor/storage/stats.h). Async events need
not nest, but their tracks go by their names (InternLegacyAsyncTrack in its json_trace_parser), so that the stages of an
attempt would not lie below it. So an attempt has a thread for as long as it lasts, and the next one takes it over:
there are as many threads as attempts in flight.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

# A viewer orders the threads of a process by their numbers.
_GROUPS = ("client", "gateway", "engine", "client, bounded", "gateway, bounded", "engine, bounded", "control")
_STRIDE = 1_000_000


@dataclass(slots=True)
class _Lane:
    number: int
    end: int
    attempt: str
    open_ends: list[int] = field(default_factory=list)

    def takes(self, start: int, end: int) -> bool:
        """Put a slice here if it nests in what is open, or nothing is."""
        while self.open_ends and self.open_ends[-1] <= start:
            self.open_ends.pop()
        if self.open_ends and self.open_ends[-1] < end:
            return False
        self.open_ends.append(end)
        self.end = max(self.end, end)
        return True


class _Group:
    """The threads of one side."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._made = 0
        self._busy: list[tuple[int, int, _Lane]] = []
        self._of: dict[str, list[_Lane]] = {}

    def place(self, attempt: str, start: int, end: int) -> int:
        self._release(start)
        own = self._of.setdefault(attempt, [])
        for lane in own:
            if lane.takes(start, end):
                return lane.number
        lane = _Lane(self._number(), end, attempt, [end])
        own.append(lane)
        heapq.heappush(self._busy, (end, lane.number, lane))
        return lane.number

    def _number(self) -> int:
        if self._free:
            return heapq.heappop(self._free)
        self._made += 1
        return self._made

    def _release(self, now: int) -> None:
        """Take back the threads of attempts that are over: before now, as what happens at the end still goes there."""
        while self._busy and self._busy[0][0] < now:
            _, _, lane = heapq.heappop(self._busy)
            if lane.end >= now:
                heapq.heappush(self._busy, (lane.end, lane.number, lane))
                continue
            heapq.heappush(self._free, lane.number)
            own = self._of[lane.attempt]
            own.remove(lane)
            if not own:
                del self._of[lane.attempt]


class Lanes:
    """The threads of one process; slices and instants come in the order of their starts, the longer ones first."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}
        self._named: set[int] = set()

    def place(self, group: str, attempt: str, start: int, end: int) -> tuple[int, str | None]:
        """Number of the thread, and its name when it is a new one."""
        number = self._groups.setdefault(group, _Group()).place(attempt, start, end)
        thread = (_GROUPS.index(group) + 1) * _STRIDE + number
        if thread in self._named:
            return thread, None
        self._named.add(thread)
        return thread, f"{group} {number}"
