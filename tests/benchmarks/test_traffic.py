"""Generated traffic: repeatable, the same in every form, and counted by a store as the generator counts it."""

from __future__ import annotations

import base64
import json
import math
import re
from collections import Counter
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import event_log
import otlp
import pytest
import queueing
import spans
import traffic
from building import TOTAL
from google.protobuf.json_format import MessageToDict
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData
from zstandard import ZstdDecompressor

from analyzer import resources
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

FORMS = list(traffic.FORMS)
SEED, SPANS = 1, 6_000  # the engines fill up early here, so that every outcome is there
# No load point is told, so that there is one.
BY_TENANT = "load_point = '(none)' AND tenant <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'"
SPAN_KEYS = [
    "traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano", "endTimeUnixNano",
    "attributes", "droppedAttributesCount", "events", "droppedEventsCount", "links", "droppedLinksCount", "status",
]  # fmt: skip


def messages(path: Path) -> Iterator[TracesData]:
    """The messages of a file, each after its length."""
    body = path.read_bytes()
    at = 0
    while at < len(body):
        size = int.from_bytes(body[at : at + 4], "big")
        yield TracesData.FromString(body[at + 4 : at + 4 + size])
        at += 4 + size


def plain(message: TracesData) -> dict[str, Any]:
    """A message as Google's own JSON has it, but with ids in hex, as OTLP wants them."""
    document: dict[str, Any] = MessageToDict(message, use_integers_for_enums=True)
    for group in document["resourceSpans"]:
        for scoped in group["scopeSpans"]:
            for span in scoped["spans"]:
                for key in ("traceId", "spanId", "parentSpanId"):
                    if key in span:
                        span[key] = base64.b64decode(span[key]).hex()
    return document


def some(seed: int = 3, requests: int = 400) -> list[queueing.Request]:
    return list(islice(queueing.requests(seed), requests))


@pytest.mark.parametrize("form", FORMS)
def test_a_seed_always_gives_the_same_bytes(form: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two", "other")]
    for folder in folders:
        folder.mkdir()
    write = partial(traffic.write, form=form, least_spans=500)
    first, second = (write(folder, seed=7).path.read_bytes() for folder in folders[:2])
    assert first == second != write(folders[2], seed=8).path.read_bytes()


@pytest.mark.parametrize("form", FORMS)
def test_a_packed_file_holds_the_same_bytes(form: str, tmp_path: Path) -> None:
    bare = traffic.write(tmp_path, form, seed=7, least_spans=500)
    packed = traffic.write(tmp_path, form, seed=7, least_spans=500, zstd=True)
    with packed.path.open("rb") as stream, ZstdDecompressor().stream_reader(stream) as reader:
        assert reader.read() == bare.path.read_bytes()
    assert packed.bytes < packed.unpacked_bytes == bare.bytes == bare.unpacked_bytes


def test_a_larger_file_begins_with_the_smaller_one(tmp_path: Path) -> None:
    small = traffic.write(tmp_path, "events", seed=7, least_spans=500).path.read_bytes()
    assert traffic.write(tmp_path, "events", seed=7, least_spans=900).path.read_bytes().startswith(small)


def test_json_and_protobuf_say_the_same(written: Callable[[str], traffic.Written]) -> None:
    lines = written("json").path.read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == [plain(message) for message in messages(written("protobuf").path)]
    assert written("json").records == written("protobuf").records >= 6_000


def test_json_has_no_spaces_and_the_order_of_the_collectors_marshaller(
    written: Callable[[str], traffic.Written],
) -> None:
    for line in written("json").path.read_text(encoding="utf-8").splitlines():
        document = json.loads(line)
        for span in (s for g in document["resourceSpans"] for scoped in g["scopeSpans"] for s in scoped["spans"]):
            assert [key for key in SPAN_KEYS if key in span] == list(span)
            assert span["status"] in ({}, {"code": 2})
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
        text = re.sub(r'("doubleValue":\d+)\.0}', r"\1}", text)
        assert text == line


def test_a_file_has_escapes_arrays_and_events(written: Callable[[str], traffic.Written]) -> None:
    text = written("json").path.read_text(encoding="utf-8")
    for part in (
        "東京",
        r"\"fast\" lane\tof C:\\tools",
        r"(most recent call last):\n",
        '"arrayValue":{"values":[',
        '"boolValue":',
    ):
        assert part in text


@given(st.floats(1e-9, 1e12))
def test_a_double_reads_back_as_the_same_and_has_no_exponent_of_pythons(value: float) -> None:
    text = otlp.double_text(value)
    assert float(text) == value
    assert ("e" in text) == (value < 1e-6)
    assert not text.endswith(".0")


def test_spans_are_as_many_as_the_generator_counts_and_their_ids_differ() -> None:
    requests = some()
    made = [span for request in requests for span in spans.spans_of(request)]
    assert len(made) == sum(map(spans.count, requests))
    assert len({(span.trace_id, span.span_id) for span in made}) == len(made)
    assert all(span.start_ns <= span.end_ns for span in made)
    parents = {(span.trace_id, span.span_id) for span in made}
    assert all(span.shape.root or (span.trace_id, span.parent_id) in parents for span in made)


def test_a_span_is_of_the_size_that_is_told(written: Callable[[str], traffic.Written]) -> None:
    made = [span for request in some() for span in spans.spans_of(request)]
    assert 11 < sum(len(span.shape.fields) for span in made) / len(made) < 16
    assert 5.5 < len(made) / 400 < 6.5
    assert 800 < written("json").bytes / written("json").records < 1_050


def test_a_slot_holds_one_request_at_a_time_and_every_outcome_comes_about() -> None:
    held = []
    outcomes: Counter[str] = Counter()
    for request in some(1, 3_000):
        outcomes.update(tried.outcome for tried in request.tries)
        assert [t.outcome for t in request.tries[:-1] if t.outcome not in ("rejected", "error")] == []
        for tried in request.tries:
            if tried.started_ns is not None and tried.last_token_ns is not None:
                held += [(tried.started_ns, 1), (tried.last_token_ns, -1)]
    running = most = 0
    for _, change in sorted(held):
        running += change
        most = max(most, running)
    assert 0.8 * queueing.SLOTS < most <= queueing.SLOTS
    assert set(outcomes) == {"ok", "rejected", "cancelled", "timeout", "error"}


def test_arrivals_and_lengths_are_those_of_the_model() -> None:
    requests = sorted(some(5, 6_000), key=lambda request: request.sent_ns)
    hours = (requests[-1].sent_ns - requests[0].sent_ns) / 1e9
    assert len(requests) / hours == pytest.approx(queueing.ARRIVALS_PER_S, rel=0.05)
    shares = Counter(request.tenant for request in requests)
    for tenant, (share, given_tokens, _) in queueing.TENANTS.items():
        assert shares[tenant] / len(requests) == pytest.approx(share, abs=0.02)
        logs = [math.log(request.input_tokens) for request in requests if request.tenant == tenant]
        assert sum(logs) / len(logs) == pytest.approx(math.log(given_tokens), abs=0.25)


def test_lines_of_the_event_log_are_valid_by_its_schema() -> None:
    schema = json.loads((resources.folder("schemas") / "event.schema.json").read_text(encoding="utf-8"))
    check = Draft202012Validator(schema)
    for request in some(1, 900)[-200:]:
        for line in event_log.lines_of(request):
            check.validate(json.loads(line))


@pytest.mark.parametrize("form", FORMS)
def test_a_store_counts_what_the_generator_counts(
    form: str, written: Callable[[str], traffic.Written], stored: Callable[[str], Path]
) -> None:
    known = written(form)
    with Store(stored(form), read_only=True) as store:
        files = store.fetch("SELECT records, kept, refused, duplicates, set_aside FROM source_file")
        total = store.fetch(f"SELECT outcome, requests FROM outcome_count WHERE {TOTAL}")
        parts = store.fetch(f"SELECT tenant, outcome, requests FROM outcome_count WHERE {BY_TENANT}")
        first, last = store.fetch("SELECT min(arrived_ns) AS a, max(done_ns) AS b FROM request WHERE counted")[
            0
        ].values()
        overall = store.fetch("SELECT count(*) FILTER (counted) AS n FROM request")[0]["n"]
    assert files == [{"records": known.records, "kept": known.records, "refused": 0, "duplicates": 0, "set_aside": 0}]
    assert {row["outcome"]: row["requests"] for row in total} == known.totals.by_outcome()
    assert {
        (row["tenant"], row["outcome"]): row["requests"] for row in parts if row["requests"]
    } == known.totals.outcomes
    assert len(known.totals.by_outcome()) == 5
    assert (overall, first, last) == (known.totals.requests, known.totals.first_ns, known.totals.last_ns)


def test_a_log_tells_the_tries_of_a_request_apart(
    written: Callable[[str], traffic.Written], stored: Callable[[str], Path]
) -> None:
    known = written("events").totals
    with Store(stored("events"), read_only=True) as store:
        counted = store.fetch(f"SELECT tenant, outcome, attempts FROM outcome_count WHERE {BY_TENANT}")
    assert {
        (row["tenant"], row["outcome"]): row["attempts"] for row in counted if row["attempts"]
    } == known.attempt_outcomes
    assert known.attempts > known.requests


def test_of_the_attributes_only_stacks_are_content_that_is_dropped(stored: Callable[[str], Path]) -> None:
    made = [span for request in traffic.traffic(SEED, SPANS) for span in spans.spans_of(request)]
    with Store(stored("json"), read_only=True) as store:
        dropped = store.fetch("SELECT dropped FROM source_file")[0]["dropped"]
    assert dropped == sum(span.exception is not None for span in made) > 0


def test_json_and_protobuf_give_the_same_rows(stored: Callable[[str], Path]) -> None:
    made = []
    for form in ("json", "protobuf"):
        with Store(stored(form), read_only=True) as store:
            made.append(
                store.fetch("SELECT * EXCLUDE (source_file, position) FROM span ORDER BY trace_id, span_id, kind")
            )
    assert made[0] == made[1]
    assert len(made[0]) >= 6_000
