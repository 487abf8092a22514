"""A store of this version opens in the DuckDB shell that people install."""

from __future__ import annotations

import csv
import io
import subprocess
from typing import TYPE_CHECKING

import pytest

from analyzer.jobs import ingesting
from analyzer.store import catalog

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def store_file(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "run.duckdb"
    sample = str(checkout / "sample_traces" / "three-services")
    ingesting.run([sample], str(path))
    return path


def _ask(shell: Path, store_file: Path, query: str) -> list[dict[str, str]]:
    command: list[str | Path] = [shell, "-readonly", store_file, "-csv", "-c", query]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def test_the_shell_counts_the_requests_of_each_tenant(shell: Path, store_file: Path) -> None:
    rows = _ask(shell, store_file, "SELECT tenant, count(*) AS n FROM request GROUP BY ALL ORDER BY ALL")
    assert {row["tenant"]: row["n"] for row in rows} == {"acme": "10", "globex": "10", "initech": "16"}


def test_the_shell_reads_every_view(shell: Path, store_file: Path) -> None:
    views = [name for name, definition in catalog.definitions().items() if definition.kind != "MACRO"]
    query = "; ".join(f"SELECT count(*) AS n FROM (SELECT DISTINCT * FROM {view})" for view in views)
    counts = [row["n"] for row in _ask(shell, store_file, query) if row["n"] != "n"]
    assert len(counts) == len(views)
    assert all(count.isdigit() for count in counts)


def test_the_shell_reads_any_level_of_a_percentile(shell: Path, store_file: Path) -> None:
    level = "SELECT low, n FROM percentile_at('ttft', 0.75) WHERE population = 'ok' AND tenant = '(all)'"
    rolled = " AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' AND load_point = '(all)'"
    (row,) = _ask(shell, store_file, level + rolled)
    assert (row["n"], float(row["low"]) > 0) == ("31", True)


def test_the_shell_shows_what_a_view_and_its_columns_mean(shell: Path, store_file: Path) -> None:
    (view,) = _ask(shell, store_file, "SELECT comment FROM duckdb_views() WHERE view_name = 'attempt_metric'") or _ask(
        shell, store_file, "SELECT comment FROM duckdb_tables() WHERE table_name = 'attempt_metric'"
    )
    columns = _ask(shell, store_file, "SELECT comment FROM duckdb_columns() WHERE table_name = 'attempt_metric'")
    assert view["comment"].startswith("One row per")
    assert columns
    assert all(column["comment"] for column in columns)
