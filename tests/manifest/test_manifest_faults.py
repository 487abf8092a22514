"""Faults of a manifest are sentences: the field, what was found, what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.errors import ManifestError
from analyzer.manifest import skeleton
from analyzer.manifest.model import check

SLO = {"name": "a", "good": [{"metric": "ttft", "op": "<=", "ms": 5000}], "target": 0.95}


def fault(document: dict[str, Any]) -> str:
    with pytest.raises(ManifestError) as caught:
        check(document, "run.json")
    return str(caught.value)


def fault_with(field: str, value: object) -> str:
    with pytest.raises(ManifestError) as caught:
        skeleton({field: value})
    return str(caught.value).removeprefix("new manifest: ")


def test_a_misspelt_key_is_one_fault_and_the_nearest_name_is_offered(blank: dict[str, Any]) -> None:
    blank["measurement"]["slos"] = blank["measurement"].pop("slo")
    assert fault(blank) == "run.json: measurement.slos is not a field; did you mean slo?"


def test_a_key_near_to_none_gets_the_list_of_names(blank: dict[str, Any]) -> None:
    blank["model"]["zzz"] = 1
    assert fault(blank) == (
        "run.json: model.zzz is not a field; allowed are id, revision, tokenizer, precision, context_limit"
    )


def test_every_layer_is_required(blank: dict[str, Any]) -> None:
    for layer in ("model", "runtime", "hardware", "workload", "measurement", "artifact"):
        rest = {key: value for key, value in blank.items() if key != layer}
        assert fault(rest) == f"run.json: {layer} is missing"


def test_a_missing_field_may_be_declared_unknown_instead(blank: dict[str, Any]) -> None:
    del blank["model"]["id"]
    assert fault(blank) == 'run.json: model.id is missing (give it, or {"unknown": "why"})'
    blank["model"]["id"] = {"unknown": "not told"}
    check(blank, "run.json")


def test_the_first_five_faults_are_told_and_the_rest_counted(blank: dict[str, Any]) -> None:
    for i in range(7):
        blank["model"][f"zzz{i}"] = 1
    text = fault(blank)
    assert text.count("is not a field") == 5
    assert text.endswith("; and 2 more faults")


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("model.id", 5, 'model.id is 5, expected text that is not blank or {"unknown": "why"}'),
        ("model.id", " ", 'model.id is " ", expected text that is not blank'),
        ("model.id", {"unknown": ""}, 'model.id.unknown is "", expected text that is not blank'),
        ("model.id", {"unknown": "x", "y": 1}, "model.id.y is not a field; allowed are unknown"),
        ("hardware.count", 1.5, 'hardware.count is 1.5, expected a whole number or {"unknown": "why"}'),
        ("hardware.count", True, 'hardware.count is true, expected a whole number or {"unknown": "why"}'),
        ("hardware.count", 0, "hardware.count is 0, must be at least 1"),
        ("workload.deadline_s", "never", 'is "never", expected a number or "none" or {"unknown": "why"}'),
        ("workload.deadline_s", 0, "workload.deadline_s is 0, must be above 0"),
        ("workload.state", "Warm", 'workload.state is "Warm", expected warm or cold; did you mean warm?'),
        ("workload.retry.max_attemps", 3, "max_attemps is not a field; did you mean max_attempts?"),
        ("workload.input_tokens", {"p50": 1, "fixed": 1}, "expected exactly one form: p50, p95 and max"),
        ("workload.input_tokens", {"p50": 9, "p95": 8}, "p50, p95 and max must not decrease"),
        ("measurement.percentiles", [95], "measurement.percentiles[0] is 95, must be below 1"),
        ("measurement.percentiles", [], "measurement.percentiles has 0 entries, must have at least 1"),
        ("measurement.percentiles", [0.5, 0.5], "measurement.percentiles is [0.5, 0.5], with an entry twice"),
        (
            "measurement.method",
            "linaer",
            'is "linaer", expected nearest_rank or linear; did you mean linear?',
        ),
        ("measurement.failure_rules.client_cancel", "drop", "expected interval, bad or excluded"),
        ("measurement.length_bins.input_tokens", [512, 512], "is [512, 512], and edges must increase"),
        ("measurement.length_bins.input_tokens", [0], "input_tokens[0] is 0, must be at least 1"),
        ("measurement.boundaries.admited", {}, "admited is not a field; did you mean admitted?"),
        ("measurement.population.entry", "offerd", "did you mean offered?"),
        ("measurement.population.select", {"worker": "w"}, "select.worker is not a field"),
        ("measurement.population.select", {"tenant": 3}, "select.tenant is 3, expected text"),
        ("measurement.window.start", "2026-01-01T00:00:00", "expected a time with a zone"),
        ("measurement.window.start", "2026-02-30T00:00:00Z", "is no date: day is out of range for month"),
        ("measurement.window", {"start": "5", "end": "5"}, "measurement.window.end is not after its start"),
        ("measurement.window.edge", "completion", 'is "completion", expected arrival'),
        ("measurement.slo", [SLO, SLO], 'measurement.slo has two entries named "a"'),
        ("measurement.slo", [{**SLO, "target": 95}], "measurement.slo[0].target is 95, must be below 1"),
        ("measurement.slo", [{**SLO, "target": {"unknown": "?"}}], "expected a number"),
        ("measurement.slo", [{**SLO, "confidence": 0.5}], "confidence is 0.5, must be above 0.5"),
        ("measurement.slo", [{**SLO, "good": []}], "good has 0 entries, must have at least 1"),
        ("artifact.run_id", "xyz", 'artifact.run_id is "xyz", expected 16 hex digits'),
        ("artifact.run_id", "0123456789abcdef\n", "artifact.run_id is longer than 16 characters"),
        ("name", " a", "name has blanks around it or characters that do not print"),
        ("name", "a\x1b[2J", "name has blanks around it or characters that do not print"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(field: str, value: object, sentence: str) -> None:
    assert sentence in fault_with(field, value)


@pytest.mark.parametrize(
    ("condition", "sentence"),
    [
        ({"metric": "tfft", "op": "<=", "ms": 1}, "did you mean ttft?"),
        ({"metric": "ttft", "op": "<", "ms": 1}, 'good[0].op is "<", expected <='),
        ({"metric": "ttft", "op": "<="}, "expected exactly one limit: ms or s"),
        ({"metric": "ttft", "op": "<=", "ms": 1, "s": 1}, "expected exactly one limit: ms or s"),
        ({"metric": "ttft", "op": "<=", "ms": -1}, "good[0].ms is -1, must be above 0"),
        ({"metric": "ttft", "ms": 1}, "good[0].op is missing"),
    ],
)
def test_a_condition_names_a_time_and_one_limit(condition: dict[str, object], sentence: str) -> None:
    assert sentence in fault_with("measurement.slo", [{**SLO, "good": [condition]}])


@pytest.mark.parametrize(
    ("relation", "sentence"),
    [
        (
            {"clocks": ["a", "b"], "relation": "offset", "offset_ms": 1},
            "artifact.clocks[0].error_ms is missing",
        ),
        (
            {"clocks": ["a", "b", "c"], "relation": "offset", "offset_ms": 1, "error_ms": 1},
            "clocks has 3 entries, must have at most 2",
        ),
        (
            {"clocks": ["a", "b"], "relation": "same machine", "offset_ms": 1},
            "expected no offset_ms or error_ms",
        ),
        ({"clocks": ["a"], "relation": "same machine"}, "must have at least 2"),
    ],
)
def test_a_relation_of_clocks_carries_what_it_needs(relation: dict[str, object], sentence: str) -> None:
    assert sentence in fault_with("artifact.clocks", [relation])


def test_two_clocks_have_one_relation() -> None:
    same = {"clocks": ["a", "b", "c"], "relation": "same machine"}
    apart = {"clocks": ["c", "a"], "relation": "offset", "offset_ms": 1, "error_ms": 0.1}
    assert fault_with("artifact.clocks", [same, apart]) == (
        'artifact.clocks[1] relates "c" and "a" otherwise than an earlier entry'
    )


def test_load_points_neither_overlap_nor_share_a_name() -> None:
    points = [
        {"name": "low", "start": "1970-01-01T00:00:00Z", "end": "5000000000"},
        {"name": "high", "start": "1970-01-01T00:00:05Z", "end": "9000000000"},
    ]
    assert skeleton({"measurement.load_points": points})["measurement"]["load_points"] == points
    points[1]["start"] = "4999999999"
    assert fault_with("measurement.load_points", points) == "measurement.load_points: low and high overlap"
    points[1] = {**points[0], "start": "5000000000", "end": "6000000000"}
    assert 'has two entries named "low"' in fault_with("measurement.load_points", points)
