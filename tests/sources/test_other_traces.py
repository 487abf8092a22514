"""Jaeger, Zipkin and console output: where their spans differ from OTLP's, and what is odd in them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from reading import SPAN, TRACE, Taken, given

from analyzer.sources.jaeger import SOURCE as JAEGER
from analyzer.sources.otel_console import SOURCE as CONSOLE
from analyzer.sources.zipkin import SOURCE as ZIPKIN

if TYPE_CHECKING:
    from pathlib import Path

START_US = 1_796_069_035_919_617
OTHER = "eee19b7ec3c1b175"


def tag(key: str, value: Any, kind: str = "string") -> dict[str, Any]:
    return {"key": key, "type": kind, "value": value}


def jaeger(folder: Path, *tags: dict[str, Any], process: list[dict[str, Any]] | None = None, **fields: Any) -> Taken:
    span = {
        "traceID": TRACE, "spanID": SPAN, "operationName": "o", "references": [], "startTime": START_US, "duration": 7,
        "tags": list(tags), "logs": [], "processID": "p1", "warnings": None, **fields,
    }  # fmt: skip
    processes = {"p1": {"serviceName": "s", "tags": process or []}}
    trace = {"traceID": TRACE, "spans": [span], "processes": processes, "warnings": None}
    return given(folder, {"data": [trace], "total": 0, "errors": None}, source=None)


def zipkin(folder: Path, *spans: dict[str, Any]) -> Taken:
    base = {
        "traceId": TRACE,
        "id": SPAN,
        "name": "n",
        "timestamp": START_US,
        "duration": 7,
        "localEndpoint": {"serviceName": "s"},
    }
    return given(folder, json.dumps([{**base, **span} for span in spans or ({},)]), source=None)


def console(folder: Path, **fields: Any) -> Taken:
    span = {
        "name": "n", "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"},
        "kind": "SpanKind.CLIENT", "parent_id": f"0x{OTHER}", "start_time": "2026-11-30T19:58:16.492279Z",
        "end_time": "2026-11-30T19:58:16.742574Z", "status": {"status_code": "UNSET"}, "attributes": {}, "events": [],
        "links": [], "resource": {"attributes": {"service.name": "s"}, "schema_url": ""}, **fields,
    }  # fmt: skip
    return given(folder, json.dumps(span, indent=4) + "\n", source=None)


# -- Jaeger ---------------------------------------------------------------------------------------------------------


def test_jaegers_microseconds_become_nanoseconds_that_end_in_000(tmp_path: Path) -> None:
    found = jaeger(tmp_path).one()
    assert (found["start_ns"], found["end_ns"]) == (START_US * 1000, (START_US + 7) * 1000)


def test_jaegers_tags_keep_their_types(tmp_path: Path) -> None:
    tags = [
        tag("i", "9007199254740993", "int64"),
        tag("n", 5, "int64"),
        tag("f", 2, "float64"),
        tag("b", True, "bool"),
        tag("t", "x"),
        tag("t", "y"),
    ]
    found = jaeger(tmp_path, *tags).one()["attributes"]
    assert found == {"i": 9007199254740993, "n": 5, "f": 2.0, "b": True, "t": "x"}
    assert isinstance(found["f"], float)


def test_jaegers_tags_for_what_a_span_has_places_of_its_own_for_go_there(tmp_path: Path) -> None:
    tags = [
        tag("span.kind", "client"), tag("otel.scope.name", "lib"), tag("otel.scope.version", "1"), tag("kept", "yes"),
        tag("otel.status_code", "ERROR"), tag("otel.status_description", "broke"), tag("error", True, "bool"),
    ]  # fmt: skip
    found = jaeger(tmp_path, *tags, process=[tag("host.name", "h1")]).one()
    assert [found[name] for name in ("kind", "scope", "status", "status_message", "clock", "service")] == [
        "client", "lib", "error", "broke", "h1", "s",
    ]  # fmt: skip
    assert found["attributes"] == {"kept": "yes"}
    assert found["resource"] == {"host.name": "h1", "service.name": "s"}


def test_an_error_tag_alone_is_a_failed_status(tmp_path: Path) -> None:
    assert jaeger(tmp_path, tag("error", True, "bool")).one()["status"] == "error"
    assert jaeger(tmp_path, tag("error", False, "bool")).one()["status"] == "unset"


def test_jaegers_parent_is_what_it_is_a_child_of_and_the_rest_are_links(tmp_path: Path) -> None:
    references = [
        {"refType": "FOLLOWS_FROM", "traceID": TRACE, "spanID": "aaaaaaaaaaaaaaaa"},
        {"refType": "CHILD_OF", "traceID": "f" * 32, "spanID": "bbbbbbbbbbbbbbbb"},
        {"refType": "CHILD_OF", "traceID": TRACE, "spanID": OTHER},
    ]
    found = jaeger(tmp_path, references=references).one()
    assert found["parent_span_id"] == OTHER
    assert {link["span_id"] for link in found["links"]} == {"aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}


def test_jaegers_short_ids_are_filled_with_zeros(tmp_path: Path) -> None:
    found = jaeger(tmp_path, traceID="7fe55740cbd5f134", spanID="1f").one()
    assert (found["trace_id"], found["span_id"]) == ("0" * 16 + "7fe55740cbd5f134", "0" * 14 + "1f")


def test_jaegers_warning_that_it_moved_a_span_is_kept(tmp_path: Path) -> None:
    flag = jaeger(tmp_path, warnings=["clock skew adjusted by 5ms"]).one()["flag"]
    assert flag == "Jaeger warns: clock skew adjusted by 5ms"


def test_jaegers_logs_are_events_without_what_was_said(tmp_path: Path) -> None:
    fields = [tag("event", "exception"), tag("exception.stacktrace", "a secret"), tag("exception.type", "E")]
    taken = jaeger(tmp_path, logs=[{"timestamp": START_US + 1, "fields": fields}])
    assert taken.one()["events"] == [
        {"name": "exception", "time_ns": (START_US + 1) * 1000, "attributes": {"exception.type": "E"}}
    ]
    assert taken.dropped == 1


@pytest.mark.parametrize(
    "fields", [{"traceID": "xyz"}, {"spanID": None}, {"tags": {"a": 1}}, {"startTime": "soon"}, {"references": 5}]
)
def test_an_odd_span_of_jaeger_is_refused_by_itself(tmp_path: Path, fields: dict[str, Any]) -> None:
    taken = jaeger(tmp_path, **fields)
    assert (taken.records, taken.spans, len(taken.refused)) == (1, [], 1)


def test_a_torn_download_keeps_the_traces_before(tmp_path: Path) -> None:
    jaeger(tmp_path)
    one = json.loads((tmp_path / "given").read_text())["data"][0]
    text = json.dumps({"data": [one, one]})
    taken = given(tmp_path, text[: text.rindex("duration")], source=JAEGER)
    assert (len(taken.spans), taken.reasons) == (1, ["torn: the file ends inside it"])


# -- Zipkin -----------------------------------------------------------------------------------------------------------


def test_client_and_server_that_share_an_id_are_two_spans(tmp_path: Path) -> None:
    taken = zipkin(
        tmp_path, {"kind": "CLIENT"}, {"kind": "SERVER", "shared": True, "localEndpoint": {"serviceName": "t"}}
    )
    assert [(row["span_id"], row["kind"], row["service"]) for row in taken.spans] == [
        (SPAN, "client", "s"),
        (SPAN, "server", "t"),
    ]


@pytest.mark.parametrize(("kind", "kept"), [(None, "internal"), ("PRODUCER", "producer"), ("consumer", "consumer")])
def test_a_span_of_zipkin_without_a_kind_is_local(tmp_path: Path, kind: str | None, kept: str) -> None:
    assert zipkin(tmp_path, {"kind": kind}).one()["kind"] == kept


def test_zipkins_tags_are_text_and_those_of_a_process_its_resource(tmp_path: Path) -> None:
    tags = {
        "host.name": "h1",
        "gen_ai.usage.input_tokens": "11",
        "otel.library.name": "lib",
        "gen_ai.prompt": "a secret",
    }
    taken = zipkin(tmp_path, {"tags": tags})
    found = taken.one()
    assert (found["attributes"], found["scope"], found["clock"]) == ({"gen_ai.usage.input_tokens": "11"}, "lib", "h1")
    assert found["resource"] == {"host.name": "h1", "service.name": "s"}
    assert taken.dropped == 1


@pytest.mark.parametrize(
    ("tags", "kept"),
    [
        ({}, ("unset", None)), ({"error": ""}, ("error", None)), ({"error": "boom"}, ("error", "boom")),
        ({"otel.status_code": "OK"}, ("ok", None)), ({"otel.status_code": "ERROR", "error": "boom"}, ("error", "boom")),
    ],
)  # fmt: skip
def test_zipkins_error_tag_is_a_failure_by_being_there(
    tmp_path: Path, tags: dict[str, str], kept: tuple[str, Any]
) -> None:
    found = zipkin(tmp_path, {"tags": tags}).one()
    assert (found["status"], found["status_message"]) == kept
    assert "error" not in found["attributes"]


@pytest.mark.parametrize(
    ("value", "name", "kept"),
    [
        ("plain", "plain", {}),
        ('"exception":{"type":"E","exception.stacktrace":"a secret"}', "exception", {"type": "E"}),
        ('{"chunk": {"n": 1}}', "chunk", {"n": 1}),
        ('{"not": "one of those"}', '{"not": "one of those"}', {}),
    ],
)
def test_an_annotation_may_carry_attributes_in_its_text(
    tmp_path: Path, value: str, name: str, kept: dict[str, Any]
) -> None:
    found = zipkin(tmp_path, {"annotations": [{"timestamp": START_US, "value": value}]}).one()
    assert found["events"] == [{"name": name, "time_ns": START_US * 1000, "attributes": kept}]


def test_lists_of_spans_a_line_and_lists_of_traces_are_read(tmp_path: Path) -> None:
    one = json.dumps({"traceId": TRACE, "id": SPAN, "timestamp": START_US})
    for text in (f"[{one}]\n[{one}]\n", f"[[{one}],\n[{one}]]"):
        taken = given(tmp_path, text, source=None)
        assert (len(taken.spans), taken.refused) == (2, [])
        assert {row["flag"] for row in taken.spans} == {"no end time"}


def test_an_odd_span_of_zipkin_is_refused_by_itself(tmp_path: Path) -> None:
    taken = zipkin(tmp_path, {}, {"id": "xyz"}, {"tags": ["a"]}, {"timestamp": -5})
    assert [row["flag"] for row in taken.spans] == [None, "time out of range"]
    assert (len(taken.refused), taken.accounted) == (2, True)
    assert given(tmp_path, "{}\n[5]", source=ZIPKIN).reasons == [
        "not a list of spans",
        "it stands where an object belongs",
    ]


# -- the console exporter -----------------------------------------------------------------------------------------------


def test_a_span_of_the_console_is_read_with_its_types(tmp_path: Path) -> None:
    found = console(tmp_path, attributes={"n": 1, "f": 2.0, "l": ["a"], "b": True, "nan": float("nan")}).one()
    assert (found["trace_id"], found["span_id"], found["parent_span_id"]) == (TRACE, SPAN, OTHER)
    assert (found["kind"], found["status"], found["service"], found["scope"]) == ("client", "unset", "s", None)
    assert (found["start_ns"], found["end_ns"]) == (1796068696492279000, 1796068696742574000)
    assert found["attributes"] == {"n": 1, "f": 2.0, "l": ["a"], "b": True, "nan": "NaN"}


@pytest.mark.parametrize(
    ("written", "ns"),
    [
        ("1970-01-01T00:00:00.000001Z", 1000), ("2026-11-30T19:58:16Z", 1796068696000000000),
        ("2026-11-30T19:58:16.1Z", 1796068696100000000), ("2026-11-30T21:58:16.492279+02:00", 1796068696492279000),
    ],
)  # fmt: skip
def test_the_consoles_times_are_exact(tmp_path: Path, written: str, ns: int) -> None:
    assert console(tmp_path, start_time=written).one()["start_ns"] == ns


@pytest.mark.parametrize("written", ["2026-11-30T19:58:16.492279", "today", "2026-13-30T19:58:16Z"])
def test_a_time_without_a_zone_or_that_is_none_is_refused(tmp_path: Path, written: str) -> None:
    taken = console(tmp_path, start_time=written)
    assert (taken.spans, len(taken.refused)) == ([], 1)


def test_a_span_of_the_console_without_an_end_is_flagged(tmp_path: Path) -> None:
    assert console(tmp_path, end_time=None).one()["flag"] == "no end time"


def test_a_programs_own_words_between_spans_cost_none(tmp_path: Path) -> None:
    console(tmp_path)
    one = (tmp_path / "given").read_text()
    taken = given(tmp_path, f"INFO: started\n{one}done {{ok}}\n{one}", source=CONSOLE)
    assert (len(taken.spans), len(taken.refused), taken.accounted) == (2, 2, True)
