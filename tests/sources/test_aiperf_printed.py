"""What every load generator would print of one run of AIPerf, and what AIPerf itself printed of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from aiperf_files import read
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

# p50, p99 and mean of the 209 measured answers, ms, each from the files by a computation of its own. The tool's mean is
# of what its formula pools or weighs.
TABLE = {
    ("vLLM bench", "tpot"): (8.85, 12.07, 9.02),
    ("GuideLLM", "time_per_output_token_ms"): (16.59, 48.53, 18.25),
    ("inference-perf", "time_per_output_token"): (4.57, 6.67, 4.64),
    ("AIPerf", "inter_token_latency"): (4.57, 6.67, 4.64),
    ("AIPerf", "inter_token_latency, server tokens"): (8.85, 12.07, 9.02),
    ("GuideLLM", "inter_token_latency_ms"): (8.83, 11.69, 8.99),
    ("vLLM bench", "itl"): (8.91, 29.95, 9.66),
    ("SGLang bench", "itl"): (9.06, 30.72, 10.29),
    ("AIPerf", "inter_chunk_latency"): (9.06, 30.72, 10.29),
    ("inference-perf", "inter_token_latency"): (0.00, 26.52, 4.62),
    ("llmperf", "inter_token_latency_s"): (19.80, 54.79, 21.53),
}  # fmt: skip
METRICS = ("time_to_first_token", "inter_token_latency", "inter_chunk_latency", "request_latency")
STATISTICS = {"avg": "mean"} | {
    name: name for name in ("min", "max", "std", "sum", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99")
}


@pytest.fixture(scope="module")
def conc16(shared_data: Path) -> Path:
    return shared_data / "made" / "aiperf" / "conc16"


@pytest.fixture(scope="module")
def whole(conc16: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    names = ("profile_export.jsonl", "profile_export_raw.jsonl", "profile_export_aiperf.json")
    return read(*(conc16 / name for name in names), folder=tmp_path_factory.mktemp("whole"))


@pytest.fixture(scope="module")
def old(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    folder = shared_data / "public" / "aiperf-run1"
    return read(
        folder / "profile_export.jsonl", folder / "profile_export_aiperf.json", folder=tmp_path_factory.mktemp("old")
    )


@pytest.mark.shared
@pytest.mark.parametrize(("tool", "metric"), TABLE)
def test_one_run_under_every_definition(whole: Store, tool: str, metric: str) -> None:
    found = dict(
        rows(
            whole,
            f"SELECT statistic, round(value, 2) FROM as_printed WHERE load_point = '(all)' AND tool = '{tool}' AND metric = '{metric}'",
        )
    )
    assert (found["p50"], found["p99"], found["mean"]) == TABLE[tool, metric]


def cells(printed: dict[str, Any]) -> dict[tuple[str, str], float]:
    """The cells of the tool's own summary that `as_printed` makes again, straight from its file."""
    names = {"ttft": "time_to_first_token"}
    return {
        (names.get(metric, metric), STATISTICS[statistic]): value
        for metric, stats in printed.items()
        if names.get(metric, metric) in METRICS
        for statistic, value in stats.items()
        if statistic in STATISTICS and value is not None
    }


def reproduced(store: Store, expected: dict[tuple[str, str], float], point: str) -> None:
    figures = rows(
        store,
        f"SELECT metric, statistic, value FROM tool_figure WHERE tool = 'AIPerf' AND kind = 'printed' AND statistic NOT IN ('value', 'count') AND load_point = '{point}'",
    )
    assert {(metric, statistic): value for metric, statistic, value in figures} == expected
    printed = rows(
        store, f"SELECT metric, statistic, value FROM as_printed WHERE tool = 'AIPerf' AND load_point = '{point}'"
    )
    made = {(metric, statistic): value for metric, statistic, value in printed}
    for cell, value in expected.items():
        assert made[cell] == pytest.approx(value, rel=1e-6), cell


@pytest.mark.shared
def test_its_own_summary_is_reproduced_cell_by_cell(whole: Store, conc16: Path) -> None:
    expected = cells(json.loads((conc16 / "profile_export_aiperf.json").read_text()))
    assert len(expected) == 4 * 14
    reproduced(whole, expected, "concurrency 16")


@pytest.mark.shared
def test_the_summary_of_an_old_version_is_reproduced_cell_by_cell(old: Store, shared_data: Path) -> None:
    document = json.loads((shared_data / "public" / "aiperf-run1" / "profile_export_aiperf.json").read_text())
    expected = cells(document["records"])
    assert len(expected) == 4 * 12
    reproduced(old, expected, "concurrency 100")


@pytest.mark.shared
def test_counts_stand_beside_those_of_the_requests(whole: Store) -> None:
    figures = dict(rows(whole, "SELECT metric, value FROM tool_figure WHERE statistic = 'value' AND kind = 'printed'"))
    assert (figures["request_count"], figures["error_request_count"], figures["good_request_count"]) == (209, 31, 8)
    assert figures["request_throughput"] == 15.163963680672177
    assert figures["benchmark_duration"] == 9.6026816
    assert rows(whole, "SELECT metric, value FROM tool_figure WHERE statistic = 'count' ORDER BY 1") == [
        ("inter_chunk_latency", 6349), ("inter_token_latency", 209), ("request_latency", 209), ("time_to_first_token", 209)
    ]  # fmt: skip
    n = dict(
        rows(whole, "SELECT DISTINCT metric, n FROM as_printed WHERE tool = 'AIPerf' AND load_point = 'concurrency 16'")
    )
    assert (n["inter_chunk_latency"], n["inter_token_latency"]) == (6349, 209)


@pytest.mark.shared
def test_limits_and_the_time_that_rates_are_over(whole: Store) -> None:
    found = rows(whole, "SELECT metric, value, unit FROM tool_figure WHERE kind = 'setting' ORDER BY 1")
    assert found == [("duration", 13.782676, "s"), ("limit tpot", 10.0, "ms"), ("limit ttft", 60.0, "ms")]
    (note,) = rows(whole, "SELECT note FROM source_file WHERE source = 'aiperf_summary'")
    assert note == ("rates are over the 13.783 s observed and not over benchmark_duration, 9.603 s",)


@pytest.mark.shared
def test_the_old_version_divides_by_the_duration_it_prints(old: Store) -> None:
    assert rows(old, "SELECT metric, round(value, 6) FROM tool_figure WHERE kind = 'setting'") == [
        ("duration", 9.317789)
    ]
    assert rows(old, "SELECT tool, records, kept, note FROM source_file WHERE source = 'aiperf_summary'") == [
        ("aiperf", 1, 1, None)
    ]
    assert dict(rows(old, "SELECT metric, value FROM tool_figure WHERE metric LIKE '%request_count'")) == {
        "request_count": 89,
        "error_request_count": 11,
    }


def summary(folder: Path, document: Any, text: str | None = None) -> Store:
    (folder / "profile_export.jsonl").touch()
    path = folder / "profile_export_aiperf.json"
    path.write_text(json.dumps(document) if text is None else text, encoding="utf-8")
    files, _ = ingest.find([str(path)])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    return store


def test_a_torn_summary_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is not whole JSON"):
        summary(tmp_path, None, '{"aiperf_version": "0.13.0", "request_count": {"unit": "requests", "avg"')


def test_figures_that_are_no_numbers_are_left_out(tmp_path: Path) -> None:
    stats = {"unit": "ms", "avg": "fast", "p50": None, "p99": 4.5, "p0x": 1, "max": True, "min": [1]}
    document = {"aiperf_version": "9.9", "request_latency": stats, "goodput": {"unit": 7, "avg": 1}, "input_config": []}
    store = summary(tmp_path, document)
    assert rows(store, "SELECT metric, statistic, value, version, load_point FROM tool_figure") == [
        ("request_latency", "p99", 4.5, "9.9", None)
    ]
    assert rows(store, "SELECT note FROM source_file") == [
        ("AIPerf 9.9 is not among the versions whose files were checked (0.13.0)",)
    ]


def test_seconds_are_printed_in_milliseconds(tmp_path: Path) -> None:
    document = {"aiperf_version": "0.13.0", "time_to_first_token": {"unit": "s", "avg": 0.25, "p50": 0.2}}
    assert rows(summary(tmp_path, document), "SELECT statistic, value, unit FROM tool_figure ORDER BY 1") == [
        ("mean", 250.0, "ms"),
        ("p50", 200.0, "ms"),
    ]


def test_the_servers_tokens_have_a_formula_of_their_own(tmp_path: Path) -> None:
    document = {
        "aiperf_version": "0.13.0",
        "inter_token_latency": {"unit": "ms", "avg": 1.0},
        "input_config": {"endpoint": {"use_server_token_count": True}},
    }
    assert rows(summary(tmp_path, document), "SELECT metric FROM tool_figure") == [
        ("inter_token_latency, server tokens",)
    ]
