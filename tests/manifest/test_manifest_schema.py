"""The published schemas, the code and the documentation say the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from analyzer import resources
from analyzer.errors import ManifestError
from analyzer.manifest import skeleton
from analyzer.manifest.faults import of
from analyzer.vocabulary import Boundary, Phase, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[2]
OPEN = {"sampling", "environment", "options"}
RUN = json.loads(resources.text("schemas", "run.schema.json"))
SUMMARY = json.loads(resources.text("schemas", "summary.schema.json"))
UNKNOWN = {"$ref": "#/$defs/unknown"}
LAYERS = ("model", "runtime", "hardware", "workload", "measurement")


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    return {**RUN["$defs"][schema["$ref"].rpartition("/")[2]], **schema} if "$ref" in schema else schema


def fields(schema: dict[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Walk every field of the run manifest by its dotted path."""
    schema = resolved(schema)
    for choice in schema.get("anyOf", ()):
        if choice != UNKNOWN:
            yield from fields(choice, where)
    if "items" in schema:
        yield from fields(schema["items"], f"{where}[]")
    for key, field in schema.get("properties", {}).items():
        path = f"{where}.{key}" if where else key
        yield path, field
        yield from fields(field, path)


def objects(schema: Any, name: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield name, schema
        for key, inner in schema.items():
            yield from objects(inner, name if key in {"anyOf", "items", "properties"} else key)
    elif isinstance(schema, list):
        for inner in schema:
            yield from objects(inner, name)


@pytest.mark.parametrize("schema", [RUN, SUMMARY], ids=["run", "summary"])
def test_a_schema_is_one(schema: dict[str, Any]) -> None:
    Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("schema", [RUN, SUMMARY], ids=["run", "summary"])
def test_every_field_has_a_description_and_examples_that_hold(schema: dict[str, Any]) -> None:
    described = list(fields(schema)) if schema is RUN else list(schema["properties"].items())
    assert described
    for path, field in described:
        assert field.get("description", "").endswith("."), path
        assert field.get("examples"), path
        for example in field["examples"]:
            Draft202012Validator({**field, "$defs": schema["$defs"]}).validate(example)


def test_no_object_takes_strange_fields_but_those_with_free_names() -> None:
    for name, schema in objects(RUN):
        assert schema.get("additionalProperties") is False or name in OPEN, name


def test_every_field_of_the_contract_may_be_unknown() -> None:
    for layer in LAYERS:
        for key, field in RUN["properties"][layer]["properties"].items():
            assert field["anyOf"][-1] == UNKNOWN, f"{layer}.{key}"
            skeleton({f"{layer}.{key}": {"unknown": "not told"}})


def test_the_words_of_the_schema_are_the_vocabulary() -> None:
    measurement = RUN["properties"]["measurement"]["properties"]
    assert list(measurement["boundaries"]["anyOf"][0]["properties"]) == [word.value for word in Boundary]
    assert set(RUN["$defs"]["select"]["properties"]["phase"]["enum"]) == {word.value for word in Phase}
    verdicts = SUMMARY["properties"]["promise"]["properties"]["verdict"]["enum"]
    assert verdicts == [word.value for word in Verdict] + [None]


def test_every_field_is_documented_in_the_words_of_the_schema() -> None:
    text = (CHECKOUT / "docs" / "manifest.md").read_text(encoding="utf-8")
    told_once = ("workload.output_tokens.", "measurement.slo[].select.")
    for path, field in fields(RUN):
        boundary = path.startswith("measurement.boundaries.") and ".admitted" not in path
        if not boundary and not path.startswith(told_once):
            assert f"| `{path}` | {field['description']} |" in text


def test_a_skeleton_says_unknown_wherever_it_has_no_fact() -> None:
    document = skeleton({"model.id": "m", "workload.arrivals.process": "poisson", "workload.sampling.n": 2})
    assert document["model"]["id"] == "m"
    assert document["model"]["revision"]["unknown"].startswith("not in the data; ")
    assert document["workload"]["arrivals"]["process"] == "poisson"
    assert "unknown" in document["workload"]["arrivals"]["rate_per_s"]
    assert document["workload"]["sampling"] == {"n": 2}
    assert document["measurement"]["percentiles"] == [0.5, 0.9, 0.95, 0.99]
    assert document["measurement"]["method"] == "nearest_rank"
    assert document["measurement"]["failure_rules"] == {"client_cancel": "interval"}
    assert document["measurement"]["length_bins"] == {"input_tokens": [512], "output_tokens": [128]}
    assert document["measurement"]["slo"] == []
    for layer in LAYERS:
        assert list(document[layer]) == list(RUN["properties"][layer]["properties"])


def test_facts_are_copied_and_skeletons_share_nothing() -> None:
    lengths = {"p50": 1, "p95": 2, "max": 3}
    first, second = skeleton({"workload.input_tokens": lengths}), skeleton({})
    first["workload"]["input_tokens"]["p50"] = 9
    first["measurement"]["percentiles"].append(0.999)
    assert lengths["p50"] == 1
    assert second["measurement"]["percentiles"] == [0.5, 0.9, 0.95, 0.99]


@pytest.mark.parametrize("field", ["model.idd", "modl.id", "model.id.x.y", "manifest.x"])
def test_a_fact_that_is_no_field_is_refused(field: str) -> None:
    with pytest.raises(ManifestError, match=r"^new manifest: "):
        skeleton({field: "m"})


def test_a_summary_holds_promise_ledger_and_views() -> None:
    summary: dict[str, Any] = {
        "summary": 1,
        "run_id": "0123456789abcdef",
        "verified": True,
        "promise": {
            "workload": "64 at once",
            "objective": "ttft within 5 s for 95 %",
            "verdict": "cannot tell",
            "evidence": "121 to 138 of 240 good",
            "low": 0.5042,
            "high": 0.575,
        },
        "ledger": {"requests": 192, "outcomes": {"ok": 38, "timeout": 154}},
        "views": {
            "percentile": [{"metric": "ttft", "p50": 1.5, "p95": "not_reached", "note": None}],
            "outcome_count": [],
            "attainment": [],
            "goodput": [],
            "audit": [],
        },
    }
    assert of(summary, "summary.schema.json") == []
    summary["views"]["percentile"] = [{"p50": [1]}]
    summary["promise"]["verdict"] = "probably"
    summary["ledger"]["requests"] = -1
    del summary["run_id"]
    text = "; ".join(of(summary, "summary.schema.json"))
    assert "run_id is missing" in text
    assert "promise.verdict is " in text
    assert "ledger.requests is -1, must be at least 0" in text
    assert "views.percentile[0].p50 is [1], expected" in text
