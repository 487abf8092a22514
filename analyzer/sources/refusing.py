"""Records that cannot be taken, as rows of `refused`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.sources.base import Frame
from analyzer.sources.opening import SAMPLE_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterable

_OUTLINED = 1000
# A text, and what makes it a key, the last one perhaps cut; or a word outside of texts.
_SAID = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|$)(\s*:)?|[^\s{}\[\]:,"0-9.+-]+', re.DOTALL)
_LITERALS = {"true", "false", "null"}


def shown(record: str | bytes) -> str:
    """The first characters of a record, for the person who looks for it."""
    text = record.decode("utf-8", "backslashreplace") if isinstance(record, bytes) else record
    return text[:SAMPLE_CHARACTERS]


def outline(record: str | bytes) -> str:
    """A record's first characters without what it says: keys, numbers and brackets of JSON, the size of anything else.

    What cannot be read cannot be told from content either, and no content reaches the store unasked.
    """
    start = record[:_OUTLINED].decode("utf-8", "replace") if isinstance(record, bytes) else record[:_OUTLINED]
    if start.lstrip()[:1] in ("{", "["):
        return _SAID.sub(lambda found: found[0] if found[1] or found[0] in _LITERALS else '"..."', start)[
            :SAMPLE_CHARACTERS
        ]
    if isinstance(record, bytes) and not start.isprintable():
        return f"{len(record)} bytes: {record[:8].hex(' ')} ..."
    return f"{len(record)} characters of text"


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
