"""JSON documents of any size, one after the other, cut into the pieces that a source reads.

A piece is an element of an array that the source names by the keys above it, or a whole document. It is found without
parsing: strings and brackets suffice, so memory holds one piece and never the document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from analyzer.sources.opening import SAMPLE_CHARACTERS, before_text

if TYPE_CHECKING:
    from collections.abc import Iterator

Path = tuple[str, ...]
WHOLE: Path = ("",)  # not an array inside the document, but the document itself

TORN = "torn: the file ends inside it"
NO_OBJECT = "it stands where an object belongs"
_BLOCK = 1024 * 1024
_LONGEST_KEY = 64 * 1024
_DEEPEST = 1_000_000
_TOKEN = re.compile(rb'[{}\[\]]|"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+("?)')
_STRING_REST = re.compile(rb'[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+("?)')
_BETWEEN = b" \t\r\n\x00"
_SPACE = re.compile(rb"[ \t\r\n\x00]*+")
_NEXT_DOCUMENT = re.compile(rb"\n(?=[{\[])")
_CLOSES = {ord("}"): ord("{"), ord("]"): ord("[")}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece (`body`), the end of a document (`ends`), or what cannot be one (`fault`: why; `body`: its start).

    `line` counts from 1 and `offset` from 0, over the decompressed file; `seen` are the named arrays of the document.
    """

    line: int
    offset: int
    body: bytes = b""
    path: Path = ()
    fault: str | None = None
    ends: bool = False
    seen: frozenset[Path] = frozenset()

    @property
    def place(self) -> str:
        """Where it begins, in words."""
        return f"line {self.line}, byte {self.offset}"


@dataclass
class Pieces:
    """The pieces of a stream; `arrays` says which. Iterate once."""

    stream: IO[bytes]
    arrays: frozenset[Path]
    max_bytes: int
    max_depth: int
    seen: set[Path] = field(default_factory=set)
    _buffer: bytearray = field(default_factory=bytearray)
    _base: int = 0  # offset of the buffer's first byte
    _scan: int = 0  # where in the buffer the next token is looked for
    _lines: int = 1  # line of the byte at _counted
    _counted: int = 0
    _in_string: bool = False
    _key: str | None = None

    def __post_init__(self) -> None:
        self._target0 = 0 if WHOLE in self.arrays else None
        self._reset()

    def _reset(self) -> None:
        self._stack = bytearray()
        self._names: list[str | None] = []
        self._target = self._target0  # depth at which brackets are pieces
        self._start: int | None = None  # of the piece that is open
        self._refusal: str | None = None  # why the piece that is open will be none
        self._gap: int | None = None
        self._gap_sample = b""
        self._begun: Piece | None = None
        self._document: Piece | None = None
        self._in_string = False

    def __iter__(self) -> Iterator[Piece]:
        """Every piece, document's end and fault, in order."""
        while self._more() and len(self._buffer) < SAMPLE_CHARACTERS:
            pass
        self._scan = before_text(bytes(self._buffer[:_LONGEST_KEY]))
        while True:
            if not self._stack:
                fault = self._between_documents()
                if fault:
                    yield fault
                if not self._at(self._scan):
                    return
            token = self._token()
            if token is None:
                yield self._fault(TORN)
                return
            if isinstance(token, Piece):
                yield token
                continue
            yield from self._bracket(token)

    # -- bytes ------------------------------------------------------------------------------------------------------

    def _more(self) -> bool:
        """One more block; what no piece needs any longer is let go."""
        self._take_gap(self._scan)
        keep = self._scan if self._start is None else self._start
        if keep:
            self._line_at(keep)
            del self._buffer[:keep]
            self._base += keep
            self._counted -= keep
            self._scan -= keep
            self._start = None if self._start is None else 0
            self._gap = None if self._gap is None else max(0, self._gap - keep)
        if self._start is not None and len(self._buffer) > self.max_bytes:
            self._refusal = f"larger than {self.max_bytes} bytes, the limit for what is read at once"
            self._line_at(self._scan)
            self._start = None
        block = self.stream.read(_BLOCK)
        self._buffer += block
        return bool(block)

    def _at(self, index: int) -> bytes:
        while index >= len(self._buffer):
            moved = self._base
            if not self._more():
                return b""
            index -= self._base - moved
        return bytes(self._buffer[index : index + 1])

    def _line_at(self, index: int) -> int:
        if index > self._counted:
            self._lines += self._buffer.count(b"\n", self._counted, index)
            self._counted = index
        return self._lines

    def _here(self, index: int) -> Piece:
        start = bytes(self._buffer[index : index + SAMPLE_CHARACTERS])
        return Piece(self._line_at(index), self._base + index, start)

    # -- tokens -----------------------------------------------------------------------------------------------------

    def _token(self) -> int | Piece | None:
        """Index of the next bracket, with _scan behind it; a fault; None at the end of the file."""
        while True:
            if self._in_string:
                found = _STRING_REST.match(self._buffer, self._scan)
            else:
                found = _TOKEN.search(self._buffer, self._scan)
            if found is None:
                self._scan = len(self._buffer)
                if not self._more():
                    return None
                continue
            if not self._in_string and self._buffer[found.start()] != ord('"'):
                self._scan = found.end()
                return found.start()
            fault = self._after_text(found)
            if fault:
                return fault

    def _after_text(self, found: re.Match[bytes]) -> Piece | None:
        """Go on behind a text, or what the buffer holds of one; a fault where a text cannot end."""
        begin, end = found.span()
        if found.group(1):
            if self._start is None and not self._in_string:
                self._key = self._buffer[begin + 1 : end - 1].decode("utf-8", "replace")
            self._scan, self._in_string = end, False
            return None
        rest = bytes(self._buffer[end : end + 2])
        if rest[:1] == b"\n" or rest == b"\\\n":
            return self._fault("not valid JSON: a line ends inside a text", end)
        if not self._in_string and self._start is None and len(self._buffer) - begin < _LONGEST_KEY:
            self._scan = begin
        else:
            self._scan, self._in_string, self._key = end, True, None
        return None if self._more() else self._fault(TORN)

    def _bracket(self, index: int) -> Iterator[Piece]:
        bracket = self._buffer[index]
        if bracket in b"{[":
            if self._target == len(self._stack) and self._start is None and self._begun is None:
                yield from self._end_gap(index)
                self._start, self._begun, self._refusal = index, self._here(index), None
            self._open(bracket, index)
            if len(self._stack) > _DEEPEST:
                yield self._fault(f"nested deeper than {self.max_depth}", index)
            return
        if self._stack[-1] != _CLOSES[bracket]:
            yield self._fault("not valid JSON: a bracket closes that was not opened", index)
            return
        self._stack.pop()
        if len(self._names) > len(self._stack):
            self._names.pop()
        yield from self._close(index)

    def _open(self, bracket: int, index: int) -> None:
        depth = len(self._stack)
        if depth == 0:
            self._document = self._here(index)
            self.seen = set()
        if self._begun is not None and depth >= self.max_depth:
            self._refusal = f"nested deeper than {self.max_depth}"
        elif self._begun is None and depth == len(self._names):
            self._names.append(self._key if depth and self._stack[-1] == ord("{") else None)
        self._stack.append(bracket)
        if self._begun is None and bracket == ord("[") and self._target is None:
            path = tuple(self._names[1:])
            if len(path) == depth and path in self.arrays:
                self.seen.add(path)  # type: ignore[arg-type]
                self._target, self._gap = depth + 1, index + 1

    def _close(self, index: int) -> Iterator[Piece]:
        depth = len(self._stack)
        if self._begun is not None and depth == self._target:
            yield self._piece(index + 1)
            self._start = self._begun = None
            self._gap = index + 1 if depth else None
        elif self._target is not None and depth < self._target:
            yield from self._end_gap(index)
            self._target, self._gap = self._target0, None
        if depth == 0:
            if self._document is not None and self._target0 is None:
                at = self._document
                yield Piece(at.line, at.offset, at.body, ends=True, seen=frozenset(self.seen))
            self._reset()

    def _piece(self, end: int) -> Piece:
        begun = self._begun or self._here(end)
        path = tuple(name or "" for name in self._names[1:])
        if self._refusal is None and self._start is not None:
            return Piece(begun.line, begun.offset, bytes(self._buffer[self._start : end]), path)
        return Piece(begun.line, begun.offset, begun.body, path, fault=self._refusal)

    # -- what is none -----------------------------------------------------------------------------------------------

    def _take_gap(self, end: int) -> None:
        """Look at what stands between two pieces before it is let go."""
        if self._gap is None or end <= self._gap:
            return
        if not self._gap_sample:
            strange = bytes(self._buffer[self._gap : end]).strip(_BETWEEN + b",")
            self._gap_sample = strange[:SAMPLE_CHARACTERS]
        self._gap = end

    def _end_gap(self, index: int) -> Iterator[Piece]:
        self._take_gap(index)
        if self._gap_sample:
            at = self._here(index)
            yield Piece(at.line, at.offset, self._gap_sample, fault=NO_OBJECT)
        self._gap_sample, self._gap = b"", None

    def _between_documents(self) -> Piece | None:
        """Pass over white space; what else stands before the next document is a fault, once."""
        while (byte := self._at(self._scan)) and byte in _BETWEEN:
            space = _SPACE.match(self._buffer, self._scan)
            self._scan = space.end() if space else self._scan
        if not byte or byte in b"{[":
            return None
        return self._fault("not valid JSON: it is neither an object nor a list", self._scan)

    def _fault(self, reason: str, index: int | None = None) -> Piece:
        """Give up what is open, and go on where a line begins with a bracket."""
        at = self._begun or self._document or self._here(self._scan if index is None else index)
        reason = (self._refusal if reason == TORN else None) or reason
        self._reset()
        if index is None:
            self._scan = len(self._buffer)
        else:
            self._scan = index
            while (found := _NEXT_DOCUMENT.search(self._buffer, self._scan)) is None:
                # The last byte stays: it may be the end of line before the bracket.
                self._scan = max(self._scan, len(self._buffer) - 1)
                if not self._more():
                    self._scan = len(self._buffer)
                    break
            else:
                self._scan = found.end()
        return Piece(at.line, at.offset, at.body, fault=reason)
