"""Whatever bytes a file holds, every record is taken, set aside or refused, and nothing fails but with a sentence."""

from __future__ import annotations

import json
import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from reading import SPAN, TRACE, attributes, document, message, prefixed, read, span
from zstandard import ZstdCompressor

from analyzer.errors import SourceError
from analyzer.sources.jaeger import SOURCE as JAEGER
from analyzer.sources.otel_console import SOURCE as CONSOLE
from analyzer.sources.otlp import SOURCE as OTLP
from analyzer.sources.zipkin import SOURCE as ZIPKIN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.sources import Source

CASES = 1_000
WORDS = [
    b"null", b"true", b"-1", b"1e999", b"NaN", b'""', b"[]", b"{}", b"[", b"]", b"{", b"}", b'"', b"\\", b"\n", b"\x00",
    b"\xff", b",", b":", b'"\\ud800"', b"99999999999999999999999", b"\xef\xbb\xbf", b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"'", b"\n{",
]  # fmt: skip
_TOKEN = re.compile(rb'"[^"]*"|[-0-9.]+|[\[\]{},:]')


def otlp_json() -> bytes:
    rich = span(
        parentSpanId="eee19b7ec3c1b175", status={"code": 2, "message": "m"},
        attributes=attributes(a={"intValue": "7"}, b={"arrayValue": {"values": [{"doubleValue": 1.5}]}}, c={"kvlistValue": {"values": [{"key": "k", "value": {"boolValue": True}}]}}),
        events=[{"name": "e", "timeUnixNano": "5", "attributes": attributes(x={"stringValue": "y"})}],
        links=[{"traceId": TRACE, "spanId": SPAN}],
    )  # fmt: skip
    resource = {"attributes": attributes(**{"service.name": {"stringValue": "s"}})}
    return json.dumps(document(rich, span(), resource=resource)).encode()


def jaeger() -> bytes:
    one = {
        "traceID": TRACE, "spanID": SPAN, "operationName": "o", "startTime": 17_960_690_359_196, "duration": 5,
        "references": [{"refType": "CHILD_OF", "traceID": TRACE, "spanID": "1"}], "processID": "p1", "warnings": ["w"],
        "tags": [{"key": "span.kind", "type": "string", "value": "server"}, {"key": "n", "type": "int64", "value": 5}],
        "logs": [{"timestamp": 5, "fields": [{"key": "event", "type": "string", "value": "e"}]}],
    }  # fmt: skip
    processes = {"p1": {"serviceName": "s", "tags": [{"key": "host.name", "type": "string", "value": "h"}]}}
    return json.dumps({"data": [{"traceID": TRACE, "spans": [one, one], "processes": processes}]}).encode()


def zipkin() -> bytes:
    one = {
        "traceId": TRACE, "id": SPAN, "parentId": "1", "name": "n", "kind": "CLIENT", "timestamp": 5, "duration": 6,
        "localEndpoint": {"serviceName": "s"}, "tags": {"a": "b", "host.name": "h", "error": "e"},
        "annotations": [{"timestamp": 5, "value": '"e":{"k":"v"}'}],
    }  # fmt: skip
    return b"\n".join([json.dumps([one, one]).encode()] * 2)


def console() -> bytes:
    one = {
        "name": "n", "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}", "trace_state": "[]"}, "kind": "SpanKind.CLIENT",
        "parent_id": None, "start_time": "2026-11-30T19:58:16.492279Z", "end_time": "2026-11-30T19:58:16.742574Z",
        "status": {"status_code": "UNSET"}, "attributes": {"a": [1, 2.5, True]}, "links": [{"context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{SPAN}"}, "attributes": {}}],
        "events": [{"name": "e", "timestamp": "2026-11-30T19:58:16.5Z", "attributes": {"k": "v"}}],
        "resource": {"attributes": {"service.name": "s"}, "schema_url": ""},
    }  # fmt: skip
    return (json.dumps(one, indent=4) + "\n").encode() * 2


def pretty(content: bytes) -> bytes:
    return json.dumps(json.loads(content), indent=1).encode()


MESSAGES = message((TRACE, SPAN), (TRACE, "0" * 15 + "1"))
GIVEN: dict[str, tuple[Source, Callable[[], bytes]]] = {
    "lines": (OTLP, lambda: (otlp_json() + b"\n") * 2),
    "document": (OTLP, lambda: pretty(otlp_json()) * 2),
    "wrapped": (OTLP, lambda: b'{"trace": ' + otlp_json().replace(b"resourceSpans", b"batches") + b"}"),
    "bare": (OTLP, lambda: MESSAGES * 2),
    "prefixed": (OTLP, lambda: prefixed(MESSAGES, MESSAGES)),
    "packed": (OTLP, lambda: prefixed(*[ZstdCompressor().compress(part) for part in (MESSAGES, otlp_json())])),
    "zstd": (OTLP, lambda: ZstdCompressor().compress(otlp_json())),
    "jaeger": (JAEGER, jaeger),
    "zipkin": (ZIPKIN, zipkin),
    "console": (CONSOLE, console),
}


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with some bytes, tokens or stretches changed, doubled, moved or cut."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        if not changed:
            break
        begin = chance.randrange(len(changed))
        how = chance.randrange(7)
        if how == 0:
            changed[begin] = chance.randrange(256)
        elif how == 1:
            del changed[begin : begin + chance.choice((1, 2, 30))]
        elif how == 2:
            changed[begin:begin] = chance.choice(WORDS)
        elif how == 3:
            del changed[begin:]
        elif how == 4:
            changed[begin:begin] = changed[begin : begin + chance.choice((1, 20, 200))]
        elif how == 5:
            changed[begin : begin + 4] = bytes(chance.randrange(256) for _ in range(4))
        elif token := _TOKEN.search(changed, begin):
            changed[token.start() : token.end()] = chance.choice(WORDS)
    return bytes(changed)


def no_number(word: str) -> None:
    raise ValueError(word)


def strict(spans: list[dict[str, Any]]) -> bool:
    """Whether every JSON column is JSON as a database takes it."""
    columns = ("attributes", "resource", "events", "links")
    return all(
        json.loads(row[column], parse_constant=no_number) is not None
        for row in spans
        for column in columns
        if row[column] is not None
    )


@pytest.mark.parametrize("form", GIVEN)
def test_every_record_of_mutated_bytes_is_accounted_for(tmp_path: Path, form: str) -> None:
    source, make = GIVEN[form]
    content, chance = make(), random.Random(form)  # noqa: S311 (repeatable, not secret)
    path = tmp_path / "given"
    path.write_bytes(content)
    whole = read(path, source)
    assert (whole.refused, whole.accounted) == ([], True)
    assert whole.spans
    taken_whole = read_well = 0
    for case in range(CASES):
        path.write_bytes(mutated(content, chance))
        try:
            taken = read(path, source)
        except SourceError:
            continue
        assert taken.accounted, (case, path.read_bytes())
        assert all(place and reason for place, reason, _ in taken.refused)
        assert strict(taken.spans), (case, path.read_bytes())
        taken_whole += len(taken.spans) == len(whole.spans)
        read_well += 1
    # The mutations are small enough that most files still give something.
    assert read_well > CASES // 20
    assert taken_whole < CASES


@pytest.mark.parametrize("form", GIVEN)
def test_any_source_survives_the_bytes_of_any_other(tmp_path: Path, form: str) -> None:
    path = tmp_path / "given"
    for other, (source, _) in GIVEN.items():
        path.write_bytes(GIVEN[form][1]())
        try:
            taken = read(path, source)
        except SourceError:
            continue
        assert taken.accounted, other
