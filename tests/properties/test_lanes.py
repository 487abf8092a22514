"""However OTLP/JSON is read, the same comes of it: record by record, column by column, and by protobuf's own parser."""

from __future__ import annotations

import base64
import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from properties.otlp_documents import Document, canonical, files, spelled_otherwise, traps
from reading import of_message, prefixed, read

from analyzer.errors import SourceError
from analyzer.ingest import reading
from analyzer.ingest.finding import Found
from analyzer.sources import Options
from analyzer.sources.otlp import SOURCE, json_lines, line_columns, message_columns
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LEDGER = ("records", "kept", "set_aside", "refused", "dropped", "note")
IDS = {"traceId", "spanId", "parentSpanId", "trace_id", "span_id", "parent_span_id"}
SAME = settings(deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lanes")


@pytest.fixture(scope="module")
def store(folder: Path) -> Iterator[Store]:
    with Store(folder / "lanes.duckdb", create=True) as made:
        yield made


@pytest.fixture(autouse=True, scope="module")
def _columns_however_little_there_is() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lines, "WORTH_COLUMNS", 0)
        patch.setattr(message_columns, "WORTH_COLUMNS", 0)
        yield


# -- against protobuf -------------------------------------------------------------------------------------------------


def in_base64(value: Any) -> Any:
    """The document with its ids as protobuf's own JSON has them."""
    if isinstance(value, list):
        return [in_base64(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: base64.b64encode(bytes.fromhex(inner)).decode() if key in IDS else in_base64(inner)
        for key, inner in value.items()
    }


def by_protobuf(text: str) -> list[dict[str, Any]]:
    """The spans of a document as protobuf's parser understands it."""
    return told(of_message(as_message(text)).spans)


def as_message(text: str) -> bytes:
    """A document as protobuf's parser understands it."""
    data = json_format.Parse(json.dumps(in_base64(json.loads(text))), TracesData(), ignore_unknown_fields=True)
    return bytes(data.SerializeToString())


def told(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every column of spans but those that say where they stand."""
    return [{key: value for key, value in row.items() if key not in ("source_file", "position")} for row in spans]


def by_us(folder: Path, text: str) -> list[dict[str, Any]]:
    """The spans of a document as it is read record by record; none of it is refused."""
    path = folder / "document.jsonl"
    path.write_text(text + "\n", encoding="utf-8", newline="")
    taken = read(path, SOURCE, careful=True)
    assert taken.refused == []
    return told(taken.spans)


@settings(SAME, max_examples=500)
@given(document=canonical)
def test_canonical_documents_mean_to_us_what_they_mean_to_protobuf(folder: Path, document: Document) -> None:
    assert by_us(folder, document.text) == by_protobuf(document.text)


@pytest.mark.parametrize("document", traps, ids=range(len(traps)))
def test_every_text_and_number_that_is_a_trap_means_to_us_what_it_means_to_protobuf(
    folder: Path, document: Document
) -> None:
    assert by_us(folder, document.text) == by_protobuf(document.text)


@settings(SAME, max_examples=300)
@given(document=spelled_otherwise)
def test_any_spelling_that_protobuf_allows_means_the_same_to_us(folder: Path, document: Document) -> None:
    assert by_us(folder, document.text) == by_protobuf(document.text)


# -- against each other -----------------------------------------------------------------------------------------------

WAYS: tuple[dict[str, Any], ...] = (
    *({},) * 8,
    {"keep_content": True}, {"run_forced": "r"}, {"keep_content": True, "drop": ("a",)}, {"drop": ("user.*",)}, {"drop": ("*",)},
    {"drop": ("*.name", "x_request_id", "A?b", "[ab]")}, {"max_depth": 12}, {"max_depth": 16}, {"max_line_bytes": 1000},
    {"begins_inside_line": True}, {"line_rest": b"}"}, {"line_rest": b'"}]}]}]}', "begins_inside_line": True},
)  # fmt: skip


def comes_of(path: Path, store: Store, **options: Any) -> Any:
    """What the store holds of a file: spans and refusals by line, and the ledger; or why it cannot be read."""
    found = Found(path, path.name, named=True)
    try:
        reading._read(store, found, SOURCE, Options(path.name, **options), "", "", lambda _bytes: None)
    except SourceError as fault:
        return str(fault)
    own = {"path": path.name}
    spans = store.fetch("FROM span WHERE source_file = $path", own)
    refused = store.fetch("FROM refused WHERE source_file = $path", own)
    (ledger,) = store.fetch("FROM source_file WHERE path = $path", own)
    assert ledger["records"] == len(spans) + ledger["set_aside"] + len(refused)
    return {
        "spans": by_line(spans),
        "refused": by_line(refused),
        "ledger": {name: ledger[name] for name in LEDGER},
    }


def by_line(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of their lines; those of one line in an order of their own."""
    return sorted(rows, key=lambda row: (int(re.findall("[0-9]+", str(row["position"]))[0]), json.dumps(row)))


def test_whole_columns_fall_into_no_trap(folder: Path, store: Store) -> None:
    path = folder / "traps.jsonl"
    path.write_text("".join(document.text + "\n" for document in traps), encoding="utf-8", newline="")
    assert comes_of(path, store, careful=False) == comes_of(path, store, careful=True)


@pytest.mark.shared
def test_whole_columns_take_all_that_a_collector_wrote(
    shared_data: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    monkeypatch.setattr(
        line_columns.LineColumns, "_take", lambda _self, _block, rows, _shapes: left.append(rows.num_rows)
    )
    spans = comes_of(shared_data / "made" / "otlp-vllm" / "traces.otlp.jsonl", store, careful=False)["spans"]
    assert (len(spans), left) == (38, [0])


@settings(SAME, max_examples=150)
@given(content=files, options=st.sampled_from(WAYS))
def test_whole_columns_give_what_record_by_record_gives(
    folder: Path, store: Store, content: bytes, options: dict[str, Any]
) -> None:
    path = folder / "given.jsonl"
    path.write_bytes(content)
    careful = comes_of(path, store, careful=True, **options)
    assert comes_of(path, store, careful=False, **options) == careful


@settings(SAME, max_examples=100)
@given(
    documents=st.lists(st.one_of(canonical, spelled_otherwise), min_size=1, max_size=4),
    options=st.sampled_from(WAYS[:13]),
)
def test_columns_of_messages_give_what_message_by_message_gives(
    folder: Path, store: Store, documents: list[Document], options: dict[str, Any]
) -> None:
    path = folder / "given.pb"
    path.write_bytes(prefixed(*(as_message(document.text) for document in documents)))
    careful = comes_of(path, store, careful=True, **options)
    assert comes_of(path, store, careful=False, **options) == careful


def test_columns_of_messages_fall_into_no_trap(folder: Path, store: Store) -> None:
    path = folder / "traps.pb"
    path.write_bytes(prefixed(*(as_message(document.text) for document in traps)))
    assert comes_of(path, store, careful=False) == comes_of(path, store, careful=True)


@pytest.mark.parametrize("seed", range(60))
def test_mutated_messages_give_the_same_by_either_lane(folder: Path, store: Store, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    bodies = [bytearray(as_message(document.text)) for document in chance.sample(list(traps), 3)]
    for body in bodies:
        for _ in range(chance.randrange(3)):
            body[chance.randrange(len(body))] = chance.randrange(256)
    path = folder / "mutated.pb"
    path.write_bytes(prefixed(*map(bytes, bodies)))
    assert comes_of(path, store, careful=False) == comes_of(path, store, careful=True)


@pytest.mark.shared
def test_columns_of_messages_take_all_that_a_collector_wrote(
    shared_data: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone: list[Any] = []
    for one_by_one in ("span_into", "spans_into"):
        monkeypatch.setattr(message_columns, one_by_one, lambda *given: alone.extend(given))
    spans = comes_of(shared_data / "made" / "otlp-vllm" / "traces.lenprefix.pb", store, careful=False)["spans"]
    assert (len(spans), alone) == (38, [])
