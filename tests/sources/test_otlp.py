"""OTLP/JSON lines: ids, integers, enums, broken spans and copies."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows, span

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

TRACE = "6c713ce10a9bd2e616afda1e6d5630b0"


def read(folder: Path, *documents: Any, keep_content: bool = False) -> Store:
    path = folder / "spans.jsonl"
    path.write_text("".join((d if isinstance(d, str) else json.dumps(d)) + "\n" for d in documents), encoding="utf-8")
    files, _ = ingest.find([str(path)])
    made = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(made, files, ingest.How(keep_content=keep_content))
    ingest.apply_defaults(made)
    made.derive()
    return made


def one(**more: Any) -> dict[str, Any]:
    return span(more.pop("trace", TRACE), more.pop("number", 1), service="s", scope="x", kind=2, start=0, end=5, **more)


def body(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return found


@pytest.mark.parametrize("written", [TRACE, TRACE.upper(), "bHE84Qqb0uYWr9oebVYwsA=="])
def test_hex_in_either_case_and_base64_are_one_id(tmp_path: Path, written: str) -> None:
    document = one()
    body(document)["traceId"] = written
    assert rows(read(tmp_path, document), "SELECT trace_id FROM span") == [(TRACE,)]


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"intValue": "9007199254740993"}, 9007199254740993),
        ({"intValue": 25}, 25),
        ({"doubleValue": 1}, 1.0),
        ({"doubleValue": "NaN"}, "NaN"),
        ({"boolValue": True}, True),
        ({}, None),
    ],
)
def test_attribute_values_keep_their_type_and_every_digit(tmp_path: Path, value: dict[str, Any], kept: Any) -> None:
    document = one()
    body(document)["attributes"] = [{"key": "a.b", "value": value}]
    ((text,),) = rows(read(tmp_path, document), "SELECT attributes FROM span")
    assert json.loads(text) == {"a.b": kept}


def test_times_keep_every_digit(tmp_path: Path) -> None:
    document = one()
    body(document)["startTimeUnixNano"] = "1768918269342362113"
    body(document)["endTimeUnixNano"] = 1768918269342362114
    assert rows(read(tmp_path, document), "SELECT start_ns, end_ns FROM span") == [
        (1768918269342362113, 1768918269342362114)
    ]


@pytest.mark.parametrize(
    ("kind", "name"), [(2, "server"), ("SPAN_KIND_SERVER", "server"), (None, "unspecified"), (99, "99")]
)
def test_enums_are_read_by_number_and_by_name(tmp_path: Path, kind: Any, name: str) -> None:
    document = one()
    body(document)["kind"] = kind
    assert rows(read(tmp_path, document), "SELECT kind FROM span") == [(name,)]


def test_a_span_without_an_end_and_one_that_ends_before_it_starts_are_flagged(tmp_path: Path) -> None:
    endless, backwards = one(), one(number=2)
    body(endless)["endTimeUnixNano"] = "0"
    body(backwards)["endTimeUnixNano"] = str(int(body(backwards)["startTimeUnixNano"]) - 1)
    assert rows(read(tmp_path, endless, backwards), "SELECT end_ns IS NULL, flag FROM span ORDER BY span_id") == [
        (True, "no end time"),
        (False, "end before start"),
    ]


def test_an_identical_copy_of_a_span_is_dropped_and_counted(tmp_path: Path) -> None:
    made = read(tmp_path, one(), one())
    assert rows(made, "SELECT count(*) FROM span") == [(1,)]
    assert rows(made, "SELECT records, kept + set_aside, duplicates FROM source_file") == [(2, 1, 1)]


def test_of_two_spans_under_one_id_the_later_end_is_kept_and_flagged(tmp_path: Path) -> None:
    later = one()
    body(later)["endTimeUnixNano"] = str(int(body(later)["endTimeUnixNano"]) + 7)
    made = read(tmp_path, later, one())
    ((end, flag),) = rows(made, "SELECT end_ns - start_ns, flag FROM span")
    assert end == 5_000_007
    assert "differ" in flag


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gen_ai.input.messages", "a secret"),
        ("http.request.header.authorization", "a secret"),
        ("exception.stacktrace", "a secret"),
        ("metadata.requester_metadata", "{'headers': {'cookie': 'a secret'}}"),
    ],
)
def test_content_is_dropped_unless_it_is_asked_for(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, key: str, value: str
) -> None:
    document = one(attributes={key: value, "kept": "yes"})
    ((dropped,),) = rows(read(tmp_path, document), "SELECT attributes FROM span")
    ((kept,),) = rows(read(tmp_path_factory.mktemp("k"), document, keep_content=True), "SELECT attributes FROM span")
    assert "a secret" not in dropped
    assert json.loads(dropped)["kept"] == "yes"
    assert json.loads(kept)[key] == value


def test_the_request_id_among_a_gateways_headers_is_kept(tmp_path: Path) -> None:
    document = one(attributes={"metadata.requester_metadata": "{'headers': {'host': 'h', 'x-request-id': 'r-7'}}"})
    assert rows(read(tmp_path, document), "SELECT attributes ->> '$.x_request_id' FROM span") == [("r-7",)]


@pytest.mark.parametrize(
    "line",
    [
        "{}",
        "[]",
        '{"resourceSpans": 5}',
        '{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "zz"}]}]}]}',
        '{"resourceSpans": [',
    ],
)
def test_what_is_no_span_is_refused_and_every_record_is_accounted_for(tmp_path: Path, line: str) -> None:
    made = read(tmp_path, one(), line, one(number=2))
    assert rows(made, "SELECT count(*) FROM span") == [(2,)]
    assert rows(made, "SELECT position FROM refused") == [("line 2",)]
    assert rows(made, "SELECT records - kept - set_aside - refused - duplicates FROM source_file") == [(0,)]


def test_metrics_and_logs_in_the_file_are_set_aside_and_counted(tmp_path: Path) -> None:
    made = read(tmp_path, one(), '{"resourceMetrics": []}', '{"resourceLogs": []}')
    assert rows(made, "SELECT count(*) FROM span") == [(1,)]
    assert rows(made, "SELECT count(*) FROM refused") == [(0,)]
    assert rows(made, "SELECT records - kept - set_aside - refused - duplicates FROM source_file") == [(0,)]
