"""The samples are what their scripts make of the originals, small, and named by their manifests."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ORIGINALS = {"three-services": "otlp-e2e-litellm-vllm", "vllm-direct": "otlp-vllm"}
MANIFESTS = {
    "three-services/run.json": {"client.events.jsonl", "traces.otlp.jsonl"},
    "vllm-direct/run.json": {"client.events.jsonl", "traces.otlp.jsonl"},
    "burst-64/serialized.run.json": {"serialized.events.jsonl"},
    "burst-64/vllm.run.json": {"vllm.events.jsonl"},
}
SCHEMA = Path(__file__).parents[2] / "schemas" / "run.schema.json"
LAYERS = {"model", "runtime", "hardware", "workload", "measurement", "artifact"}


@pytest.mark.shared
@pytest.mark.parametrize("sample", ORIGINALS)
def test_reexpress_gives_the_committed_log_byte_for_byte(
    sample: str, samples: Path, shared_data: Path, tmp_path: Path
) -> None:
    original = shared_data / "made" / ORIGINALS[sample] / "client-events.jsonl"
    target = tmp_path / "log"
    subprocess.run([sys.executable, samples / "reexpress.py", sample, original, target], check=True)
    assert target.read_bytes() == (samples / sample / "client.events.jsonl").read_bytes()


@pytest.mark.shared
@pytest.mark.parametrize("sample", ORIGINALS)
def test_the_spans_are_the_original_byte_for_byte(sample: str, samples: Path, shared_data: Path) -> None:
    original = shared_data / "made" / ORIGINALS[sample] / "traces.otlp.jsonl"
    assert (samples / sample / "traces.otlp.jsonl").read_bytes() == original.read_bytes()


@pytest.mark.shared
@pytest.mark.parametrize("sample", ORIGINALS)
def test_no_request_of_the_original_client_log_is_lost(
    sample: str, shared_data: Path, read_requests: Callable[[str], list[dict[str, Any]]]
) -> None:
    original = shared_data / "made" / ORIGINALS[sample] / "client-events.jsonl"
    records = [json.loads(line) for line in original.read_text(encoding="utf-8").splitlines()]
    kept = read_requests(f"{sample}/client.events.jsonl")
    assert len(kept) == len(records)
    assert [seen.get("trace_id") for seen in kept] == [record["trace_id"] for record in records]
    for seen, record in zip(kept, records, strict=True):
        for name in ("first_content", "last_content"):
            assert (f"{name}_ms" in seen) == (f"{name}_unix_ns" in record)


def test_construct_gives_the_committed_logs_byte_for_byte(samples: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, samples / "burst-64" / "construct.py", tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert made == {path.name: path.read_bytes() for path in samples.glob("burst-64/*.events.jsonl")}


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest_names_the_raw_files_beside_it(manifest: str, samples: Path) -> None:
    document = json.loads((samples / manifest).read_text(encoding="utf-8"))
    assert document.keys() == LAYERS | {"manifest", "name", "why"}
    assert {raw["path"] for raw in document["artifact"]["raw"]} == MANIFESTS[manifest]
    for raw in document["artifact"]["raw"]:
        assert (samples / manifest).with_name(raw["path"]).is_file()


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_a_manifest_is_valid_under_the_published_schema(manifest: str, samples: Path) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    document = json.loads((samples / manifest).read_text(encoding="utf-8"))
    faults = jsonschema.Draft202012Validator(schema).iter_errors(document)
    assert [(fault.json_path, fault.message) for fault in faults] == []


def test_every_raw_file_is_named_by_a_manifest(samples: Path) -> None:
    raw = {(path.parent.name, path.name) for path in samples.glob("*/*.jsonl")}
    assert raw == {(name.split("/")[0], path) for name, paths in MANIFESTS.items() for path in paths}


@pytest.mark.parametrize("server", ["serialized", "vllm"])
def test_constructed_data_says_so_in_name_why_and_readme(server: str, samples: Path) -> None:
    document = json.loads((samples / "burst-64" / f"{server}.run.json").read_text(encoding="utf-8"))
    assert document["name"] == f"burst-64-{server}-constructed"
    assert document["why"].startswith("Constructed from published figures, not measured")
    readme = (samples / "burst-64" / "README.md").read_text(encoding="utf-8")
    assert "**Constructed from published figures, not measured.**" in readme


def test_the_samples_are_small(samples: Path) -> None:
    kept = [path for path in samples.rglob("*") if path.is_file() and path.suffix in {".jsonl", ".json", ".md", ".py"}]
    assert sum(path.stat().st_size for path in kept) < 1_500_000
