"""summary.json: what the page shows, for machines."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from jsonschema import Draft202012Validator

from analyzer import report, resources

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.report import Report
    from analyzer.store import Store

RUNS = {
    "three-services": "three-services",
    "vllm-direct": "vllm-direct",
    "serialized": "burst-64-serialized-constructed",
    "vllm": "burst-64-vllm-constructed",
}
SCHEMA = Draft202012Validator(json.loads(resources.text("schemas", "summary.schema.json")))


def strict(text: str) -> Any:
    def refuse(word: str) -> NoReturn:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("run", RUNS)
def test_a_summary_is_strict_json_of_its_schema(sample_report: Callable[[str], Report], run: str) -> None:
    text = report.to_json(sample_report(run).summary)
    read = strict(text)
    assert read == sample_report(run).summary
    assert list(SCHEMA.iter_errors(read)) == []
    assert text.endswith("}\n")
    assert list(read) == sorted(read)
    assert list(read["views"]) == sorted(read["views"])


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("view", ["percentile", "quantile", "outcome_count", "attainment", "goodput", "verdict"])
def test_rows_are_those_of_the_view_in_order(
    sample_report: Callable[[str], Report], sample_store: Store, run: str, view: str
) -> None:
    rows = sample_store.fetch(f"SELECT * FROM {view} WHERE run = '{RUNS[run]}' ORDER BY ALL")
    written = sample_report(run).summary["views"][view]
    assert len(written) == len(rows) > 0
    for mine, theirs in zip(written, rows, strict=True):
        for key, value in theirs.items():
            if isinstance(value, float) and math.isinf(value):
                assert mine[key] == "not_reached"
            else:
                assert mine[key] == value, key


def test_nanoseconds_are_text_and_what_is_never_reached_is_a_word(sample_report: Callable[[str], Report]) -> None:
    views = sample_report("serialized").summary["views"]
    assert views["run_window"][0]["start_ns"] == "1767225600000000000"
    assert views["source_file"][0]["first_ns"] == "1767225600000000000"
    whole = [row for row in views["percentile"] if row["metric"] == "ttft" and row["population"] == "all"]
    assert {row["p95"] for row in whole} == {"not_reached"}


def test_promise_and_ledger_stand_by_themselves(sample_report: Callable[[str], Report]) -> None:
    summary = sample_report("serialized").summary
    assert summary["verified"] is True
    promise = summary["promise"]
    assert promise["verdict"] == "broken"
    assert promise["objective"] == "At least 95 % of requests get their first content within 5 s."
    assert promise["evidence"].startswith("5 of 192 did (2.60 %, 95 % Wilson interval 1.12 to 5.95 %); 187 did not.")
    assert promise["low"] == promise["high"] == 5 / 192
    assert summary["promises"] == [promise]
    ledger = summary["ledger"]
    assert (ledger["offered"], ledger["ok"], ledger["timeout"], ledger["attempts"]) == (192, 38, 154, 192)
    assert ledger["load_points"]["64 clients"]["offered"] == 192


def test_what_cannot_be_judged_is_said_in_the_evidence(sample_report: Callable[[str], Report]) -> None:
    promise = sample_report("three-services").summary["promise"]
    assert promise["verdict"] == "cannot tell"
    assert "29 of 36 surely did (80.6 to 94.4 %" in promise["evidence"]
    assert "5 cannot be judged" in promise["evidence"]
    assert (
        "at least 66.6 % keep it, or at most 99.0 %, each an exact one-sided bound; 90 % lies between"
        in promise["evidence"]
    )


def test_only_rows_of_this_run_are_in_it(sample_report: Callable[[str], Report]) -> None:
    for run, name in RUNS.items():
        for view, rows in sample_report(run).summary["views"].items():
            assert {row.get("run", name) for row in rows} <= {name}, view


def test_no_piece_of_raw_data_is_repeated(sample_report: Callable[[str], Report]) -> None:
    for rows in sample_report("three-services").summary["views"].values():
        assert all("sample" not in row for row in rows)
