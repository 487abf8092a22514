"""docs/event-log.md, schemas/event.schema.json, the vocabulary and the sample logs say the same."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analyzer.vocabulary import Boundary, ClockKind, Control, Outcome, Phase, Side

CHECKOUT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = json.loads((CHECKOUT / "schemas/event.schema.json").read_text(encoding="utf-8"))
DOCUMENT = (CHECKOUT / "docs/event-log.md").read_text(encoding="utf-8")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
LOGS = sorted(CHECKOUT.glob("sample_traces/*/*.events.jsonl"))
SENT = {"request": "r-1", "event": "sent", "ns": 1, "clock": "c", "side": "client"}


def without(line: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key not in keys}


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_all_four_sample_logs_are_found() -> None:
    assert [f"{log.parent.name}/{log.name}" for log in LOGS] == [
        "burst-64/serialized.events.jsonl",
        "burst-64/vllm.events.jsonl",
        "three-services/client.events.jsonl",
        "vllm-direct/client.events.jsonl",
    ]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.parent.name}/{log.name}")
def test_every_line_of_a_sample_log_is_valid(log: Path) -> None:
    lines = log.read_text(encoding="utf-8").splitlines()
    assert lines
    for number, line in enumerate(lines, 1):
        faults = [fault.message for fault in VALIDATOR.iter_errors(json.loads(line))]
        assert not faults, f"line {number}: {faults}"


def test_the_examples_of_the_document_are_valid_lines() -> None:
    blocks = [block.splitlines() for block in re.findall(r"```jsonl\n(.*?)```", DOCUMENT, flags=re.DOTALL)]
    # A request, and a worker that comes up.
    assert [len(lines) for lines in blocks] == [10, 5]
    for lines in blocks:
        for line in lines:
            VALIDATOR.validate(json.loads(line))


@pytest.mark.parametrize("field", SCHEMA["properties"])
def test_every_field_is_described_with_an_example_that_fits(field: str) -> None:
    rule = SCHEMA["properties"][field]
    assert rule["description"].endswith(".")
    assert rule["examples"]
    for example in rule["examples"]:
        jsonschema.Draft202012Validator(rule).validate(example)


@pytest.mark.parametrize("name", [*SCHEMA["properties"], *SCHEMA["properties"]["event"]["enum"]])
def test_the_document_names_every_field_and_event(name: str) -> None:
    assert f"`{name}`" in DOCUMENT or f'`"{name}"`' in DOCUMENT


def test_the_schema_uses_the_words_of_the_vocabulary() -> None:
    words = {name: rule["enum"] for name, rule in SCHEMA["properties"].items() if "enum" in rule}
    assert words.pop("event") == [*Boundary, "content", "chunk", *Control, "gauge"]
    assert words.pop("kind") == ["text", "reasoning", "tool", "role", "finish", "usage", "empty"]
    assert words == {
        "side": list(Side),
        "clock_kind": [*ClockKind],
        "phase": list(Phase),
        "outcome": list(Outcome),
    }


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(SENT, id="time as an integer"),
        pytest.param(SENT | {"ns": "1767225600225000000"}, id="time as digits in a string"),
        pytest.param(without(SENT, "ns") | {"ms": 0.25}, id="time in milliseconds"),
        pytest.param(SENT | {"x_shard": [1, 2]}, id="a key of the writer's own"),
        pytest.param(SENT | {"event": "content", "tokens": 4, "kind": "tool"}, id="a chunk"),
        pytest.param(without(SENT, "request") | {"event": "drain"}, id="a control event without a request"),
    ],
)
def test_a_line_that_the_document_allows_is_valid(line: dict[str, Any]) -> None:
    VALIDATOR.validate(line)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(without(SENT, "request"), id="no request"),
        pytest.param(without(SENT, "event"), id="no event"),
        pytest.param(without(SENT, "clock"), id="no clock"),
        pytest.param(without(SENT, "side"), id="no side"),
        pytest.param(without(SENT, "ns"), id="no time"),
        pytest.param(SENT | {"ms": 1}, id="two times"),
        pytest.param(SENT | {"ns": 1.5}, id="half a nanosecond"),
        pytest.param(SENT | {"ns": "1e9"}, id="a time that is no digits"),
        pytest.param(SENT | {"event": "sendt"}, id="a misspelt event"),
        pytest.param(SENT | {"tennant": "acme"}, id="a misspelt key"),
        pytest.param(SENT | {"kind": "text"}, id="kind on what is no chunk"),
        pytest.param(SENT | {"value": 3}, id="a value on what is no gauge"),
        pytest.param(SENT | {"event": "gauge", "name": "running"}, id="a gauge without a value"),
        pytest.param(SENT | {"outcome": "failed"}, id="an outcome of another vocabulary"),
        pytest.param(SENT | {"attempt": 0}, id="attempts count from 1"),
    ],
)
def test_a_line_that_breaks_a_rule_is_refused(line: dict[str, Any]) -> None:
    assert not VALIDATOR.is_valid(line)
