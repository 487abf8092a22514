"""Forms of OTLP files: lines, documents and messages, with metrics and logs among them, torn, mixed up or too large."""

from __future__ import annotations

import gzip
import json
import struct
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogsData
from opentelemetry.proto.metrics.v1.metrics_pb2 import MetricsData
from reading import END, SPAN, START, TRACE, attributes, document, given, message, of_message, prefixed, span
from zstandard import ZstdCompressor

from analyzer.errors import SourceError
from analyzer.sources import recognise

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "eee19b7ec3c1b175"
ONE, TWO = json.dumps(document(span())), json.dumps(document(span(spanId=OTHER)))
METRICS = json.dumps({"resourceMetrics": [{"scopeMetrics": []}, {"scopeMetrics": []}]})
LOGS = json.dumps({"resourceLogs": [{"scopeLogs": []}]})


def pretty(text: str, indent: int | str = 2) -> str:
    return json.dumps(json.loads(text), indent=indent)


def ids(taken: Any) -> list[str]:
    return [row["span_id"] for row in taken.spans]


# -- JSON -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [0, 1, 4, "\t"])
def test_one_document_over_many_lines_is_read_however_it_is_indented(tmp_path: Path, indent: int | str) -> None:
    taken = given(tmp_path, pretty(ONE, indent), source=None)
    assert (ids(taken), taken.refused) == ([SPAN], [])


@pytest.mark.parametrize("between", ["", "\n", "\n\n", "\r\n"])
def test_documents_one_after_the_other_are_read(tmp_path: Path, between: str) -> None:
    assert ids(given(tmp_path, pretty(ONE) + between + pretty(TWO), source=None)) == [SPAN, OTHER]


def test_documents_on_one_line_are_read(tmp_path: Path) -> None:
    taken = given(tmp_path, f"{ONE}{TWO} {ONE}\n{TWO}\n", source=None)
    assert (ids(taken), taken.refused) == ([SPAN, OTHER, SPAN, OTHER], [])


@pytest.mark.parametrize("indent", [None, 1])
def test_documents_in_a_list_are_read(tmp_path: Path, indent: int | None) -> None:
    text = json.dumps([json.loads(ONE), {"else": 1}, json.loads(TWO)], indent=indent)
    taken = given(tmp_path, text)
    assert (ids(taken), taken.reasons) == ([SPAN, OTHER], ["not a document of spans"])


def test_one_group_a_line_is_one_document(tmp_path: Path) -> None:
    groups = ",\n".join(json.dumps(json.loads(text)["resourceSpans"][0]) for text in (ONE, TWO))
    assert ids(given(tmp_path, f'{{"resourceSpans": [\n{groups}\n]}}\n', source=None)) == [SPAN, OTHER]


def test_the_list_may_stand_behind_other_fields(tmp_path: Path) -> None:
    whole = {"schema": {"resourceSpans": "no"}, "n": [1], **json.loads(ONE)}
    for text in (json.dumps(whole), json.dumps(whole, indent=1)):
        assert ids(given(tmp_path, text, source=None)) == [SPAN]


@pytest.mark.parametrize(
    "first", ["this is no JSON", '{"invalid": 1}', '{"resourceSpans":[{"resource":', "{incomplete"]
)
def test_an_odd_first_line_costs_no_other(tmp_path: Path, first: str) -> None:
    taken = given(tmp_path, f"{first}\n{ONE}\n{TWO}\n", source=None)
    assert (ids(taken), [place for place, _, _ in taken.refused]) == ([SPAN, OTHER], ["line 1"])


def test_a_torn_document_over_many_lines_keeps_the_groups_before(tmp_path: Path) -> None:
    whole = pretty(json.dumps({"resourceSpans": json.loads(ONE)["resourceSpans"] + json.loads(TWO)["resourceSpans"]}))
    taken = given(tmp_path, whole[:-60], source=None)
    assert (ids(taken), taken.reasons) == ([SPAN], ["torn: the file ends inside it"])
    line = whole[: whole.index(OTHER)].count("\n")
    assert int(taken.refused[0][0].split(",")[0].removeprefix("line ")) < line


def test_a_refused_group_is_told_by_line_and_byte(tmp_path: Path) -> None:
    text = pretty(ONE) + "\n" + pretty(TWO).replace('"spans": [', '"spans": [5, ')
    taken = given(tmp_path, text, source=None)
    ((place, reason, sample),) = taken.refused
    line, byte = (int(word.split()[1]) for word in place.split(", "))
    assert text[byte] == "{"
    assert text[:byte].count("\n") + 1 == line
    assert (reason, sample) == ("the span is not of the form its format gives it", "5")
    assert ids(taken) == [SPAN, OTHER]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ('{"resourceSpans": 5}', "not a document of spans"),
        ("{}", "not a document of spans"),
        ("[1]", "it stands where an object belongs"),
        ('{"resourceSpans": [5]}', "it stands where an object belongs"),
        ('{"resourceSpans": [{"scopeSpans": {"spans": []}}]}', "the scopes of a resource are not a list"),
        ('{"resourceSpans": [{"scopeSpans": [{"spans": {"a": 1}}]}]}', "the spans of a scope are not a list"),
        ('{"resourceSpans": [{"resource": [1], "scopeSpans": [{"spans": []}]}]}', "the span is not of the form its format gives it"),
    ],
)  # fmt: skip
def test_a_document_of_another_form_is_one_refused_record(tmp_path: Path, written: str, reason: str) -> None:
    for text in (f"{ONE}\n{written}\n", pretty(ONE) + "\n" + pretty(written)):
        taken = given(tmp_path, text)
        assert (ids(taken), taken.reasons, taken.accounted) == ([SPAN], [reason], True)


# -- metrics and logs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("over_lines", [False, True])
def test_metrics_and_logs_are_set_aside_and_counted(tmp_path: Path, over_lines: bool) -> None:
    texts = [METRICS, ONE, LOGS, METRICS]
    content = "\n".join(pretty(text) if over_lines else text for text in texts)
    taken = given(tmp_path, content, source=None)
    assert (taken.records, len(taken.spans), taken.set_aside, taken.refused) == (6, 1, 5, [])
    assert taken.notes == ["set aside: 1 resources of logs and 4 resources of metrics, of which only spans are read"]


def test_a_document_of_spans_and_metrics_gives_both(tmp_path: Path) -> None:
    taken = given(tmp_path, {**json.loads(METRICS), **json.loads(ONE)}, source=None)
    assert (len(taken.spans), taken.set_aside, taken.accounted) == (1, 2, True)


def test_messages_of_metrics_and_logs_are_set_aside(tmp_path: Path) -> None:
    metrics, logs = MetricsData(), LogsData()
    scoped = metrics.resource_metrics.add().scope_metrics.add()
    scoped.metrics.add(name="vllm:num_requests_running", unit="1").gauge.data_points.add(as_int=3)
    scoped.metrics.add(name="total").sum.data_points.add(as_double=3)
    record = logs.resource_logs.add().scope_logs.add().log_records.add(time_unix_nano=START)
    record.body.string_value = "said \u00e9"
    content = prefixed(metrics.SerializeToString(), message((TRACE, SPAN)), logs.SerializeToString())
    taken = given(tmp_path, content)
    assert (taken.records, len(taken.spans), taken.set_aside, taken.refused) == (3, 1, 2, [])


# -- messages -----------------------------------------------------------------------------------------------------------


def test_messages_count_from_one_and_are_refused_by_byte(tmp_path: Path) -> None:
    body = message((TRACE, SPAN), (TRACE, OTHER))
    content = prefixed(body, b"\x0a\x03abc", body)
    taken = given(tmp_path, content, source=None)
    assert [row["position"] for row in taken.spans] == [1, 1, 3, 3]
    assert [(place, reason) for place, reason, _ in taken.refused] == [
        (f"byte {4 + len(body)}", "not a message of OTLP")
    ]


@pytest.mark.parametrize("cut", [1, 3, 5, 30])
def test_a_torn_message_is_one_refused_record(tmp_path: Path, cut: int) -> None:
    body = message((TRACE, SPAN))
    taken = given(tmp_path, prefixed(body, body)[: len(body) + 4 + cut], source=None)
    assert (len(taken.spans), taken.reasons) == (1, ["torn: the file ends inside this message"])


def test_a_torn_bare_message_keeps_the_resources_before() -> None:
    body = message((TRACE, SPAN))
    taken = of_message((body + body)[:-3])
    assert (len(taken.spans), taken.reasons) == (1, ["torn: the file ends inside this message"])


def test_a_message_with_an_id_of_another_length_refuses_that_span() -> None:
    taken = of_message(message((TRACE, SPAN), (TRACE[:-2], SPAN), ("", SPAN)))
    assert (len(taken.spans), taken.accounted) == (1, True)
    assert taken.reasons == ["an id of 15 bytes is none of 16", "the span has no trace id or no span id"]


def test_a_frame_that_cannot_be_unpacked_is_one_refused_record(tmp_path: Path) -> None:
    frame = bytearray(ZstdCompressor().compress(ONE.encode() * 3))
    frame[20] ^= 0xFF
    whole = ZstdCompressor().compress(TWO.encode())
    taken = given(tmp_path, prefixed(bytes(frame), whole), source=None)
    assert (ids(taken), taken.accounted, len(taken.refused)) == ([OTHER], True, 1)


@pytest.mark.parametrize("pack", [gzip.compress, ZstdCompressor().compress])
def test_packed_files_may_have_several_parts(tmp_path: Path, pack: Any) -> None:
    text = f"{ONE}\n{TWO}\n".encode()
    assert ids(given(tmp_path, pack(text[:50]) + pack(text[50:]), source=None)) == [SPAN, OTHER]
    assert ids(given(tmp_path, pack(message((TRACE, SPAN))), source=None)) == [SPAN]


@pytest.mark.parametrize(
    "content",
    [b"", b"  \n\t\n", b"hello\n", b"\n\x05hello", b"\x00\x00\x00\x05hello", b"\x0a\x02\x08\x01", b"{}", b"[]", b'{"spans": [{"id": 1}]}', b'{"batches": [1]}'],
)  # fmt: skip
def test_what_is_something_else_is_not_taken_for_otlp(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "given"
    path.write_bytes(content)
    assert recognise(path) is None


def test_a_file_forced_upon_the_source_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no OTLP that can be read"):
        given(tmp_path, b"\x00\x01\x02\x03")
    assert given(tmp_path, "hello\nworld\n").reasons == ["not valid JSON"] * 2


# -- limits -------------------------------------------------------------------------------------------------------------


def test_a_line_beyond_the_limit_is_refused_and_the_next_ones_read(tmp_path: Path) -> None:
    long = json.dumps(document(span(name="x" * 5000)))
    taken = given(tmp_path, f"{ONE}\n{long}\n{TWO}\n", max_line_bytes=2000)
    assert (ids(taken), taken.accounted) == ([SPAN, OTHER], True)
    assert [(place, reason) for place, reason, _ in taken.refused] == [
        ("line 2", "the line is longer than 2000 bytes, the limit for one line")
    ]


def test_a_first_line_beyond_the_limit_is_read_as_a_document_group_by_group(tmp_path: Path) -> None:
    groups = [document(span(spanId=f"{n:016x}"))["resourceSpans"][0] for n in range(1, 800)]
    taken = given(tmp_path, {"resourceSpans": groups}, max_line_bytes=70_000)
    assert (len(taken.spans), taken.refused) == (799, [])


@pytest.mark.parametrize("over_lines", [False, True])
def test_nesting_beyond_the_limit_is_refused(tmp_path: Path, over_lines: bool) -> None:
    deep = '{"arrayValue":{"values":[' * 40_000 + "{}" + "]}}" * 40_000
    text = json.dumps(document(span(attributes=attributes(a="?")))).replace('"?"', deep)
    content = (
        f'{{\n"resourceSpans"{text[len(chr(123) + chr(34) + "resourceSpans" + chr(34)) :]}' if over_lines else text
    )
    taken = given(tmp_path, f"{content}\n{ONE}")
    assert (ids(taken), taken.reasons) == ([SPAN], ["nested deeper than 256"])


def test_brackets_inside_texts_do_not_nest(tmp_path: Path) -> None:
    assert given(tmp_path, document(span(name='{["' * 500))).one()["name"] == '{["' * 500


@pytest.mark.parametrize("opened", ["[", '{"a":', '{"resourceSpans":['])
def test_brackets_without_end_are_refused(tmp_path: Path, opened: str) -> None:
    taken = given(tmp_path, opened * 100_000)
    assert (taken.spans, len(taken.refused), taken.accounted) == ([], 1, True)


def peak(read: Any) -> tuple[Any, int]:
    """What a call gives, and the most memory that Python held meanwhile."""
    tracemalloc.start()
    try:
        return read(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


MEGABYTE = 1 << 20


def test_a_line_without_end_is_never_held(tmp_path: Path) -> None:
    # A first short line makes it a file of lines.
    start = ONE.encode() + b'\n{"resourceSpans": [{"x": "'
    packed = gzip.compress(start) + gzip.compress(b"x" * (200 * MEGABYTE), 1)
    taken, held = peak(lambda: given(tmp_path, packed, source=None, max_line_bytes=8 * MEGABYTE))
    assert (ids(taken), taken.reasons) == ([SPAN], ["the line is longer than 8388608 bytes, the limit for one line"])
    assert held < 120 * MEGABYTE


def test_a_small_file_that_unpacks_without_end_is_never_held(tmp_path: Path) -> None:
    packed = gzip.compress(b'{"resourceSpans": [{"x": "') + gzip.compress(b"x" * (200 * MEGABYTE), 1)
    taken, held = peak(
        lambda: given(tmp_path, packed, source=None, max_line_bytes=MEGABYTE, max_document_bytes=8 * MEGABYTE)
    )
    assert (taken.spans, taken.reasons) == ([], ["larger than 8388608 bytes, the limit for what is read at once"])
    assert held < 120 * MEGABYTE


def test_a_message_beyond_the_limit_is_refused_and_the_next_one_read(tmp_path: Path) -> None:
    large = message((TRACE, OTHER), name="x" * 5000)
    taken = given(tmp_path, prefixed(large, message((TRACE, SPAN))), source=None, max_document_bytes=2000)
    assert (ids(taken), taken.accounted) == ([SPAN], True)
    assert "the limit for what is read at once" in taken.reasons[0]


def test_a_frame_that_unpacks_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    bomb = ZstdCompressor().compress(b'{"resourceSpans": [{"x": "' + b"x" * (50 * MEGABYTE))
    content = prefixed(bomb, message((TRACE, SPAN)))
    taken, held = peak(lambda: given(tmp_path, content, source=None, max_document_bytes=MEGABYTE))
    assert (ids(taken), taken.accounted) == ([SPAN], True)
    assert held < 60 * MEGABYTE


def test_a_length_that_lies_is_a_torn_message(tmp_path: Path) -> None:
    content = prefixed(message((TRACE, SPAN))) + struct.pack(">I", 2**32 - 1) + b"rest"
    taken = given(tmp_path, content, source=None)
    assert (ids(taken), taken.reasons) == ([SPAN], ["torn: the file ends inside this message"])


def test_many_spans_come_in_pieces(tmp_path: Path) -> None:
    lines = "".join(json.dumps(document(span(spanId=f"{n:016x}"))) + "\n" for n in range(1, 45_001))
    taken = given(tmp_path, lines)
    assert (len(taken.spans), taken.records) == (45_000, 45_000)
    assert taken.spans[-1]["position"] == 45_000
    assert (taken.spans[0]["start_ns"], taken.spans[0]["end_ns"]) == (START, END)
