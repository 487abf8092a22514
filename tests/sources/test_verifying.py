"""Each tool's own summary, cell by cell, beside what its published formula makes of its rows."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.errors import EvidenceError, SourceError
from analyzer.jobs import verifying

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared

# File, cells equal, and those that its rows give otherwise or cannot give: how many by metric.
TOLD: list[tuple[str, int, dict[str, int], dict[str, int]]] = [
    ("made/aiperf/conc16/profile_export.jsonl", 75, {}, {}),
    ("public/aiperf-run1/profile_export.jsonl", 58, {}, {}),
    ("made/guidellm/benchmarks.json", 130, {"request_latency": 1, "time_to_first_token_ms": 1}, {}),
    ("made/vllm-bench/rate8.json", 31, {}, {"request_goodput": 1}),
    (
        "made/sglang-bench/rate8.jsonl",
        16,
        {},
        {"tpot": 6, "e2e_latency": 6, "slo_attainment": 1, "request_goodput": 1},
    ),
    ("made/inference-perf/reports/per_request_lifecycle_metrics.json", 240, {}, {}),
    ("made/genai-bench/D120_40_text-to-text_num_concurrency_8_time_4s.json", 51, {"error_rate": 1}, {}),
    ("made/genai-bench/D120_40_text-to-text_num_concurrency_2_time_29s.json", 51, {"error_rate": 1}, {}),
    ("made/llmperf/mock-model_120_40_individual_responses.json", 24, {}, {"inter_token_latency_s": 10}),
    ("made/mlperf-loadgen/qps45/mlperf_log_trace.json", 19, {}, {"time_to_output_token": 9}),
]


def told(path: Path) -> list[dict[str, Any]]:
    return [dict(zip(verifying.COLUMNS, row, strict=True)) for row in verifying.verify(str(path), None)]


@pytest.mark.parametrize(("file", "equal", "differs", "missing"), TOLD, ids=[row[0] for row in TOLD])
def test_a_tools_own_summary_is_reproduced_or_each_cell_says_why_not(
    shared_data: Path, file: str, equal: int, differs: dict[str, int], missing: dict[str, int]
) -> None:
    rows = told(shared_data / file)
    assert Counter(row["state"] for row in rows)["equal"] == equal
    assert Counter(row["metric"] for row in rows if row["state"] == "differs") == differs
    assert Counter(row["metric"] for row in rows if row["state"] == "not in the rows") == missing
    assert [row for row in rows if row["state"] != "equal" and not row["why"]] == []


def test_a_file_without_figures_of_its_tool_is_said_to_have_none(shared_data: Path) -> None:
    with pytest.raises(EvidenceError, match="holds no figures of its tool"):
        verifying.verify(str(shared_data / "made/mlperf-loadgen/accuracy/mlperf_log_trace.json"), None)


def test_guidellms_weighted_percentiles_are_those_of_its_file(shared_data: Path) -> None:
    found = {
        row["statistic"]: (row["printed"], row["ours"])
        for row in told(shared_data / "made/guidellm/benchmarks.json")
        if (row["load_point"], row["metric"]) == ("concurrent 4", "time_per_output_token_ms")
    }
    assert found["mean"] == (pytest.approx(9.037084746779056), pytest.approx(9.037084746779056, rel=1e-6))
    assert found["p50"] == (pytest.approx(8.925688677820666), pytest.approx(8.925688677820666, rel=1e-6))
    assert found["p99"] == (pytest.approx(11.407006171441846), pytest.approx(11.407006171441846, rel=1e-6))


def test_a_folder_is_answered_with_what_to_name_instead(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as refused:
        verifying.verify(str(tmp_path), None)
    assert "is a folder" in str(refused.value)
    assert "name the file of its rows" in str(refused.value)
