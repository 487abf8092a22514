"""The sample runs in one store, and their reports, built once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rendering import facts

from analyzer import ingest, manifest, report
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_traces"
MANIFESTS = {
    "three-services": "three-services/run.json",
    "vllm-direct": "vllm-direct/run.json",
    "serialized": "burst-64/serialized.run.json",
    "vllm": "burst-64/vllm.run.json",
}


@pytest.fixture(scope="session")
def sample_store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    files, _ = ingest.find([str(SAMPLES)])
    store = Store(tmp_path_factory.mktemp("samples") / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    for file in files:
        if file.manifest:
            ingest.apply_manifest(store, file.manifest)
    ingest.apply_defaults(store)
    store.derive()
    return store


@pytest.fixture(scope="session")
def sample_report(sample_store: Store) -> Callable[[str], report.Report]:
    built: dict[str, report.Report] = {}

    def give(name: str) -> report.Report:
        if name not in built:
            declared = manifest.load(SAMPLES / MANIFESTS[name])
            built[name] = report.build(sample_store, facts(declared))
        return built[name]

    return give
