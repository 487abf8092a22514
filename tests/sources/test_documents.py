"""JSON documents cut into pieces: what is a piece, where it stands, and what is none."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given as for_all
from hypothesis import settings
from hypothesis import strategies as st

from analyzer.sources.documents import TORN, WHOLE, Piece, Pieces

ITEMS = frozenset({("items",), ("wrap", "items")})


class Dripping(io.BytesIO):
    """A stream that gives some bytes at a time, however many are asked for."""

    def __init__(self, content: bytes, step: int) -> None:
        super().__init__(content)
        self._step = step

    def read(self, _size: int | None = -1, /) -> bytes:
        return super().read(self._step)


def cut(
    text: str | bytes, arrays: frozenset[tuple[str, ...]] = ITEMS, step: int = 1 << 20, **limits: int
) -> list[Piece]:
    content = text.encode() if isinstance(text, str) else text
    return list(Pieces(Dripping(content, step), arrays, limits.get("max_bytes", 1 << 20), limits.get("max_depth", 64)))


def bodies(pieces: list[Piece]) -> list[Any]:
    return [json.loads(piece.body) for piece in pieces if not piece.fault and not piece.ends]


def faults(pieces: list[Piece]) -> list[str]:
    return [piece.fault for piece in pieces if piece.fault]


@pytest.mark.parametrize("step", [1, 2, 7, 1 << 20])
def test_elements_are_found_whatever_the_blocks(step: int) -> None:
    text = '{"x": {"items": [{"no": 1}]}, "items": [{"a": "}]\\"{"}, {"b": [[]]}], "y": "items"}\n{"wrap": {"items": [{"c": 3}]}}'
    pieces = cut(text, step=step)
    assert bodies(pieces) == [{"a": '}]"{'}, {"b": [[]]}, {"c": 3}]
    assert [piece.path for piece in pieces if piece.path] == [("items",), ("items",), ("wrap", "items")]
    assert [sorted(piece.seen) for piece in pieces if piece.ends] == [[("items",)], [("wrap", "items")]]


@pytest.mark.parametrize("step", [1, 3, 1 << 20])
def test_a_piece_knows_its_line_and_byte(step: int) -> None:
    text = '\n{"items": [\n {"a": 1},\n\n {"b": 2}]}'
    found = [(piece.line, piece.offset) for piece in cut(text, step=step) if not piece.ends]
    assert found == [(3, text.index('{"a"')), (5, text.index('{"b"'))]


def test_documents_may_follow_each_other_with_nothing_between() -> None:
    assert bodies(cut('{"items":[{"a":1}]}{"items":[{"b":2}]}  \n\n{"items":[]}')) == [{"a": 1}, {"b": 2}]


def test_a_document_without_the_arrays_ends_without_a_piece() -> None:
    (end,) = cut('{"other": [{"a": 1}], "items": {"not": "a list"}}')
    assert (end.ends, end.seen) == (True, frozenset())


def test_lists_at_the_top_are_arrays_too() -> None:
    assert bodies(cut('[{"a": 1}]\n[{"b": 2}, {"c": 3}]', frozenset({()}))) == [{"a": 1}, {"b": 2}, {"c": 3}]


@pytest.mark.parametrize("step", [1, 1 << 20])
def test_whole_documents_are_pieces(step: int) -> None:
    pieces = cut('{"a": {"b": 1}}\n[2]', frozenset({WHOLE}), step=step)
    assert bodies(pieces) == [{"a": {"b": 1}}, [2]]


@pytest.mark.parametrize("step", [1, 5, 1 << 20])
def test_words_between_documents_are_one_fault_and_cost_no_document(step: int) -> None:
    pieces = cut('{"items":[{"a":1}]}\nINFO: {"x": 1} starting\nmore "words\n{"items":[{"b":2}]}\n', step=step)
    assert bodies(pieces) == [{"a": 1}, {"b": 2}]
    assert faults(pieces) == ["not valid JSON: it is neither an object nor a list"]


@pytest.mark.parametrize("step", [1, 1 << 20])
@pytest.mark.parametrize("tail", ['{"b":"half', '{"b":"half\\', '{"b"', '{"b":[1,', "", ","])
def test_a_torn_document_keeps_what_was_whole(step: int, tail: str) -> None:
    pieces = cut('{"items":[{"a":1},' + tail, step=step)
    assert bodies(pieces) == [{"a": 1}]
    assert faults(pieces) == [TORN]


def test_a_line_that_ends_inside_a_text_costs_its_document_only() -> None:
    pieces = cut('{"items":[{"a":"half\n{"items":[{"b":2}]}')
    assert bodies(pieces) == [{"b": 2}]
    assert faults(pieces) == ["not valid JSON: a line ends inside a text"]


def test_a_bracket_of_the_wrong_kind_costs_its_document_only() -> None:
    pieces = cut('{"items":[{"a":1]}\n{"items":[{"b":2}]}')
    assert bodies(pieces) == [{"b": 2}]
    assert len(faults(pieces)) == 1


def test_what_is_no_object_among_the_elements_is_one_fault() -> None:
    pieces = cut('{"items": [{"a":1}, null, 7, "x", {"b":2}, true]}')
    assert bodies(pieces) == [{"a": 1}, {"b": 2}]
    assert faults(pieces) == ["it stands where an object belongs"] * 2


@pytest.mark.parametrize("step", [1, 100, 1 << 20])
def test_a_piece_that_is_too_large_is_refused_and_the_next_one_read(step: int) -> None:
    text = '{"items": [{"a": "' + "x" * 5000 + '"}, {"b": 2}]}'
    pieces = cut(text, step=step, max_bytes=1000) if step < 1 << 20 else cut(text * 300, step=1000, max_bytes=1000)
    assert bodies(pieces)[0] == {"b": 2}
    assert all("larger than 1000 bytes" in fault for fault in faults(pieces))


def test_a_piece_that_is_nested_too_deep_is_refused_and_the_next_one_read() -> None:
    pieces = cut('{"items": [{"a": ' + "[" * 100 + "]" * 100 + '}, {"b": 2}]}')
    assert bodies(pieces) == [{"b": 2}]
    assert faults(pieces) == ["nested deeper than 64"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), JSON, max_size=3), max_size=4)


@settings(max_examples=150, deadline=None)
@for_all(
    st.lists(OBJECTS, max_size=3),
    st.sampled_from([None, 1, "\t"]),
    st.booleans(),
    st.sampled_from(["", "\n", " \r\n "]),
    st.integers(1, 40),
)
def test_pieces_are_the_elements_of_any_documents(
    documents: list[list[dict[str, Any]]], indent: int | str | None, ascii_only: bool, between: str, step: int
) -> None:
    text = between.join(
        json.dumps(
            {"before": items[:1], "items": items, "after": {"items": items}}, indent=indent, ensure_ascii=ascii_only
        )
        for items in documents
    )
    pieces = cut(text, step=step)
    assert faults(pieces) == []
    assert bodies(pieces) == [item for items in documents for item in items]
    assert all(text.encode()[piece.offset :].startswith(piece.body) for piece in pieces)
