"""Traces of arrivals: lengths and times as they are, and no latency, no outcome and no zero that they do not tell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError
from analyzer.sources import recognise
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

shared = pytest.mark.shared
HEADER = "TIMESTAMP,ContextTokens,GeneratedTokens"


def read(path: Path, folder: Path) -> Store:
    files, _ = ingest.find([str(path)])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


def written(folder: Path, text: str, name: str = "trace.csv") -> Store:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return read(path, folder)


@pytest.fixture(scope="module")
def expected(shared_data: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared_data / "expected.json").read_text())
    return found


@pytest.fixture(scope="module")
def azure(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(
        shared_data / "public" / "azure-llm-2023" / "AzureLLMInferenceTrace_code.csv", tmp_path_factory.mktemp("azure")
    )


@pytest.fixture(scope="module")
def mooncake(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(
        shared_data / "public" / "mooncake-fast25" / "synthetic_trace.jsonl", tmp_path_factory.mktemp("mooncake")
    )


@shared
def test_every_row_of_azure_is_an_arrival(azure: Store, expected: dict[str, Any]) -> None:
    told = expected["azure/code"]
    assert rows(azure, "SELECT source, records, kept, set_aside, refused FROM source_file") == [
        ("azure_llm", 8819, 8819, 0, 0)
    ]
    assert told["rows"] == 8819
    assert rows(azure, "SELECT DISTINCT event, side, clock, clock_kind FROM event") == [
        ("arrived", "gateway", "azure_llm", "wall")
    ]
    assert rows(azure, "SELECT sum(input_tokens), sum(output_tokens) FROM request") == [
        (told["sum_context"], told["sum_generated"])
    ]


@shared
def test_times_of_azure_keep_their_seven_digits(azure: Store) -> None:
    # 2023-11-16 18:17:03.9799600 and 19:14:19.9280160, as UTC.
    assert rows(azure, "SELECT min(time_ns), max(time_ns) FROM event") == [
        (1_700_158_623_979_960_000, 1_700_162_059_928_016_000)
    ]
    assert rows(azure, "SELECT note FROM source_file") == [("its times name no zone and are taken for UTC",)]


@shared
def test_lengths_of_azure_are_those_of_the_file(azure: Store, expected: dict[str, Any]) -> None:
    told = expected["azure/code"]
    context, generated = told["context_tokens"], told["generated_tokens"]
    assert rows(azure, "SELECT requests, with_input, with_output, input_p50, input_p95, input_max, output_p50, output_p95, output_max FROM workload") == [
        (8819, 8819, 8819, context["nearest_rank"]["p50"], context["nearest_rank"]["p95"], context["max"],
         generated["nearest_rank"]["p50"], generated["nearest_rank"]["p95"], generated["max"])
    ]  # fmt: skip


@shared
def test_windows_of_azure_are_its_minutes(azure: Store, expected: dict[str, Any]) -> None:
    told = expected["azure/code"]
    found = dict(
        rows(
            azure,
            "SELECT window_start, offered FROM stratum_ledger WHERE window_start <> '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)'",
        )
    )
    assert found == {minute.replace(" ", "T") + ":00Z": count for minute, count in told["rows_per_minute"].items()}
    assert (len(found), max(found.values())) == (told["non_empty_minutes"], told["max_per_minute"])


@shared
@pytest.mark.parametrize("trace", ["azure", "mooncake"])
def test_what_an_arrival_trace_does_not_tell_is_no_zero(trace: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(trace)
    ((offered, ok, failed, unresolved),) = rows(
        made,
        "SELECT offered, ok, rejected + timeout + cancelled + error + truncated + unsent, unresolved FROM ledger WHERE load_point = '(all)'",
    )
    assert (ok, failed) == (0, 0)
    assert unresolved == offered
    total = "load_point = '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'"
    of_ok = rows(
        made,
        f"SELECT DISTINCT n, p50, p99, note LIKE 'nobody has a value%' FROM percentile WHERE population IN ('ok', 'reached') AND {total}",
    )
    assert of_ok == [(0, None, None, True)]
    of_all = rows(
        made, f"SELECT DISTINCT n, undetermined, p50, p50_high FROM percentile WHERE population = 'all' AND {total}"
    )
    assert of_all == [(offered, offered, None, float("inf"))]
    assert rows(
        made, "SELECT DISTINCT ttft_gateway_ms, ttft_gateway_why, e2e_gateway_ms, e2e_gateway_why FROM request_metric"
    ) == [(None, "not recorded", None, "not recorded")]
    assert rows(made, "SELECT count(*) FROM as_printed") == [(0,)]
    assert rows(made, "SELECT DISTINCT ok_share, ok_ci_low, ok_ci_high FROM stratum_ledger") == [(None, None, None)]
    ((offered_per_s, ok_per_s),) = rows(made, "SELECT offered_per_s, ok_per_s FROM throughput")
    assert offered_per_s > 0
    assert ok_per_s is None


@shared
@pytest.mark.parametrize("trace", ["azure", "mooncake"])
def test_a_run_of_arrivals_says_once_that_no_end_is_told(trace: str, request: pytest.FixtureRequest) -> None:
    made = request.getfixturevalue(trace)
    ((offered,),) = rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'")
    assert rows(made, "SELECT severity, detail, n FROM audit WHERE audit = 'no terminal event'") == [
        (
            "note",
            "the source tells arrivals and no end: how these ended, and how long they took, is not recorded",
            offered,
        )
    ]


@shared
def test_every_row_of_mooncake_is_an_arrival(mooncake: Store, expected: dict[str, Any], shared_data: Path) -> None:
    told = expected["mooncake/synthetic_trace.jsonl"]
    assert rows(mooncake, "SELECT source, records, kept, refused FROM source_file") == [("mooncake", 3993, 3993, 0)]
    assert told["rows"] == 3993
    assert rows(mooncake, "SELECT DISTINCT event, side, clock, clock_kind FROM event") == [
        ("arrived", "gateway", "mooncake", "monotonic")
    ]
    assert rows(mooncake, "SELECT min(time_ns), max(time_ns) FROM event") == [
        (told["first_ms"] * 10**6, told["last_ms"] * 10**6)
    ]
    assert rows(mooncake, "SELECT input_p50, input_p95, input_max, output_p50, output_p95, output_max FROM workload") == [
        (told["input"]["nearest_rank"]["p50"], told["input"]["nearest_rank"]["p95"], told["input"]["max"],
         told["output"]["nearest_rank"]["p50"], told["output"]["nearest_rank"]["p95"], told["output"]["max"])
    ]  # fmt: skip
    lines = [
        json.loads(line)
        for line in (shared_data / "public" / "mooncake-fast25" / "synthetic_trace.jsonl").read_text().splitlines()
    ]
    found = rows(mooncake, "SELECT time_ns, input_tokens, output_tokens FROM event ORDER BY position")
    assert found == [(row["timestamp"] * 10**6, row["input_length"], row["output_length"]) for row in lines]


@shared
def test_a_trace_without_a_time_of_day_has_no_windows(mooncake: Store) -> None:
    assert rows(mooncake, "SELECT count(window_start) FROM request") == [(0,)]
    # 3,993 arrivals over 1,022.025 s.
    assert rows(mooncake, "SELECT arrival_per_s FROM workload")[0][0] == pytest.approx(3992 / 1022.025)


@shared
@pytest.mark.parametrize(
    "name",
    [
        "data_language_m-mid_chunk-60-trace.csv",
        "data_language_m-small_chunk-14-trace.csv",
        "data_language_m-small_chunk-31-trace.csv",
    ],
)
def test_a_table_of_rates_is_refused_with_a_sentence(shared_data: Path, tmp_path: Path, name: str) -> None:
    path = shared_data / "public" / "servegen" / name
    assert recognise(path) is None
    files, _ = ingest.find([str(path)])
    with pytest.raises(
        SourceError, match="a table of rates without a header, as ServeGen keeps them: a line is a window"
    ):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)


def test_a_line_that_is_no_row_is_refused_with_its_number(tmp_path: Path) -> None:
    made = written(
        tmp_path,
        f"{HEADER}\r\n2023-11-16 18:17:03.9799600,4808,10\r\nwhat is the capital of France,1,2\r\n2023-02-30 00:00:00.0000000,1,2\r\n"
        f"2023-11-16 18:17:04.0000000,-1,2\r\n2023-11-16 18:17:04.0000000,1,2.5\r\n2023-11-16 18:17:04.0000000,1\r\n{HEADER}\r\n"
        "2023-11-16 18:17:05,99999999999999999999,2\r\n2023-11-16 18:17:06.5,7,8\r\n2023-11-16 18:1",
    )
    assert rows(made, "SELECT position, reason, sample FROM refused ORDER BY position") == [
        ("line 11", "torn last line: the file ends inside it", "2023-11-16 18:1"),
        ("line 3", "TIMESTAMP is not a date and time", "33 characters of text"),
        ("line 4", "TIMESTAMP is no moment that there was", "2023-02-30 00:00:00.0000000,1,2"),
        ("line 5", "ContextTokens is not a count", "2023-11-16 18:17:04.0000000,-1,2"),
        ("line 6", "GeneratedTokens is not a count", "2023-11-16 18:17:04.0000000,1,2.5"),
        ("line 7", "it has not three columns", "2023-11-16 18:17:04.0000000,1"),
        ("line 8", "TIMESTAMP is not a date and time", "39 characters of text"),
        ("line 9", "ContextTokens is not a count", "2023-11-16 18:17:05,99999999999999999999,2"),
    ]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(10, 2, 8)]
    assert rows(made, "SELECT time_ns, input_tokens, output_tokens FROM event ORDER BY position") == [
        (1_700_158_623_979_960_000, 4808, 10), (1_700_158_626_500_000_000, 7, 8),
    ]  # fmt: skip


def test_a_zone_is_minded(tmp_path: Path) -> None:
    # The trace of 2024 has one.
    made = written(
        tmp_path,
        f"{HEADER}\n2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10T02:00:00.009930+02:00,1,1\n2024-05-09 17:30:00.009930-0630,1,1\n2024-05-10 00:00:00.009930Z,1,1\n",
    )
    assert rows(made, "SELECT DISTINCT time_ns FROM event") == [(1_715_299_200_009_930_000,)]
    assert rows(made, "SELECT note, kept FROM source_file") == [(None, 4)]


def test_a_header_alone_is_an_empty_trace(tmp_path: Path) -> None:
    files, _ = ingest.find([str(_file(tmp_path, "trace.csv", HEADER))])
    store = Store(tmp_path / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    assert rows(store, "SELECT records, kept, note FROM source_file") == [(0, 0, None)]


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_lines_of_mooncake_that_are_none_are_refused_with_their_number(tmp_path: Path) -> None:
    lines = [
        '{"timestamp": 0, "input_length": 10, "output_length": 2, "hash_ids": [0, 1]}',
        '{"timestamp": 1.5, "input_length": 10, "output_length": 2}',
        '{"timestamp": -1, "input_length": 10, "output_length": 2}',
        '{"timestamp": 1e300, "input_length": 10, "output_length": 2}',
        '{"timestamp": "soon", "input_length": 10, "output_length": 2}',
        '{"input_length": 10, "output_length": 2, "prompt": "a secret"}',
        '{"timestamp": 3, "input_length": "many", "output_length": 2}',
        '{"timestamp": 3, "input_length": 1.5, "output_length": 2}',
        '{"timestamp": 3, "input_length": 1, "output_length": -2}',
        '["a secret", 1]',
        "a secret",
        '{"timestamp": 4, "hash_ids": []}',
        '{"timestamp": 5, "input_le',
    ]
    made = written(tmp_path, "\n".join(lines), "trace.jsonl")
    found = rows(made, "SELECT position, reason FROM refused ORDER BY regexp_extract(position, '[0-9]+')::INT")
    assert found == [
        ("line 3", "timestamp is out of range"),
        ("line 4", "timestamp is out of range"),
        ("line 5", "timestamp is not a number of milliseconds"),
        ("line 6", "timestamp is missing: the row says no arrival"),
        ("line 7", "input_length is not a count"),
        ("line 8", "input_length is not a count"),
        ("line 9", "output_length is not a count"),
        ("line 10", "not a JSON object"),
        ("line 11", "not valid JSON"),
        ("line 13", "torn last line: the file ends inside it"),
    ]
    assert rows(made, "SELECT count(*) FROM refused WHERE sample LIKE '%secret%'") == [(0,)]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(13, 3, 10)]
    assert rows(made, "SELECT time_ns, input_tokens, output_tokens FROM event ORDER BY position") == [
        (0, 10, 2), (1_500_000, 10, 2), (4_000_000, None, None),
    ]  # fmt: skip
