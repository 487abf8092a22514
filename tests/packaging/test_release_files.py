"""The wheel and the sdist hold what the checkout holds, for every Python that is promised."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from email.parser import Parser
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

DATA = ("schemas", "queries", "templates")


def _files(folder: Path) -> dict[str, bytes]:
    """Files below a folder by their path in it, hidden and compiled ones left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not any(p.startswith((".", "__pycache__")) for p in path.relative_to(folder).parts)
    }


def _unpacked(archive: Path, folder: Path) -> Path:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as files:
            files.extractall(folder)  # noqa: S202 (our own archive)
        return folder
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")  # noqa: S202 (our own archive, and the filter is on)
    return folder / archive.name.removesuffix(".tar.gz")


@pytest.mark.slow
def test_the_wheel_holds_the_data_files_of_the_checkout_and_no_others(
    wheel: Path, checkout: Path, tmp_path: Path
) -> None:
    package = _unpacked(wheel, tmp_path) / "analyzer"
    for name in DATA:
        expected = _files(checkout / name)
        assert expected, f"{name}/ of the checkout is empty"
        found = _files(package / name)
        assert found.keys() == expected.keys()
        assert found == expected
    code = {path: text for path, text in _files(package).items() if path.split("/")[0] not in DATA}
    assert code == _files(checkout / "analyzer")
    assert "py.typed" in code


@pytest.mark.slow
def test_the_wheel_brings_the_package_and_nothing_beside_it(wheel: Path, tmp_path: Path) -> None:
    tops = {path.name.split("-")[0] for path in _unpacked(wheel, tmp_path).iterdir()}
    assert tops == {"analyzer", "serving_analyzer"}


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_build_and_test(sdist: Path, checkout: Path, tmp_path: Path) -> None:
    source = _unpacked(sdist, tmp_path)
    for name in ("analyzer", *DATA, "tests", "sample_traces", "docs", "benchmarks"):
        assert _files(source / name) == _files(checkout / name), f"{name}/ differs"
    for name in ("pyproject.toml", "constraints.txt", "Makefile", "README.md", "LICENSE", "CONTRIBUTING.md"):
        assert (source / name).read_bytes() == (checkout / name).read_bytes()


@pytest.mark.slow
def test_the_metadata_promises_what_is_tested(wheel: Path, checkout: Path, tmp_path: Path) -> None:
    (folder,) = _unpacked(wheel, tmp_path).glob("*.dist-info")
    metadata = Parser().parsestr((folder / "METADATA").read_text(encoding="utf-8"))
    assert (metadata["Name"], metadata["Requires-Python"]) == ("serving-analyzer", ">=3.11")
    assert metadata["License-Expression"] == "MIT"
    pythons = {c.rpartition(" ")[2] for c in metadata.get_all("Classifier") or [] if "Python :: 3." in c}
    assert pythons == {"3.11", "3.12", "3.13"}
    assert metadata.get_payload() == (checkout / "README.md").read_text(encoding="utf-8")
    entries = (folder / "entry_points.txt").read_text(encoding="utf-8")
    assert "analyze = analyzer.cli:main" in entries
    for source in ("otlp", "guidellm", "events"):
        assert f"{source} = analyzer.sources.{source}:SOURCE" in entries


@pytest.mark.slow
def test_every_module_of_the_wheel_compiles_on_every_promised_python(
    wheel: Path, interpreter: Path, tmp_path: Path
) -> None:
    package = _unpacked(wheel, tmp_path) / "analyzer"
    command: list[str | Path] = [interpreter, "-W", "error", "-m", "compileall", "-q", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
