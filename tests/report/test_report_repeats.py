"""The same manifest, raw files and version give the same bytes, whoever builds them and wherever."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rendering import facts

from analyzer import ingest, manifest, report
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from analyzer.report import Report

SAMPLES = Path(__file__).parents[2] / "sample_traces"
ALONE = """
import hashlib, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from rendering import facts
from analyzer import manifest, report
from analyzer.store import Store
declared = manifest.load(sys.argv[3])
with Store(sys.argv[2]) as store:
    built = report.build(store, facts(declared, {Path(declared.raw_files()[i].path).name: declared.raw_files()[i].given
                                                 for i in range(len(declared.raw_files()))}))
for text in (built.html, report.to_json(built.summary)):
    print(hashlib.sha256(text.encode()).hexdigest())
"""


def test_building_twice_gives_the_same_bytes(sample_store: Store, sample_report: Callable[[str], Report]) -> None:
    again = report.build(sample_store, facts(manifest.load(SAMPLES / "three-services" / "run.json")))
    assert again.html == sample_report("three-services").html
    assert report.to_json(again.summary) == report.to_json(sample_report("three-services").summary)


def test_another_process_time_zone_and_hash_seed_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sample_report: Callable[[str], Report]
) -> None:
    # A store of its own, under other paths and in another order, as a second machine would have it.
    declared = manifest.load(SAMPLES / "three-services" / "run.json")
    monkeypatch.chdir(declared.folder)
    files, _ = ingest.find([raw.given for raw in reversed(declared.raw_files())])
    with Store(tmp_path / "s.duckdb", create=True) as store:
        ingest.ingest_files(store, files)
        ingest.apply_manifest(store, declared)
        store.derive()
    environment = {**os.environ, "PYTHONHASHSEED": "7", "TZ": "Pacific/Chatham", "LC_ALL": "C"}
    command = [
        sys.executable,
        "-c",
        ALONE,
        str(Path(__file__).parents[1]),
        str(tmp_path / "s.duckdb"),
        str(declared.path),
    ]
    printed = subprocess.run(
        command, env=environment, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]
    )
    import hashlib

    built = sample_report("three-services")
    expected = [hashlib.sha256(text.encode()).hexdigest() for text in (built.html, report.to_json(built.summary))]
    assert printed.stdout.split() == expected
