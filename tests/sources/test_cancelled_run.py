"""AIPerf's published example with eleven cancellations: one promise, by what a cancellation is declared to mean."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from building import TOTAL, declare, rows, slo

from analyzer import ingest, manifest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.shared
FILES = ("profile_export.jsonl", "profile_export_aiperf.json")


def attained(shared_data: Path, folder: Path, **measurement: Any) -> list[tuple[Any, ...]]:
    for name in FILES:
        shutil.copy(shared_data / "public" / "aiperf-run1" / name, folder / name)
    declared = manifest.load(declare(folder, FILES, slo=[slo("ttft", 2000, target=0.5)], **measurement))
    with Store(folder / "run.duckdb", create=True) as made:
        ingest.ingest_files(made, ingest.find([str(folder / name) for name in FILES])[0])
        ingest.apply_manifest(made, declared)
        made.derive()
        assert rows(made, "SELECT offered, ok, cancelled FROM ledger WHERE load_point = '(all)'") == [(100, 89, 11)]
        return rows(made, f"SELECT n, good, undetermined, share_low, share_high FROM attainment WHERE {TOTAL}")


@pytest.mark.parametrize(
    ("client_cancel", "expected"),
    [
        (None, (100, 37, 11, 0.37, 0.48)),
        ("bad", (100, 37, 0, 0.37, 0.37)),
        ("excluded", (89, 37, 0, pytest.approx(0.4157, abs=5e-5), pytest.approx(0.4157, abs=5e-5))),
    ],
)
def test_a_cancellation_is_open_bad_or_left_out_as_declared(
    shared_data: Path, tmp_path: Path, client_cancel: str | None, expected: tuple[Any, ...]
) -> None:
    told = {"failure_rules": {"client_cancel": client_cancel}} if client_cancel else {}
    assert attained(shared_data, tmp_path, **told) == [expected]
