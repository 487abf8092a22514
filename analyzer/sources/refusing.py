"""Records that cannot be taken, as rows of `refused`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.base import Frame
from analyzer.sources.opening import SAMPLE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable


def shown(record: str | bytes) -> str:
    """The first characters of a record, for the person who looks for it."""
    text = record.decode("utf-8", "backslashreplace") if isinstance(record, bytes) else record
    return text[:SAMPLE_CHARACTERS]


def refused(label: str, rows: Iterable[tuple[str, str, str]]) -> tuple[Frame, ...]:
    """A frame of (position, reason, sample) rows, none when there are none."""
    import pyarrow as pa

    listed = list(rows)
    if not listed:
        return ()
    table = pa.table(
        {
            "source_file": pa.array([label] * len(listed), pa.string()),
            "position": pa.array([row[0] for row in listed], pa.string()),
            "reason": pa.array([row[1] for row in listed], pa.string()),
            "sample": pa.array([row[2] for row in listed], pa.string()),
        }
    )
    return (Frame("refused", table),)
