"""The files that MLPerf LoadGen leaves beside each other, and what its detail log says of a run."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.base import HEAD_BYTES
from analyzer.sources.opening import head, lines
from analyzer.sources.refusing import outline

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_ENDS = {"summary": ".txt", "detail": ".txt", "accuracy": ".json", "trace": ".json"}
_PREFIX = ":::MLLOG"
# Spans that LoadGen draws of itself before the first sample.
_OWN_SPANS = (b'"GenerateLoadableSets"', b'"GenerateQueries"', b'"SampleLoop"', b'"QuerySamplesComplete"')
_LARGEST = 2**63
_SCENARIOS = {"SingleStream": "single stream", "MultiStream": "multi stream", "Offline": "offline"}


def beside(path: Path, kind: str) -> Path | None:
    """The summary, detail, accuracy or trace file of the same run in the same folder, None where there is none."""
    for own, end in _ENDS.items():
        before, found, after = path.name.rpartition(own)
        if found and after.endswith(end):
            other = path.with_name(before + kind + after.removesuffix(end) + _ENDS[kind])
            return other if other.is_file() else None
    return None


def is_trace(start: bytes) -> bool:
    """Whether a file that begins so is LoadGen's trace; the same viewer reads traces of many other programs."""
    return start.lstrip().startswith(b"{") and b'"traceEvents"' in start[:200] and any(s in start for s in _OWN_SPANS)


def is_detail(start: bytes) -> bool:
    """Whether a file that begins so is LoadGen's detail log; others write lines of the same form."""
    return start.lstrip().startswith(_PREFIX.encode()) and b'"loadgen_' in start


def has_trace(path: Path) -> bool:
    """Whether a trace with content lies beside; LoadGen leaves an empty file where it was told to write none."""
    trace = beside(path, "trace")
    try:
        return trace is not None and is_trace(head(trace, HEAD_BYTES))
    except SourceError:
        return False


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a detail log; `fault` says why it is none, `sample` shows it without what it says."""

    line: int
    key: str = ""
    value: Any = None
    fault: str | None = None
    sample: str = ""


def entries(path: Path, limit: int) -> Iterator[Entry]:
    """The lines of a detail log. SourceError when it cannot be read."""
    for block in lines(path, limit):
        for position, reason, raw in block.broken:
            yield Entry(position, fault=reason, sample=outline(raw))
        table = block.table
        for position, text in zip(table["position"].to_pylist(), table["line"].to_pylist(), strict=True):
            yield _entry(position, text, torn=position == block.torn_position)


def _entry(position: int, text: str, *, torn: bool) -> Entry:
    body = text.removeprefix(_PREFIX)
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        found = None
    if not text.startswith(_PREFIX) or not isinstance(found, dict) or not isinstance(found.get("key"), str):
        fault = "torn last line: the file ends inside it" if torn else "not a line of MLPerf's log format"
        return Entry(position, fault=fault, sample=outline(body.lstrip()))
    return Entry(position, found["key"], found.get("value"))


@dataclass(frozen=True, slots=True)
class Told:
    """What a detail log says of its run before any result."""

    version: str | None = None
    load_point: str | None = None


def told(found: Iterable[Entry]) -> Told:
    """The tool's version, and the operating point in words: scenario, target rate, and whether it checked accuracy."""
    last = {entry.key: entry.value for entry in found if entry.fault is None}
    version = last.get("loadgen_version")
    return Told(
        str(version).split()[0] if version else None,
        load_point(last.get("effective_scenario"), last.get("effective_target_qps"), last.get("effective_test_mode")),
    )


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that any store can hold."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < _LARGEST


def load_point(scenario: Any, qps: Any, mode: Any) -> str | None:
    """An operating point in words, such as `server 45/s`."""
    if not scenario:
        return None
    if scenario == "Server" and is_number(qps):
        point = f"server {qps:.6g}/s"
    else:
        point = _SCENARIOS.get(str(scenario), str(scenario).lower())
    return f"{point}, accuracy" if mode == "AccuracyOnly" else point
