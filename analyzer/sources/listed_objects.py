"""The objects of a JSON list, one at a time: what a tool writes row by row is read so, however long it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.errors import SourceError
from analyzer.sources import exact
from analyzer.sources.documents import NO_OBJECT, TORN, Pieces
from analyzer.sources.opening import open_counted
from analyzer.sources.refusing import outline

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.documents import Piece

_LIST = frozenset({()})
_NO_JSON = "not valid JSON"


class Listed(NamedTuple):
    """An element: its object, else (`row` None) why it is none; where it stands, and what may be shown of it."""

    row: dict[str, Any] | None
    fault: str
    place: str
    sample: str
    bytes_read: int


def objects(path: Path, options: Options) -> Iterator[Listed]:
    """The elements of the file's list, in order. SourceError when the file as a whole is torn or no JSON."""
    stream, counted = open_counted(path)
    with stream:
        for piece in Pieces(stream, _LIST, options.max_document_bytes, options.max_depth):
            if piece.fault == TORN or (piece.fault or "").startswith(_NO_JSON):
                raise torn(path, piece.fault)
            if not piece.ends:
                row, fault = _object(piece)
                yield Listed(row, fault, piece.place, outline(piece.body), counted())


def torn(path: Path, fault: object) -> SourceError:
    """That a file is not whole."""
    return SourceError(f"{path} is not whole JSON: {fault}", "copy the file again, or let the tool finish")


def _object(piece: Piece) -> tuple[dict[str, Any] | None, str]:
    if piece.fault:
        return None, piece.fault
    try:
        row = exact.loaded(piece.body)
    except (ValueError, RecursionError):
        return None, _NO_JSON
    return (row, "") if isinstance(row, dict) else (None, NO_OBJECT)
