"""Mooncake's traces: arrivals with lengths, no latencies and no outcomes. Times are ms from the trace's start."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from analyzer.sources.checked_lines import (
    JSON_CHECKS,
    count_checks,
    json_fields,
    line_frames,
    milliseconds,
    told_checks,
)
from analyzer.sources.opening import lines
from analyzer.vocabulary import ClockKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options

CLOCK = "mooncake"
_FIELDS = ("timestamp", "input_length", "output_length")
_ARRIVED = milliseconds("timestamp")
_CHECKS = (
    *JSON_CHECKS,
    *told_checks(timestamp="the row says no arrival"),
    ("timestamp_type NOT IN ('UBIGINT', 'BIGINT', 'DOUBLE')", "timestamp is not a number of milliseconds"),
    (f"{_ARRIVED} IS NULL", "timestamp is out of range"),
    *count_checks("input_length", "output_length"),
)
_REQUESTS = f"""{_ARRIVED} AS arrived_ns, '{CLOCK}' AS clock, '{ClockKind.MONOTONIC}' AS clock_kind,
  '{Side.GATEWAY}' AS side, TRY_CAST(input_length AS BIGINT) AS input_tokens,
  TRY_CAST(output_length AS BIGINT) AS output_tokens"""


class _Mooncake:
    name = "mooncake"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line that is an object with a time and two lengths."""
        try:
            first = json.loads(head.lstrip().split(b"\n", 1)[0])
        except (ValueError, RecursionError):
            return False
        return isinstance(first, dict) and first.keys() >= set(_FIELDS) and "event" not in first

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`: the arrival of each request, with its lengths."""
        fields = json_fields({name: f"$.{name}" for name in _FIELDS})
        for block in lines(path, options.max_line_bytes):
            yield line_frames(
                block, block.table, options, fields=fields, checks=_CHECKS, requests=_REQUESTS, tool="mooncake"
            )


SOURCE = _Mooncake()
