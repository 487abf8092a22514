"""Files of load generators that save one JSON object a run, one or several behind each other."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.errors import SourceError
from analyzer.sources.bench_lists import OddRunError
from analyzer.sources.documents import WHOLE, Pieces
from analyzer.sources.opening import open_bytes, open_counted
from analyzer.sources.refusing import outline
from analyzer.sources.span_values import loaded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options
    from analyzer.sources.request_rows import RequestRows

_BLOCK = 1024 * 1024
_KEY = re.compile(rb'"(\w+)"\s*:')
_SHOWN = 1000
# Rows are handed on when so many messages have come together.
_MESSAGES_AT_ONCE = 100_000


def keys(head: bytes) -> set[bytes]:
    """The keys in the first bytes of a file that begins as an object; none of any other."""
    return set(_KEY.findall(head)) if head.lstrip().startswith(b"{") else set()


def holds(path: Path, key: str) -> bool:
    """Whether a key stands anywhere in a file; in a text it would stand with its quotation marks escaped."""
    wanted = re.compile(rb'"' + key.encode() + rb'"\s*:')
    left = b""
    with open_bytes(path) as stream:
        while block := stream.read(_BLOCK):
            if wanted.search(left + block):
                return True
            left = block[-64:]
    return False


class Document(NamedTuple):
    """A run, or why there is none; `begin` are its first bytes, `read` how much of the file is behind it."""

    place: str
    run: dict[str, Any]
    fault: str | None
    begin: bytes
    read: int


def documents(path: Path, options: Options) -> Iterator[Document]:
    """Every JSON object of a file, and what is none."""
    stream, count = open_counted(path)
    with stream:
        for piece in Pieces(stream, frozenset({WHOLE}), options.max_document_bytes, options.max_depth):
            place, begin = piece.place, piece.body[:_SHOWN]
            value, fault = None, piece.fault
            if fault is None:
                try:
                    value = loaded(piece.body)
                except (ValueError, RecursionError) as odd:
                    fault = f"not valid JSON: {odd.msg}" if isinstance(odd, json.JSONDecodeError) else "not valid JSON"
            if fault is None and not isinstance(value, dict):
                fault = "not a JSON object"
            del piece  # its text is not held beside what was read of it
            yield Document(place, value if isinstance(value, dict) else {}, fault, begin, count())


def each_run(
    path: Path, options: Options, rows: RequestRows, take: Callable[[Document], Iterator[Frames]]
) -> Iterator[Frames]:
    """What `take` makes of each run; the others are refused. SourceError when the file holds none that can be read."""
    taken, why = 0, "it is empty"
    for document in documents(path, options):
        fault = document.fault
        if fault is None:
            try:
                yield from take(document)
            except OddRunError as odd:
                fault = str(odd)
        if fault is None:
            taken += 1
        else:
            why = fault
            rows.refuse(document.place, fault, outline(document.begin))
    if not taken:
        raise SourceError(f"{path} holds no run that can be read: {why}", "copy the file again, or let the tool finish")
    yield rows.flush()


class Batches:
    """Rows on their way, handed on before their messages are too many to be held."""

    def __init__(self, rows: RequestRows, read: int) -> None:
        self._rows, self._read, self._messages = rows, read, 0

    def after(self, messages: int) -> Iterator[Frames]:
        """Frames, when with this row so many messages have come together."""
        self._messages += messages + 1
        if self._messages >= _MESSAGES_AT_ONCE:
            self._messages = 0
            yield self._rows.flush(bytes_read=self._read)
