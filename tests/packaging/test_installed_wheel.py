"""The wheel, alone in a new environment, does the main job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BIN = "Scripts" if os.name == "nt" else "bin"


def _run(*command: str | Path, cwd: Path) -> str:
    """Output of a program that sees nothing of the checkout."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "ANALYZE_"))}
    done = subprocess.run(command, cwd=cwd, env=kept, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(wheel: Path, checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the programs of an environment that has the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", folder, cwd=folder)
    command = (
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary",
        ":all:",
        "--constraint",
        checkout / "constraints.txt",
    )
    _run(folder / BIN / "python", *command, wheel, cwd=folder)
    return folder / BIN


@pytest.mark.slow
def test_the_wheel_alone_reports_on_a_copy_of_the_sample(installed: Path, sample: Path, shell: Path) -> None:
    place = _run(installed / "python", "-c", "import analyzer; print(analyzer.__file__)", cwd=sample.parent)
    assert place.startswith(str(installed.parent))

    store = sample.parent / "run.duckdb"
    _run(installed / "analyze", "ingest", sample, "--store", store, cwd=sample.parent)
    outcomes = _run(shell, store, "-csv", "-c", OUTCOMES, cwd=sample.parent)
    assert outcomes.split() == ["outcome,requests", "cancelled,5", "ok,31"]

    _run(installed / "analyze", "report", "--manifest", "copy/run.json", cwd=sample.parent)
    page = (sample / "run.html").read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    summary: dict[str, Any] = json.loads((sample / "run.summary.json").read_text(encoding="utf-8"))
    assert summary["summary"] == 1
    total = ("load_point", "tenant", "input_bin", "output_bin", "window_start")
    counted = {
        row["outcome"]: row["requests"]
        for row in summary["views"]["outcome_count"]
        if all(row[dimension] == "(all)" for dimension in total)
    }
    assert {outcome: int(requests) for outcome, requests in counted.items() if int(requests)} == {
        "ok": 31,
        "cancelled": 5,
    }


OUTCOMES = "SELECT outcome, count(*) AS requests FROM request GROUP BY outcome ORDER BY outcome"
