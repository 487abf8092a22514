"""What a span says of its context and of what its SDK has dropped, in every encoding that carries it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from building import rows
from building import store as stored
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from reading import SPAN, START, TRACE, document, given, message, of_message, span

if TYPE_CHECKING:
    from pathlib import Path

MOST = 2**32 - 1
COUNTS = {
    "dropped_attributes": "droppedAttributesCount",
    "dropped_events": "droppedEventsCount",
    "dropped_links": "droppedLinksCount",
}
JSON_NAMES = ("camelCase", "snake_case")
# Absent, and what is no count.
NO_COUNTS = (None, 0, "0", -1, "-1", 2**32, 2.5, "many", "", True, [3], {"a": 3})


def named(name: str, style: str) -> str:
    """A field of OTLP under its name of either style."""
    return re.sub("[A-Z]", lambda found: "_" + found[0].lower(), name) if style == "snake_case" else name


def of_json(folder: Path, style: str, version: Any = None, **fields: Any) -> dict[str, Any]:
    """The row of a span with these fields, written as JSON in one style of names."""
    whole = document(span(**{named(key, style): value for key, value in fields.items()}))
    scoped = whole["resourceSpans"][0]["scopeSpans"][0]
    scoped["scope"] = {"name": "x", "version": version}
    return given(folder, whole).one()


def of_protobuf(version: str = "", **fields: Any) -> dict[str, Any]:
    """The row of a span with these fields of the message."""
    data = TracesData.FromString(message((TRACE, SPAN)))
    scoped = data.resource_spans[0].scope_spans[0]
    scoped.scope.name, scoped.scope.version = "x", version
    for key, value in fields.items():
        setattr(scoped.spans[0], key, value)
    return of_message(data.SerializeToString()).one()


def of_jaeger(folder: Path, **tags: Any) -> dict[str, Any]:
    """The row of Jaeger's span with these tags."""
    listed = [
        {"key": key, "type": "int64" if isinstance(value, int) else "string", "value": value}
        for key, value in tags.items()
    ]
    one = {
        "traceID": TRACE,
        "spanID": SPAN,
        "operationName": "o",
        "startTime": 5,
        "duration": 7,
        "flags": 1,
        "tags": listed,
    }
    return given(folder, {"data": [{"traceID": TRACE, "spans": [one], "processes": {}}]}, source=None).one()


def of_zipkin(folder: Path, **tags: str) -> dict[str, Any]:
    """The row of Zipkin's span with these tags."""
    one = {"traceId": TRACE, "id": SPAN, "name": "n", "timestamp": 5, "duration": 7, "tags": tags}
    return given(folder, json.dumps([one]), source=None).one()


def of_console(folder: Path, trace_state: Any) -> dict[str, Any]:
    """The row of a span of the console exporter with this state in its context."""
    context = {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": trace_state}
    return given(folder, json.dumps({"name": "n", "context": context}, indent=4), source=None).one()


# -- trace state ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", JSON_NAMES)
def test_the_trace_state_of_json_is_kept_as_written(tmp_path: Path, style: str) -> None:
    found = of_json(tmp_path, style, traceState="ot=th:c;rv:1, rojo=00f067 \u00e9")
    assert found["trace_state"] == "ot=th:c;rv:1, rojo=00f067 \u00e9"


def test_the_trace_state_of_a_message_is_kept_as_written() -> None:
    assert of_protobuf(trace_state="congo=t61,rojo=00f067")["trace_state"] == "congo=t61,rojo=00f067"


@pytest.mark.parametrize("style", JSON_NAMES)
@pytest.mark.parametrize("written", [None, "", 5, ["a=b"]])
def test_an_empty_or_odd_trace_state_is_none_and_refuses_nothing(tmp_path: Path, style: str, written: Any) -> None:
    assert of_json(tmp_path, style, traceState=written)["trace_state"] is None
    assert of_protobuf()["trace_state"] is None


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("[]", None), ("", None), (None, None), (5, None),
        ("['{key=congo, value=t61}']", "congo=t61"),
        ("['{key=congo, value=t61}', '{key=a@b, value=}}', \"{key=c, value=it's}\"]", "congo=t61,a@b=},c=it's"),
        ("congo=t61", "congo=t61"), ("['{key=a, value=\\'\"}']", "['{key=a, value=\\'\"}']"),
    ],
)  # fmt: skip
def test_the_consoles_trace_state_is_written_as_a_header_would(tmp_path: Path, written: Any, kept: str | None) -> None:
    assert of_console(tmp_path, written)["trace_state"] == kept


def test_jaegers_trace_state_stays_the_tag_that_it_is(tmp_path: Path) -> None:
    found = of_jaeger(tmp_path, **{"w3c.tracestate": "congo=t61"})
    assert (found["trace_state"], found["attributes"]) == (None, {"w3c.tracestate": "congo=t61"})


# -- flags ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("written", [257, "257", MOST])
def test_the_flags_of_json_are_kept(tmp_path: Path, written: Any) -> None:
    assert of_json(tmp_path, "camelCase", flags=written)["flags"] == int(written)


@pytest.mark.parametrize("written", [768, MOST])
def test_the_flags_of_a_message_are_kept(written: int) -> None:
    assert of_protobuf(flags=written)["flags"] == written


@pytest.mark.parametrize("written", NO_COUNTS)
def test_absent_zero_or_odd_flags_are_none_and_refuse_nothing(tmp_path: Path, written: Any) -> None:
    assert of_json(tmp_path, "camelCase", flags=written)["flags"] is None
    assert of_protobuf()["flags"] is None


def test_jaegers_own_flags_mean_something_else_and_are_none(tmp_path: Path) -> None:
    assert of_jaeger(tmp_path)["flags"] is None


# -- version of the scope -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scope", "instrumentationLibrary", "instrumentation_library"])
def test_the_scopes_version_of_json_is_kept(tmp_path: Path, name: str) -> None:
    whole = document(span(), span(spanId="aaaaaaaaaaaaaaaa"))
    scoped = whole["resourceSpans"][0]["scopeSpans"][0]
    del scoped["scope"]
    scoped[name] = {"name": "x", "version": "0.61b0"}
    taken = given(tmp_path, whole)
    assert [(row["scope"], row["scope_version"]) for row in taken.spans] == [("x", "0.61b0")] * 2


def test_a_lone_spans_own_scope_gives_its_version(tmp_path: Path) -> None:
    found = given(tmp_path, {"spans": [span(scope={"name": "x", "version": "2"})]}).one()
    assert (found["scope"], found["scope_version"]) == ("x", "2")


def test_the_scopes_version_of_a_message_is_kept() -> None:
    assert of_protobuf(version="0.61b0")["scope_version"] == "0.61b0"


@pytest.mark.parametrize("written", [None, "", 5, {"a": 1}])
def test_an_absent_empty_or_odd_version_is_none_and_refuses_nothing(tmp_path: Path, written: Any) -> None:
    assert of_json(tmp_path, "camelCase", version=written)["scope_version"] is None
    assert of_protobuf()["scope_version"] is None


@pytest.mark.parametrize("key", ["otel.scope.version", "otel.library.version"])
def test_the_scopes_version_of_jaeger_and_zipkin_is_taken_from_their_tags(tmp_path: Path, key: str) -> None:
    for found in (of_jaeger(tmp_path, **{key: "1.2"}), of_zipkin(tmp_path, **{key: "1.2"})):
        assert (found["scope_version"], found["attributes"]) == ("1.2", {})


# -- what the SDK has dropped -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", JSON_NAMES)
@pytest.mark.parametrize("column", COUNTS)
@pytest.mark.parametrize("written", [3, "3", MOST])
def test_a_count_of_what_was_dropped_is_kept_from_json(tmp_path: Path, style: str, column: str, written: Any) -> None:
    found = of_json(tmp_path, style, **{COUNTS[column]: written})
    assert {name: found[name] for name in COUNTS} == {**dict.fromkeys(COUNTS), column: int(written)}


@pytest.mark.parametrize("column", COUNTS)
def test_a_count_of_what_was_dropped_is_kept_from_a_message(column: str) -> None:
    fields: dict[str, Any] = {f"{column}_count": MOST}
    found = of_protobuf(**fields)
    assert {name: found[name] for name in COUNTS} == {**dict.fromkeys(COUNTS), column: MOST}


@pytest.mark.parametrize("style", JSON_NAMES)
@pytest.mark.parametrize("written", NO_COUNTS)
def test_an_absent_zero_or_odd_count_is_none_and_refuses_nothing(tmp_path: Path, style: str, written: Any) -> None:
    found = of_json(tmp_path, style, **dict.fromkeys(COUNTS.values(), written))
    assert {name: found[name] for name in COUNTS} == dict.fromkeys(COUNTS)


@pytest.mark.parametrize("column", COUNTS)
def test_a_count_of_what_was_dropped_is_taken_from_the_tags_of_jaeger_and_zipkin(tmp_path: Path, column: str) -> None:
    key = f"otel.{column}_count"
    for found in (of_jaeger(tmp_path, **{key: 3}), of_zipkin(tmp_path, **{key: "3"})):
        assert (found[column], found["attributes"]) == (3, {})
    assert of_zipkin(tmp_path, **{key: "many"})[column] is None


# -- the store --------------------------------------------------------------------------------------------------------


def test_the_store_has_a_column_for_each_of_them(tmp_path: Path) -> None:
    whole = span(traceState="a=b", flags=257, **dict.fromkeys(COUNTS.values(), MOST))
    one = document(whole, {**whole, "spanId": "aaaaaaaaaaaaaaaa", "endTimeUnixNano": str(START)})
    one["resourceSpans"][0]["scopeSpans"][0]["scope"] = {"name": "x", "version": "1"}
    columns = ("trace_state", "flags", "scope_version", *COUNTS)
    made = stored(tmp_path, spans=[one])
    assert rows(made, f"SELECT DISTINCT {', '.join(columns)} FROM span") == [("a=b", 257, "1", MOST, MOST, MOST)]
    typed = "SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = 'span' AND list_contains($1, column_name)"
    texts = ("trace_state", "scope_version")
    assert {(row["column_name"], row["data_type"]) for row in made.fetch(typed, [list(columns)])} == {
        (name, "VARCHAR" if name in texts else "BIGINT") for name in columns
    }
