"""The odd things that real exporters write, one by one: the right value, or a refusal that says why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from reading import END, SPAN, START, TRACE, attributes, document, given, message, of_message, prefixed, span
from zstandard import ZstdCompressor

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "eee19b7ec3c1b175"


def value(folder: Path, any_value: Any) -> Any:
    return given(folder, document(span(attributes=attributes(a=any_value)))).one()["attributes"]["a"]


# -- 1: ids ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "written",
    [
        "9e2a3dc06074b17540d54de4e51e735f",
        "9E2A3DC06074B17540D54DE4E51E735F",
        "nio9wGB0sXVA1U3k5R5zXw==",
        "OWUyYTNkYzA2MDc0YjE3NTQwZDU0ZGU0ZTUxZTczNWY=",
    ],
)
def test_01_hex_in_either_case_base64_and_base64_of_hex_are_one_id(tmp_path: Path, written: str) -> None:
    assert given(tmp_path, document(span(traceId=written))).one()["trace_id"] == "9e2a3dc06074b17540d54de4e51e735f"


def test_01_span_ids_have_the_same_three_forms(tmp_path: Path) -> None:
    forms = ("EEE19B7EC3C1B174", "7uGbfsPBsXQ=", "ZWVlMTliN2VjM2MxYjE3NA==")
    spans = [span(spanId=form, parentSpanId=form) for form in forms]
    assert {(row["span_id"], row["parent_span_id"]) for row in given(tmp_path, document(*spans)).spans} == {
        (SPAN, SPAN)
    }


def test_01_base64_may_be_in_the_alphabet_for_addresses(tmp_path: Path) -> None:
    found = given(tmp_path, document(span(traceId="____-_-_-_8AAAAAAAAAAA==", spanId="_-8AAAAAAAA="))).one()
    assert (found["trace_id"], found["span_id"]) == ("fffffffbffbffbff" + "0" * 16, "ffef" + "0" * 12)


@pytest.mark.parametrize("written", ["ABC", "5b8efff798038103d269b633813fc6", "zz" * 16, "W47/95gDgQPSabYzgT/GDA", 7])
def test_01_an_id_of_another_length_or_alphabet_is_refused(tmp_path: Path, written: Any) -> None:
    taken = given(tmp_path, document(span(traceId=written)))
    assert (taken.records, len(taken.refused)) == (1, 1)
    assert "id" in taken.reasons[0]


# -- 2: names of the lists --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapped", [None, "trace", "result"])
@pytest.mark.parametrize("top", ["resourceSpans", "resource_spans", "batches"])
@pytest.mark.parametrize(
    "scopes", ["scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"]
)
def test_02_every_name_of_the_lists_is_read(tmp_path: Path, wrapped: str | None, top: str, scopes: str) -> None:
    scope = "instrumentationLibrary" if scopes.startswith("instrumentation") else "scope"
    inner: dict[str, Any] = {top: [{"resource": {}, scopes: [{scope: {"name": "x"}, "spans": [span()]}]}]}
    found = given(tmp_path, {wrapped: inner} if wrapped else inner, source=None).one()
    assert (found["trace_id"], found["scope"]) == (TRACE, "x")


def test_02_spans_without_a_resource_around_them_are_read(tmp_path: Path) -> None:
    assert given(tmp_path, {"spans": [span(), span(spanId=OTHER)]}, source=None).records == 2


# -- 3, 4: numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("7", 7), (7, 7), ("9007199254740993", 9007199254740993), (9007199254740993, 9007199254740993),
        ("-9223372036854775808", -(2**63)), (2.0, 2), (2.5, 2.5), ("seven", "seven"), ("1_000", "1_000"), (None, None),
    ],
)  # fmt: skip
def test_03_integers_keep_every_digit_as_number_or_text(tmp_path: Path, written: Any, kept: Any) -> None:
    assert value(tmp_path, {"intValue": written}) == kept


@pytest.mark.parametrize("written", ["1768918269342362113", 1768918269342362113])
def test_03_times_are_never_doubles(tmp_path: Path, written: Any) -> None:
    found = given(tmp_path, document(span(startTimeUnixNano=written, endTimeUnixNano=written))).one()
    assert (found["start_ns"], found["end_ns"]) == (1768918269342362113, 1768918269342362113)


@pytest.mark.parametrize("written", [1.768918269342362e18, "soon", [1], True])
def test_03_a_time_that_is_no_whole_number_is_refused(tmp_path: Path, written: Any) -> None:
    (reason,) = given(tmp_path, document(span(startTimeUnixNano=written))).reasons
    assert reason.startswith("a time must be whole nanoseconds")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("1.5", 1.5), ('"1.5"', 1.5), ('"NaN"', "NaN"), ('"-Infinity"', "-Infinity"), ("null", None), ("2", 2.0),
        ("1e999", "Infinity"), ("NaN", "NaN"), ('"1e2"', 100.0), ('"1_0"', "1_0"), ("true", True),
    ],
)  # fmt: skip
def test_04_doubles_come_as_numbers_text_null_and_without_end(tmp_path: Path, written: str, kept: Any) -> None:
    text = json.dumps(document(span(attributes=attributes(a={"doubleValue": "?"})))).replace('"?"', written)
    found = given(tmp_path, text).one()["attributes"]["a"]
    assert found == kept
    assert type(found) is type(kept)


# -- 5, 6, 7: enums and missing ids -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "kept"),
    [(2, "server"), ("2", "server"), ("SPAN_KIND_SERVER", "server"), ("server", "server"), (99, "99"), (None, "unspecified"), (0, "unspecified")],
)  # fmt: skip
def test_05_kinds_are_numbers_or_names(tmp_path: Path, kind: Any, kept: str) -> None:
    assert given(tmp_path, document(span(kind=kind))).one()["kind"] == kept


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ({}, ("unset", None)), (None, ("unset", None)), ({"code": 2, "message": "m"}, ("error", "m")),
        ({"code": "STATUS_CODE_ERROR"}, ("error", None)), ({"code": "STATUS_CODE_OK"}, ("ok", None)),
        ("error", ("error", None)), ({"code": 7}, ("7", None)),
    ],
)  # fmt: skip
def test_05_status_is_a_number_a_name_empty_or_missing(tmp_path: Path, status: Any, kept: tuple[str, Any]) -> None:
    found = given(tmp_path, document(span(status=status))).one()
    assert (found["status"], found["status_message"]) == kept


@pytest.mark.parametrize("parent", [None, "", "0000000000000000", "AAAAAAAAAAA="])
def test_06_a_missing_empty_or_zero_parent_is_none(tmp_path: Path, parent: str | None) -> None:
    assert given(tmp_path, document(span(parentSpanId=parent))).one()["parent_span_id"] is None


@pytest.mark.parametrize(
    "missing", [{"traceId": ""}, {"spanId": "0" * 16}, {"traceId": None}, {"traceId": "", "spanId": ""}]
)
def test_06_a_span_without_ids_is_refused(tmp_path: Path, missing: dict[str, Any]) -> None:
    assert given(tmp_path, document(span(**missing))).reasons == ["the span has no trace id or no span id"]


def test_06_a_link_without_ids_is_kept(tmp_path: Path) -> None:
    found = given(tmp_path, document(span(links=[{"traceId": "", "spanId": "", "droppedAttributesCount": 4}]))).one()
    assert found["links"] == [{"trace_id": None, "span_id": None, "attributes": {}, "dropped_attributes": 4}]


def test_07_a_trace_id_of_64_bits_keeps_its_zeros(tmp_path: Path) -> None:
    found = given(tmp_path, document(span(traceId="00000000000000007fe55740cbd5f134"))).one()
    assert found["trace_id"] == "00000000000000007fe55740cbd5f134"


# -- 8 to 11: values --------------------------------------------------------------------------------------------------


def test_08_empty_missing_doubled_and_nested_values(tmp_path: Path) -> None:
    nested = {
        "kvlistValue": {
            "values": [
                {"key": "a", "value": {"arrayValue": {"values": [{"intValue": "1"}, {"kvlistValue": {"values": []}}]}}}
            ]
        }
    }
    written = [
        {"key": "empty", "value": {}}, {"key": "nokey"}, {"key": "bytes", "value": {"bytesValue": "AAEC/w=="}},
        {"key": "kv", "value": nested}, {"key": "list", "value": {"arrayValue": {}}},
        {"key": "dup", "value": {"stringValue": "a"}}, {"key": "dup", "value": {"stringValue": "b"}},
    ]  # fmt: skip
    assert given(tmp_path, document(span(attributes=written))).one()["attributes"] == {
        "empty": None, "nokey": None, "bytes": "AAEC/w==", "kv": {"a": [1, {}]}, "list": [], "dup": "a",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ({"stringValue": None, "boolValue": None, "intValue": "5"}, 5), ({"arrayValue": None}, None), ({"kvlistValue": None}, None),
        ({"unknown": [1], "stringValue": "a"}, "a"), ({"arrayValue": {}, "unknown": 1}, []), ({"unknown": {"a": 1}}, {"a": 1}),
        ({"unknown": None}, None), ({"stringValue": ""}, ""),
    ],
)  # fmt: skip
def test_08_a_value_is_what_its_known_field_says_and_null_is_no_field(
    tmp_path: Path, written: dict[str, Any], kept: Any
) -> None:
    assert value(tmp_path, written) == kept


def test_08_a_key_that_is_null_is_the_empty_one(tmp_path: Path) -> None:
    written = [{"key": None, "value": {"intValue": "1"}}, {"key": "", "value": {"intValue": "2"}}]
    assert given(tmp_path, document(span(attributes=written))).one()["attributes"] == {"": 1}


@pytest.mark.parametrize(
    "written",
    [{"a": "plain"}, ["a"], [{"key": 5}], [{"key": 0}], [{"key": []}], [None], 7, [{"key": "a", "value": "bare"}]],
)
def test_08_attributes_of_another_form_are_refused_and_not_left_out(tmp_path: Path, written: Any) -> None:
    taken = given(tmp_path, document(span(attributes=written)))
    assert (taken.spans, len(taken.refused)) == ([], 1)


@pytest.mark.parametrize("text", ["52.3µs", "1.234567ms", "20", "{'a': 1}", '["stop"]'])
def test_09_a_number_in_words_stays_the_words(tmp_path: Path, text: str) -> None:
    assert value(tmp_path, {"stringValue": text}) == text


def test_10_no_unit_is_guessed(tmp_path: Path) -> None:
    written = attributes(ttft_ms={"intValue": "20"}, created={"doubleValue": 1796069035.5}, boot_ns={"intValue": "9"})
    assert given(tmp_path, document(span(attributes=written))).one()["attributes"] == {
        "ttft_ms": 20, "created": 1796069035.5, "boot_ns": 9,
    }  # fmt: skip


@pytest.mark.parametrize("any_value", [{"doubleValue": -48.0}, {"intValue": "-1"}, {"doubleValue": -2.99}])
def test_11_sentinels_and_negative_durations_are_stored_as_written(tmp_path: Path, any_value: dict[str, Any]) -> None:
    ((_, written),) = any_value.items()
    assert value(tmp_path, any_value) == float(written)


# -- 12 to 19: spans among each other -------------------------------------------------------------------------------------


def test_12_an_event_outside_its_span_is_kept_with_its_time(tmp_path: Path) -> None:
    events = [{"name": "exception", "timeUnixNano": str(END + 19_800_000)}, {"name": "zero", "timeUnixNano": "0"}]
    found = given(tmp_path, document(span(events=events))).one()
    assert [(event["name"], event["time_ns"]) for event in found["events"]] == [
        ("exception", END + 19_800_000), ("zero", None),
    ]  # fmt: skip
    assert found["flag"] is None


def test_13_a_child_that_outlives_its_parent_keeps_its_times(tmp_path: Path) -> None:
    child = span(spanId=OTHER, parentSpanId=SPAN, startTimeUnixNano=str(START - 5), endTimeUnixNano=str(END + 5))
    found = given(tmp_path, document(span(), child)).spans
    assert [(row["start_ns"], row["end_ns"]) for row in found] == [(START, END), (START - 5, END + 5)]


def test_14_a_parent_that_was_never_exported_stays_named(tmp_path: Path) -> None:
    assert given(tmp_path, document(span(parentSpanId=OTHER))).one()["parent_span_id"] == OTHER


def test_15_two_server_spans_of_one_trace_are_two_spans(tmp_path: Path) -> None:
    taken = given(tmp_path, document(span(parentSpanId=OTHER), span(spanId="aaaaaaaaaaaaaaaa", parentSpanId=OTHER)))
    assert [row["kind"] for row in taken.spans] == ["server", "server"]


def test_16_one_request_id_on_two_spans_is_two_spans(tmp_path: Path) -> None:
    same = attributes(**{"gen_ai.request.id": {"stringValue": "chatcmpl-r"}})
    assert len(given(tmp_path, document(span(attributes=same), span(spanId=OTHER, attributes=same))).spans) == 2


def test_17_a_cancelled_span_that_says_ok_is_stored_as_it_says(tmp_path: Path) -> None:
    assert given(tmp_path, document(span(status={"code": 1}))).one()["status"] == "ok"


def test_18_every_chunk_event_is_kept_in_order(tmp_path: Path) -> None:
    events = [{"name": "chunk", "timeUnixNano": str(START + n)} for n in (3, 1, 2)]
    found = given(tmp_path, document(span(events=events))).one()["events"]
    assert [event["time_ns"] - START for event in found] == [3, 1, 2]


def test_19_a_file_that_holds_a_span_twice_gives_it_twice_and_the_store_once(tmp_path: Path) -> None:
    # What is a copy is decided over all files, in the store.
    taken = given(tmp_path, document(span(), span()))
    assert (taken.records, len(taken.spans)) == (2, 2)


# -- 20: framing; every form has tests of its own ---------------------------------------------------------------------


def test_20_every_framing_gives_the_same_span(tmp_path: Path) -> None:
    body, line = message((TRACE, SPAN)), json.dumps(document(span(kind=0), scope="")).encode()
    pack = ZstdCompressor().compress
    forms = {
        "lines": line + b"\n", "pretty": json.dumps(json.loads(line), indent=2).encode(), "no end": line,
        "marks": b"\xef\xbb\xbf" + line + b"\r\n\r\n", "nuls": b"\x00\x00\x00" + line, "bare": body,
        "prefixed": prefixed(body), "packed": prefixed(pack(body)), "packed lines": prefixed(pack(line)),
        "frames": pack(line[:9]) + pack(line[9:]),
    }  # fmt: skip
    found = {name: given(tmp_path, content, source=None) for name, content in forms.items()}
    first = found["lines"].content
    assert len(first) == 1
    assert {name: taken.content == first and taken.refused == [] for name, taken in found.items()} == dict.fromkeys(
        forms, True
    )


# -- 21 to 26 -----------------------------------------------------------------------------------------------------------


def test_21_a_trace_may_stand_in_any_order_over_lines(tmp_path: Path) -> None:
    late, early = document(span(spanId=OTHER, parentSpanId=SPAN)), document(span())
    taken = given(tmp_path, f"{json.dumps(late)}\n{json.dumps(early)}\n")
    assert [(row["span_id"], row["position"]) for row in taken.spans] == [(OTHER, 1), (SPAN, 2)]


def test_22_spans_that_are_no_request_are_spans_all_the_same(tmp_path: Path) -> None:
    assert [row["name"] for row in given(tmp_path, document(span(name="Overall Loading"), span(name="GET /health"))).spans] == [
        "Overall Loading", "GET /health",
    ]  # fmt: skip


def test_23_old_and_new_names_of_an_attribute_stand_side_by_side(tmp_path: Path) -> None:
    both = {"gen_ai.usage.prompt_tokens": {"intValue": "5"}, "gen_ai.usage.input_tokens": {"intValue": "6"}}
    assert given(tmp_path, document(span(attributes=attributes(**both)))).one()["attributes"] == {
        "gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.input_tokens": 6,
    }  # fmt: skip


def test_24_a_start_in_milliseconds_beside_an_end_in_nanoseconds_is_no_fault(tmp_path: Path) -> None:
    found = given(
        tmp_path, document(span(startTimeUnixNano="1796068922528000000", endTimeUnixNano="1796068922559419718"))
    ).one()
    assert (found["end_ns"] - found["start_ns"], found["flag"]) == (31_419_718, None)


def test_25_a_name_keeps_its_blank_and_its_process(tmp_path: Path) -> None:
    names = [" Req 74173be3", "Scheduler [TP 0] (host:3f | pid:7)"]
    assert [row["name"] for row in given(tmp_path, document(*(span(name=name) for name in names))).spans] == names


@pytest.mark.parametrize(
    "key",
    ["gen_ai.input.messages", "metadata.requester_metadata", "exception.stacktrace", "http.request.header.cookie"],
)
def test_26_what_was_said_is_left_out_and_counted(tmp_path: Path, key: str) -> None:
    secret = attributes(**{key: {"stringValue": "a secret"}})
    events = [{"name": "e", "attributes": secret}]
    links = [{"traceId": TRACE, "spanId": SPAN, "attributes": secret}]
    taken = given(tmp_path, document(span(attributes=secret, events=events, links=links)))
    assert "a secret" not in str(taken.spans)
    assert taken.dropped == 3
    assert str(given(tmp_path, document(span(attributes=secret)), keep_content=True).spans).count("a secret") == 1


# -- times that no clock shows ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "kept", "flag"),
    [
        ("0", str(END), (None, END), "no start time"),
        (str(START), "0", (START, None), "no end time"),
        (str(START), None, (START, None), "no end time"),
        (str(START), "", (START, None), "no end time"),
        (None, None, (None, None), "no start time; no end time"),
        (str(START), str(START - 1), (START, START - 1), "end before start"),
        (str(START), "18446744073709360311", (START, None), "time out of range"),
        (str(START), str(2**63), (START, None), "time out of range"),
        (str(START), str(2**63 - 1), (START, 2**63 - 1), None),
        ("-1", str(END), (None, END), "time out of range"),
        (-5, str(END), (None, END), "time out of range"),
    ],
)
def test_a_span_with_an_impossible_time_is_kept_without_it_and_flagged(
    tmp_path: Path, start: Any, end: Any, kept: tuple[Any, Any], flag: str | None
) -> None:
    found = given(tmp_path, document(span(startTimeUnixNano=start, endTimeUnixNano=end))).one()
    assert ((found["start_ns"], found["end_ns"]), found["flag"]) == (kept, flag)


def test_a_wrapped_time_of_a_message_is_out_of_range() -> None:
    data = TracesData.FromString(message((TRACE, SPAN)))
    data.resource_spans[0].scope_spans[0].spans[0].end_time_unix_nano = 2**64 - 191305
    found = of_message(data.SerializeToString()).one()
    assert (found["start_ns"], found["end_ns"], found["flag"]) == (START, None, "time out of range")


@pytest.mark.parametrize(("written", "kept"), [(3, 3), ("3", 3), (0, None), (-1, None), (True, None), ("many", None)])
def test_what_an_event_or_link_has_dropped_is_a_count_or_is_left_out(tmp_path: Path, written: Any, kept: Any) -> None:
    event = {"name": "e", "timeUnixNano": str(START), "droppedAttributesCount": written}
    link = {"traceId": TRACE, "spanId": SPAN, "dropped_attributes_count": written}
    found = given(tmp_path, document(span(events=[event], links=[link]))).one()
    assert [item.get("dropped_attributes") for item in (*found["events"], *found["links"])] == [kept, kept]


def test_half_a_character_becomes_a_question_mark(tmp_path: Path) -> None:
    text = json.dumps(document(span(name="?"))).replace('"?"', '"a\\ud83d"')
    assert given(tmp_path, text).one()["name"] == "a?"
