"""OTLP/JSON by documents: those of a text, and those of a stream, group by group."""

from __future__ import annotations

import json
import re
from typing import IO, TYPE_CHECKING, Any

from analyzer.sources.documents import Pieces
from analyzer.sources.otlp.json_spans import ARRAYS, document_into, group_into
from analyzer.sources.span_rows import ODD_FORMS
from analyzer.sources.span_values import OddRecordError, loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.base import Options
    from analyzer.sources.span_rows import SpanRows

_INVALID = "not valid JSON"
_TORN = "torn last line: the file ends inside it"
_DECODER = json.JSONDecoder()
_SPACE = " \t\r\n\x00"
_NO_BRACKETS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[^{}\[\]"]++|"', re.DOTALL)
_EMPTY = re.compile(r"\{\}|\[\]")


def text_into(line: str, position: int, place: str, rows: SpanRows, *, torn: bool = False) -> Iterator[None]:
    """Take the document, or the documents, of a line or message."""
    if _too_deep(line, rows.options.max_depth):
        rows.refuse(place, f"nested deeper than {rows.options.max_depth}", line)
        yield
        return
    try:
        documents = _documents(line)
    except (ValueError, RecursionError):
        rows.refuse(place, _TORN if torn else _INVALID, line)
        yield
        return
    for document in documents:
        try:
            yield from document_into(document, position, place, rows)
        except OddRecordError as fault:
            rows.refuse(place, str(fault), line)
            yield


def _too_deep(line: str, most: int) -> bool:
    """Whether brackets outside of texts are nested too deep; most lines have too few of them to ask."""
    if line.count("{") + line.count("[") <= most:
        return False
    brackets = _NO_BRACKETS.sub("", line)
    for _ in range(most):
        # Each time, what holds nothing more is taken away: one level.
        outer = _EMPTY.sub("", brackets)
        if outer == brackets:  # nothing is left, or brackets that do not close
            return brackets.count("{") + brackets.count("[") > most
        brackets = outer
    return brackets != ""


def _documents(line: str) -> list[Any]:
    """Every document of a line. ValueError when there is anything else on it."""
    try:
        return [loaded(line)]
    except json.JSONDecodeError as fault:
        if not fault.msg.startswith("Extra data"):
            raise
    documents, begin = [], 0
    while begin < len(line):
        _, end = _DECODER.raw_decode(line, begin)
        documents.append(loaded(line[begin:end]))
        begin = end + len(line[end:]) - len(line[end:].lstrip(_SPACE))
    return documents


def documents_into(stream: IO[bytes], options: Options, rows: SpanRows) -> Iterator[None]:
    """Take the documents of a stream, group by group."""
    for piece in Pieces(stream, ARRAYS, options.max_document_bytes, options.max_depth):
        if piece.fault:
            rows.refuse(piece.place, piece.fault, piece.body)
        elif piece.ends:
            if not piece.seen:
                rows.refuse(piece.place, "not a document of spans", piece.body)
        else:
            try:
                group = loaded(piece.body)
            except ODD_FORMS:
                rows.refuse(piece.place, _INVALID, piece.body)
            else:
                yield from group_into(piece.path, group, piece.line, piece.place, rows)
        yield
