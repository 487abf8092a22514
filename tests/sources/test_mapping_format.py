"""docs/mapping.md, schemas/mapping.schema.json and the code say the same of a mapping file."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from building import rows
from jsonschema import Draft202012Validator

from analyzer import ingest
from analyzer.ingest.mapping_file import load_mapping
from analyzer.sources.mapped.model import FIELDS, TIMES
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

CHECKOUT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = json.loads((CHECKOUT / "schemas/mapping.schema.json").read_text(encoding="utf-8"))
DOCUMENT = (CHECKOUT / "docs/mapping.md").read_text(encoding="utf-8")
MAPS = sorted((Path(__file__).parent / "maps").glob("*.toml"))


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    return str(found)


def keys(schema: dict[str, Any], where: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, rule in schema.get("properties", {}).items():
        yield f"{where}{name}", rule
        yield from keys(rule, f"{where}{name}.")
    for name, definition in schema.get("$defs", {}).items():
        for choice in definition.get("anyOf", ()):
            yield from keys(choice, f"{name}: ")


def test_the_schema_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize(
    ("where", "rule"), list(keys(SCHEMA)), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_key_is_described_with_an_example_that_fits(where: str, rule: dict[str, Any]) -> None:
    assert rule["description"].endswith("."), where
    assert rule["examples"], where
    validator = Draft202012Validator(rule | {"$defs": SCHEMA["$defs"]})
    for example in rule["examples"]:
        validator.validate(example)


def test_the_schema_has_the_fields_of_the_code_and_no_other() -> None:
    properties = SCHEMA["properties"]
    assert set(properties["columns"]["properties"]) == {*TIMES, *FIELDS}
    assert set(properties["values"]["properties"]) == FIELDS.keys() - {"deadline_ms"}
    times = {name for name, rule in properties["columns"]["properties"].items() if rule["$ref"].endswith("/time")}
    assert times == set(TIMES)


def test_the_document_names_every_key_and_every_field() -> None:
    for name in SCHEMA["properties"]["source"]["properties"] | SCHEMA["properties"]["columns"]["properties"]:
        assert f"`{name}`" in DOCUMENT, name
    table = DOCUMENT.partition("## [columns]")[2].partition("Boundaries:")[0]
    options = SCHEMA["$defs"]["time"]["anyOf"][1]["properties"]
    assert re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE) == list(options)


def test_the_example_of_the_document_reads_its_own_file(tmp_path: Path) -> None:
    (tmp_path / "columns.toml").write_text(block("toml"), encoding="utf-8")
    (tmp_path / "results.csv").write_text(block("csv"), encoding="utf-8")
    files, _ = ingest.find([str(tmp_path / "results.csv")])
    store = Store(tmp_path / "s.duckdb", create=True)
    ingest.ingest_files(store, files, ingest.How(mapping=str(tmp_path / "columns.toml")))
    ingest.apply_defaults(store)
    store.derive()
    found = rows(store, "SELECT request_id, ttft_ms, e2e_ms FROM attempt_metric ORDER BY 1")
    assert found == [("r-17", 323.0, 479.5), ("r-18", None, 8.5), ("r-19", 151.0, 30000.0)]
    assert rows(store, "SELECT outcome, status_code, input_tokens FROM attempt ORDER BY request_id") == [
        ("ok", 200, 375),
        ("rejected", 429, None),
        ("timeout", None, 120),
    ]
    assert rows(store, "SELECT time_ns FROM event WHERE request = 'r-17' AND event = 'sent'") == [
        (1_767_225_600_000_250_000,)
    ]


@pytest.mark.parametrize("path", MAPS, ids=lambda path: path.name)
def test_every_mapping_that_is_kept_is_one(path: Path) -> None:
    Draft202012Validator(SCHEMA).validate(tomllib.loads(path.read_text(encoding="utf-8")))
    load_mapping(path)
