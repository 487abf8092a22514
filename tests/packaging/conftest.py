"""What a user would get: the wheel and sdist, built once per worker, and the interpreters of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def checkout() -> Path:
    return CHECKOUT


@pytest.fixture(scope="session")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the sdist and the wheel that was made from it, as an index would make it."""
    folder = tmp_path_factory.mktemp("dist")
    # No isolation: the backend is one of the test group, so that building needs no network.
    command: list[str | Path] = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, CHECKOUT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="session")
def wheel(dist: Path) -> Path:
    (wheel,) = dist.glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def sdist(dist: Path) -> Path:
    (sdist,) = dist.glob("*.tar.gz")
    return sdist


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Give a copy of the sample with three sides."""
    hidden = shutil.ignore_patterns(".*")
    return shutil.copytree(CHECKOUT / "sample_traces" / "three-services", tmp_path / "copy", ignore=hidden)


@pytest.fixture
def shell() -> Path:
    """Give the DuckDB shell of the test group."""
    program = Path(sys.executable).with_name("duckdb.exe" if os.name == "nt" else "duckdb")
    assert program.is_file(), f"{program} is missing: it comes with duckdb-cli, install the test group"
    return program


def _candidates(version: str) -> list[Path]:
    """Where an interpreter of a version may be: on PATH, or kept by pyenv beside its shims."""
    found = []
    for place in map(Path, os.get_exec_path()):
        found.append(place / f"python{version}")
        if place.name == "shims":
            found += sorted(place.parent.glob(f"versions/{version}.*/bin/python{version}"))
    return found


@pytest.fixture(params=["3.11", "3.12", "3.13"])
def interpreter(request: pytest.FixtureRequest) -> Path:
    """Give each promised interpreter that this machine has; one that is found but does not run is not had."""
    version = str(request.param)
    if version == f"{sys.version_info.major}.{sys.version_info.minor}":
        return Path(sys.executable)
    check = f"import sys; sys.exit('%d.%d' % sys.version_info[:2] != '{version}')"
    for python in _candidates(version):
        if python.is_file() and subprocess.run([python, "-c", check], capture_output=True, check=False).returncode == 0:
            return python
    pytest.skip(f"this machine has no Python {version}")
