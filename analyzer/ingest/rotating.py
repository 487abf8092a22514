"""Files that one log was rotated into, and the lines that a rotation has cut in two."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from analyzer.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from analyzer import sources
    from analyzer.ingest.finding import Found

# name-2022-09-14T05-02-14.173.json, as the collector's file exporter renames it, or name.json.1, as logrotate does.
_ROTATED = re.compile(
    r"(?P<stem>.+?)(?:-(?P<moment>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.\d{3}))?"
    r"(?P<suffix>\.[A-Za-z][A-Za-z0-9]*)?(?:\.(?P<number>\d{1,4}))?",
    re.ASCII,
)
_BLOCK = 1024 * 1024
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")


@dataclass(frozen=True, slots=True)
class Joint:
    """How a file hangs together with its neighbours: what ends its last line, whether its first line is such an end."""

    line_rest: bytes = b""
    begins_inside_line: bool = False


def joints(
    files: Sequence[Found], readers: Mapping[Path, sources.Source | None], limit: int
) -> dict[Path, tuple[Joint, sources.Source]]:
    """The files, by path, of which a rotation has cut a line, with the source that reads both halves of it.

    Only sources that say so (`joins_lines`) take a line in two halves. SourceError when a file cannot be read.
    """
    found: dict[Path, tuple[Joint, sources.Source]] = {}
    for before, after in _neighbours(files):
        reader = readers[before.path]
        other = readers[after.path]
        if reader is None or not getattr(reader, "joins_lines", False) or other not in (None, reader):
            continue
        rest = _rest(before.path, after.path, limit)
        if rest:
            joint, _ = found.get(before.path, (Joint(), reader))
            found[before.path] = Joint(rest, joint.begins_inside_line), reader
            found[after.path] = Joint(b"", begins_inside_line=True), reader
    return found


def _neighbours(files: Sequence[Found]) -> Iterator[tuple[Found, Found]]:
    """Each file with the one that the log went on in, oldest first."""
    logs: dict[tuple[Path, str, str], list[tuple[tuple[int, str, int], Found]]] = {}
    for file in files:
        name = _ROTATED.fullmatch(file.path.name)
        if name is None:
            continue
        moment, number = name["moment"], name["number"]
        # Renamed files are older than numbered ones, the highest number is the oldest, and the bare name the newest.
        place = (0, moment, 0) if moment else (1, "", -int(number)) if number else (2, "", 0)
        logs.setdefault((file.path.parent, name["stem"], name["suffix"] or ""), []).append((place, file))
    for log in logs.values():
        log.sort(key=lambda placed: placed[0])
        for (before, first), (after, second) in pairwise(log):
            # Between numbers that do not follow each other a file is missing, and with it the rest of a line.
            if before[0] != 1 or before[2] + 1 == after[2]:
                yield first, second


def _rest(before: Path, after: Path, limit: int) -> bytes:
    """The first line of a file, if it ends the last line of the one before, and neither is whole without the other."""
    try:
        tail = _last_line(before, limit)
        head = _first_line(after, limit) if tail else b""
    except OSError as fault:
        raise SourceError(f"{fault.filename} cannot be read: {fault.strerror}", "check its permissions") from fault
    if not head or len(tail) + len(head) > limit or _is_whole(tail) or _is_whole(head):
        return b""
    return head if _is_whole(tail + head) else b""


def _last_line(path: Path, limit: int) -> bytes:
    """What follows the last end of line; nothing when the file ends with one, is packed, or the line is too long."""
    line = b""
    with path.open("rb") as stream:
        if stream.read(4).startswith(_PACKED):
            return b""
        place = stream.seek(0, 2)
        while place and len(line) <= limit:
            step = min(place, _BLOCK)
            place = stream.seek(place - step)
            block = stream.read(step)
            before, newline, behind = block.rpartition(b"\n")
            if newline:
                return behind + line
            line = before + behind + line
    return line if len(line) <= limit else b""


def _first_line(path: Path, limit: int) -> bytes:
    with path.open("rb") as stream:
        line = stream.readline(limit + 1)
    return b"" if line.startswith(_PACKED) else line.rstrip(b"\r\n")


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
