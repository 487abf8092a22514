"""Every file of OTLP, Jaeger, Zipkin and console output at hand: taken or refused, with counts made by other means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from reading import read

from analyzer import ingest, sources
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.shared

FOLDERS = (
    "made/otlp-*",
    "public/duckdb-otlp",
    "public/jaeger-ui-fixtures",
    "public/odd-otlp",
    "public/otlp-proto-examples",
)


class Counts(NamedTuple):
    """Of one file: who reads it, its records, its distinct spans, what is refused and set aside as no span."""

    source: str | None
    records: int = 0
    spans: int = 0
    refused: int = 0
    other: int = 0


def all_spans(source: str, count: int) -> Counts:
    return Counts(source, count, count)


UNKNOWN = Counts(None)
FILES = {
    "made/otlp-e2e-litellm-vllm/client-events.jsonl": UNKNOWN,
    "made/otlp-e2e-litellm-vllm/traces.lenprefix.pb": all_spans("otlp", 520),
    "made/otlp-e2e-litellm-vllm/traces.otlp.jsonl": all_spans("otlp", 520),
    "made/otlp-e2e-litellm-vllm/traces.proto3json.jsonl": all_spans("otlp", 520),
    "made/otlp-genai/python-console-exporter.txt": all_spans("otel_console", 19),
    "made/otlp-genai/python-otlp-json-file-exporter.jsonl": all_spans("otlp", 19),
    "made/otlp-genai/traces.lenprefix.pb": all_spans("otlp", 19),
    "made/otlp-genai/traces.otlp.jsonl": all_spans("otlp", 19),
    "made/otlp-genai/traces.proto3json.jsonl": all_spans("otlp", 19),
    "made/otlp-litellm/traces.lenprefix.pb": all_spans("otlp", 110),
    "made/otlp-litellm/traces.otlp.jsonl": all_spans("otlp", 110),
    "made/otlp-litellm/traces.proto3json.jsonl": all_spans("otlp", 110),
    "made/otlp-node/traces.json-post.jsonl": all_spans("otlp", 2),
    "made/otlp-openai-v2-httpx/python-otlp-json-file-exporter.jsonl": all_spans("otlp", 31),
    "made/otlp-openai-v2-httpx/traces.lenprefix.pb": all_spans("otlp", 31),
    "made/otlp-openai-v2-httpx/traces.otlp.jsonl": all_spans("otlp", 31),
    "made/otlp-openai-v2-httpx/traces.proto3json.jsonl": all_spans("otlp", 31),
    "made/otlp-openinference/python-console-exporter.txt": all_spans("otel_console", 19),
    "made/otlp-openinference/python-otlp-json-file-exporter.jsonl": all_spans("otlp", 19),
    "made/otlp-openinference/traces.lenprefix.pb": all_spans("otlp", 19),
    "made/otlp-openinference/traces.otlp.jsonl": all_spans("otlp", 19),
    "made/otlp-openinference/traces.proto3json.jsonl": all_spans("otlp", 19),
    "made/otlp-sglang/traces.lenprefix.pb": all_spans("otlp", 79),
    "made/otlp-sglang/traces.otlp.jsonl": all_spans("otlp", 79),
    "made/otlp-sglang/traces.proto3json.jsonl": all_spans("otlp", 79),
    "made/otlp-traceloop/python-console-exporter.txt": all_spans("otel_console", 19),
    "made/otlp-traceloop/traces.lenprefix.pb": all_spans("otlp", 19),
    "made/otlp-traceloop/traces.otlp.jsonl": all_spans("otlp", 19),
    "made/otlp-traceloop/traces.proto3json.jsonl": all_spans("otlp", 19),
    "made/otlp-variants/bom-crlf-blanklines.jsonl": all_spans("otlp", 10),
    "made/otlp-variants/concatenated-members.jsonl.gz": Counts("otlp", 20, 10),  # the same export twice
    "made/otlp-variants/fileexporter-json-zstd-messagelevel.bin": all_spans("otlp", 10),
    "made/otlp-variants/fileexporter-native-multiframe.jsonl.zst": all_spans("otlp", 10),
    "made/otlp-variants/fileexporter-proto-truncated-tail.bin": Counts("otlp", 28, 27, refused=1),
    "made/otlp-variants/fileexporter-proto-zstd-messagelevel.bin": all_spans("otlp", 12),
    "made/otlp-variants/hostile-synthetic.json": Counts("otlp", 4, 3, refused=1),
    "made/otlp-variants/int64-as-json-numbers.json": all_spans("otlp", 10),
    "made/otlp-variants/jaeger-ui-api.json": all_spans("jaeger", 10),
    "made/otlp-variants/otlp.jsonl.gz": all_spans("otlp", 10),
    "made/otlp-variants/single-ExportTraceServiceRequest.pb": all_spans("otlp", 3),
    "made/otlp-variants/snake_case.json": all_spans("otlp", 10),
    "made/otlp-variants/tempo-legacy-instrumentationLibrarySpans.json": all_spans("otlp", 10),
    "made/otlp-variants/tempo-v1-api.json": all_spans("otlp", 10),
    "made/otlp-variants/tempo-v2-api-wrapped.json": all_spans("otlp", 10),
    "made/otlp-variants/truncated-last-line.jsonl": Counts("otlp", 11, 10, refused=1),
    "made/otlp-variants/uppercase-hex-pretty.json": all_spans("otlp", 10),
    "made/otlp-vllm/client-events.jsonl": UNKNOWN,
    "made/otlp-vllm/traces.lenprefix.pb": all_spans("otlp", 38),
    "made/otlp-vllm/traces.otlp.jsonl": all_spans("otlp", 38),
    "made/otlp-vllm/traces.proto3json.jsonl": all_spans("otlp", 38),
    "made/otlp-vllm/vllm-metrics.prom": UNKNOWN,
    "made/otlp-zipkin/zipkin-v2.jsonl": all_spans("zipkin", 38),
    "public/duckdb-otlp/empty.jsonl": UNKNOWN,
    # A document of something else, a line of words, a span whose trace id is "ABC", half a document.
    "public/duckdb-otlp/malformed.jsonl": Counts("otlp", 4, 0, refused=4),
    "public/duckdb-otlp/multifile_malformed_traces.jsonl": Counts("otlp", 1, 0, refused=1),
    "public/duckdb-otlp/multifile_valid_traces.jsonl": all_spans("otlp", 1),
    "public/duckdb-otlp/otlp_traces.pb": all_spans("otlp", 1),
    "public/duckdb-otlp/single_trace.jsonl": all_spans("otlp", 1),
    "public/duckdb-otlp/traces-initial.bar": UNKNOWN,
    "public/duckdb-otlp/traces-initial.otlp": all_spans("otlp", 1),
    "public/duckdb-otlp/traces_deep_nesting.jsonl": all_spans("otlp", 1),
    "public/duckdb-otlp/traces_large_attrs.jsonl": all_spans("otlp", 1),
    "public/duckdb-otlp/traces_nulls.jsonl": all_spans("otlp", 3),
    "public/duckdb-otlp/traces_simple.jsonl": all_spans("otlp", 3),
    "public/duckdb-otlp/ts_boundary_logs.jsonl": Counts("otlp", 1, other=1),
    "public/duckdb-otlp/ts_overflow_logs.jsonl": Counts("otlp", 1, other=1),
    "public/duckdb-otlp/whitespace.jsonl": UNKNOWN,
    "public/jaeger-ui-fixtures/otlp2jaeger-in-error.json": all_spans("otlp", 1),
    "public/jaeger-ui-fixtures/otlp2jaeger-in.json": Counts("otlp", 2, 1),  # one span twice
    "public/jaeger-ui-fixtures/otlp2jaeger-multi-in-combined.json": all_spans("otlp", 4),
    "public/jaeger-ui-fixtures/otlp2jaeger-multi-in.json.txt": all_spans("otlp", 4),
    "public/jaeger-ui-fixtures/otlp2jaeger-negative-counts.json": all_spans("otlp", 1),
    "public/odd-otlp/litellm_issue17827_monotonic-start_enum-name_int-times.json": all_spans("otlp", 1),
    "public/odd-otlp/otel-desktop-viewer_checkout.json": all_spans("otlp", 6),
    "public/odd-otlp/otel-desktop-viewer_small_first8spans.json": all_spans("otlp", 8),
    "public/odd-otlp/otel-file-exporter-spec_empty-ids.jsonl": Counts("otlp", 2, 0, refused=2),
    "public/otlp-proto-examples/trace.json": all_spans("otlp", 1),
}
TAKEN = {name: counts for name, counts in FILES.items() if counts.source}
SAME_EXPORT = [
    "bom-crlf-blanklines.jsonl", "fileexporter-json-zstd-messagelevel.bin", "fileexporter-native-multiframe.jsonl.zst",
    "int64-as-json-numbers.json", "otlp.jsonl.gz", "snake_case.json", "tempo-legacy-instrumentationLibrarySpans.json",
    "tempo-v1-api.json", "tempo-v2-api-wrapped.json", "truncated-last-line.jsonl", "uppercase-hex-pretty.json",
]  # fmt: skip
PART_OF_EXPORT = [
    "single-ExportTraceServiceRequest.pb", "fileexporter-proto-truncated-tail.bin",
    "fileexporter-proto-zstd-messagelevel.bin", "concatenated-members.jsonl.gz",
]  # fmt: skip
MILLION = 1_000_000


@pytest.fixture(scope="module")
def stores(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, Any]]]:
    """Give the ledger of a store that holds each of the files as a run of its own, by name."""
    with Store(tmp_path_factory.mktemp("files") / "s.duckdb", create=True) as made:
        for name in TAKEN:
            files = [ingest.Found(shared_data / name, name, named=True)]
            ingest.ingest_files(made, files, ingest.How(run=name))
        ingest.apply_defaults(made)
        made.derive()
        rows = made.fetch(
            "SELECT f.*, (SELECT count(*) FROM span AS s WHERE s.source_file = f.path) AS stored FROM source_file AS f"
        )
        yield {row["path"]: row for row in rows}


def test_the_table_lists_every_file(shared_data: Path) -> None:
    found = [path for folder in FOLDERS for path in sorted(shared_data.glob(f"{folder}/*")) if path.name != "NOTE.md"]
    assert {str(path.relative_to(shared_data)) for path in found} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_known_by_its_content_and_by_one_source(shared_data: Path, name: str) -> None:
    known = sources.recognise(shared_data / name)
    assert (known.name if known else None) == FILES[name].source


@pytest.mark.parametrize("name", TAKEN)
def test_every_record_of_a_file_is_in_the_ledger(stores: dict[str, dict[str, Any]], name: str) -> None:
    row, counts = stores[name], TAKEN[name]
    assert (row["records"], row["stored"], row["refused"], row["other_kind"]) == counts[1:]
    assert row["records"] == row["kept"] + row["set_aside"] + row["refused"] + row["duplicates"]
    assert row["kept"] + row["set_aside"] == row["stored"] + counts.other
    assert min(row["kept"], row["set_aside"], row["duplicates"]) >= 0


@pytest.mark.parametrize("name", SAME_EXPORT)
def test_every_encoding_of_an_export_gives_the_same_rows(shared_data: Path, name: str) -> None:
    whole = read(shared_data / "made" / "otlp-vllm" / "traces.otlp.jsonl", keep_content=True).content
    found = read(shared_data / "made" / "otlp-variants" / name, keep_content=True).content
    last = read(shared_data / "made" / "otlp-variants" / "otlp.jsonl.gz", keep_content=True).content
    assert len(found) == 10
    assert found == last
    assert all(row in whole for row in found)


@pytest.mark.parametrize("name", PART_OF_EXPORT)
def test_encodings_of_a_part_of_the_run_give_rows_of_the_run(shared_data: Path, name: str) -> None:
    whole = read(shared_data / "made" / "otlp-vllm" / "traces.otlp.jsonl", keep_content=True).content
    found = read(shared_data / "made" / "otlp-variants" / name, keep_content=True).content
    assert found
    assert all(row in whole for row in found)


@pytest.mark.parametrize(
    "encoding", ["traces.lenprefix.pb", "traces.proto3json.jsonl", "python-otlp-json-file-exporter.jsonl"]
)
@pytest.mark.parametrize("keep_content", [True, False])
def test_messages_and_lines_of_one_export_give_the_same_rows(
    shared_data: Path, encoding: str, keep_content: bool
) -> None:
    compared = 0
    for folder in sorted(shared_data.glob("made/otlp-*")):
        if not (folder / encoding).is_file():
            continue
        lines = read(folder / "traces.otlp.jsonl", keep_content=keep_content)
        other = read(folder / encoding, keep_content=keep_content)
        assert other.content == lines.content
        assert other.dropped == lines.dropped
        compared += 1
    assert compared >= 3


def _by_id(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(row["trace_id"], row["span_id"]): row for row in rows}


def test_jaeger_agrees_with_otlp_to_the_microsecond(shared_data: Path) -> None:
    otlp = _by_id(read(shared_data / "made" / "otlp-vllm" / "traces.otlp.jsonl").all())
    jaeger = read(shared_data / "made" / "otlp-variants" / "jaeger-ui-api.json").all()
    for row in jaeger:
        other = otlp[row["trace_id"], row["span_id"]]
        # What made this file has called every span a server's.
        same = ("parent_span_id", "name", "service", "status")
        assert {key: row[key] for key in same} == {key: other[key] for key in same}
        assert row["start_ns"] == other["start_ns"] // 1000 * 1000
        # The end is the sum of a start and a duration, each cut to microseconds.
        assert 0 <= other["end_ns"] - row["end_ns"] < 2000
        assert (row["end_ns"] - row["start_ns"]) == (other["end_ns"] - other["start_ns"]) // 1000 * 1000
        assert {str(k): str(v) for k, v in row["attributes"].items()} == {
            str(k): str(v) for k, v in other["attributes"].items()
        }


def test_zipkin_and_the_console_agree_with_otlp_to_the_microsecond(shared_data: Path) -> None:
    made = shared_data / "made"
    otlp: dict[tuple[str, str], dict[str, Any]] = {}
    for folder in ("otlp-genai", "otlp-openinference", "otlp-traceloop"):
        otlp |= _by_id(read(made / folder / "traces.otlp.jsonl").all())
    zipkin = read(made / "otlp-zipkin" / "zipkin-v2.jsonl").all()
    consoles = [
        row for folder in ("otlp-genai", "otlp-openinference", "otlp-traceloop")
        for row in read(made / folder / "python-console-exporter.txt").all()
    ]  # fmt: skip
    assert (len(zipkin), len(consoles)) == (38, 57)
    for row in zipkin + consoles:
        other = otlp[row["trace_id"], row["span_id"]]
        same = ("parent_span_id", "name", "kind", "service", "status", "clock", "flag")
        assert {key: row[key] for key in same} == {key: other[key] for key in same}
        # The console rounds to microseconds, Zipkin's exporter cuts them off.
        assert abs(row["start_ns"] - other["start_ns"]) < 1000
        assert abs(row["end_ns"] - other["end_ns"]) <= 1000
        assert row["attributes"].keys() == other["attributes"].keys()
    for row in consoles:
        other = otlp[row["trace_id"], row["span_id"]]
        assert (row["attributes"], row["resource"], row["status_message"]) == (
            other["attributes"], other["resource"], other["status_message"],
        )  # fmt: skip
        assert [(e["name"], e["attributes"]) for e in row["events"] or ()] == [
            (e["name"], e["attributes"]) for e in other["events"] or ()
        ]


@pytest.mark.parametrize("name", ["simple_chain.json", "fan_in_dependencies.json", "software_architecture_review.json"])
def test_a_list_of_spans_that_is_not_otlp_is_told_so(shared_data: Path, name: str) -> None:
    path = shared_data / "public" / "inference-perf-otel" / name
    assert sources.recognise(path) is None
    said = sources.explain(path)
    assert said is not None
    assert said.startswith("it lists spans, and not as OTLP does: ")
    assert "no span id of 16 hex digits" in said
    assert "start_time is a date" in said


def test_records_of_arrow_are_told_apart_from_otlp(shared_data: Path) -> None:
    assert "Arrow" in str(sources.explain(shared_data / "public" / "duckdb-otlp" / "traces-initial.bar"))


def test_one_span_id_in_many_traces_is_many_spans(stores: dict[str, dict[str, Any]]) -> None:
    assert stores["public/odd-otlp/otel-desktop-viewer_small_first8spans.json"]["stored"] == 8


def test_a_monotonic_clock_gives_a_duration_and_no_place_in_time(shared_data: Path) -> None:
    name = "litellm_issue17827_monotonic-start_enum-name_int-times.json"
    found = read(shared_data / "public" / "odd-otlp" / name).one()
    assert found["end_ns"] - found["start_ns"] == 452_087_103
    assert found["start_ns"] < 946_684_800 * MILLION * 1000
