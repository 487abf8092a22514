"""Which form of OTLP a file is in, from its first bytes."""

from __future__ import annotations

import re
from enum import Enum
from io import BytesIO
from typing import IO, TYPE_CHECKING

from analyzer.sources.base import HEAD_BYTES, MEGABYTE
from analyzer.sources.documents import TORN, Pieces
from analyzer.sources.opening import open_bytes
from analyzer.sources.otlp import messages
from analyzer.sources.otlp.json_spans import ARRAYS, BATCHES, FLAT, LISTED
from analyzer.sources.span_values import loaded

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.sources.base import Options

_SPACE = b" \t\r\n\x00"
_SCOPES = re.compile(rb'"(scopeSpans|scope_spans|instrumentationLibrarySpans|instrumentation_library_spans)"')
_TIMES = re.compile(rb'"(startTimeUnixNano|start_time_unix_nano)"')
_DOCUMENT = re.compile(rb"^[ \t\r\x00]*[{\[]", re.MULTILINE)
# A line that begins so is one, whatever odd lines stand before it.
_DOCUMENT_OF_SPANS = re.compile(rb'^[ \t\x00]*(?:\[\s*)?\{\s*"(resourceSpans|resource_spans)"\s*:\s*\[', re.MULTILINE)
_SAME_BEGINNING = 12


class Form(Enum):
    """How the records of a file are framed."""

    LINES = "a JSON document a line"
    DOCUMENTS = "JSON documents over many lines"
    MESSAGE = "one protobuf message"
    MESSAGES = "messages, each after its length"


def holds_otlp(stream: IO[bytes], start: bytes) -> bool:
    """Whether JSON text has one of OTLP's lists where OTLP or Tempo put it."""
    if _DOCUMENT_OF_SPANS.search(start):
        return True
    pieces = Pieces(stream, ARRAYS, MEGABYTE, max_depth=HEAD_BYTES)
    for _ in pieces:
        if _are_otlp(pieces, start):
            return True
    return _are_otlp(pieces, start)


def _are_otlp(pieces: Pieces, start: bytes) -> bool:
    """Whether lists that were seen are OTLP's; two of their names are common words, so that what they hold decides."""
    return any(
        _SCOPES.search(start) if path in BATCHES else _TIMES.search(start) if path in FLAT else True
        for path in pieces.seen
        if path != LISTED
    )


def form_of(path: Path, start: bytes, options: Options) -> Form | None:
    """The form of a file that begins with `start`; None when it is none that can be read."""
    framing = messages.framing(start)
    if framing is not None:
        return Form.MESSAGE if framing == "bare" else Form.MESSAGES
    found = _DOCUMENT.search(start)
    if found is None:
        return Form.LINES if start and b"\x00" not in start else None
    text = start[found.start() :].lstrip(_SPACE)
    if b"\n" not in text and len(start) >= HEAD_BYTES:
        return Form.LINES if _ends_line(path, options.max_line_bytes) else Form.DOCUMENTS
    return Form.LINES if _is_lines(text) else Form.DOCUMENTS


def _ends_line(path: Path, limit: int) -> bool:
    """Whether the first line, or the file, ends within the limit."""
    read = 0
    with open_bytes(path) as stream:
        while read <= limit:
            block = stream.read(MEGABYTE)
            if not block or b"\n" in block:
                return True
            read += len(block)
    return False


def _is_lines(text: bytes) -> bool:
    """Whether a document ends where the first line does, or would if it were whole."""
    first, _, rest = text.partition(b"\n")
    if not rest.strip(_SPACE) or _is_whole(first):
        return True
    second = rest.lstrip(_SPACE)
    if len(first) > _SAME_BEGINNING and second.startswith(first[:_SAME_BEGINNING]):
        return True  # the next document begins there: the first line is torn
    pieces = Pieces(BytesIO(text), ARRAYS, len(text), max_depth=HEAD_BYTES)
    for piece in pieces:
        return piece.fault is not None and not (piece.fault == TORN and pieces.seen)
    return True


def _is_whole(line: bytes) -> bool:
    try:
        loaded(line)
    except RecursionError:
        return False
    except ValueError as fault:
        return str(fault).startswith("Extra data")
    return True
