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

Files = dict[str, bytes]


def _in_checkout(folder: Path) -> Files:
    """Files below a folder by their path in it; hidden and compiled ones and stores are no part of a release."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
        and path.suffix not in (".duckdb", ".wal")
        and not any(part.startswith((".", "__pycache__")) for part in path.relative_to(folder).parts)
    }


def _in_wheel(wheel: Path) -> Files:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _in_sdist(sdist: Path) -> Files:
    """Files by their path below the folder that everything in an sdist lies in."""
    found = {}
    with tarfile.open(sdist) as archive:
        for member in archive:
            if content := archive.extractfile(member):
                found[member.name.partition("/")[2]] = content.read()
    return found


def _below(files: Files, folder: str) -> Files:
    return {path.removeprefix(f"{folder}/"): text for path, text in files.items() if path.startswith(f"{folder}/")}


@pytest.mark.slow
def test_the_wheel_holds_the_code_and_data_of_the_checkout_and_nothing_else(wheel: Path, checkout: Path) -> None:
    expected = _in_checkout(checkout / "analyzer")
    assert "py.typed" in expected
    for name in DATA:
        files = _in_checkout(checkout / name)
        assert files, f"{name}/ of the checkout is empty"
        expected |= {f"{name}/{path}": text for path, text in files.items()}
    found = _in_wheel(wheel)
    assert sorted(_below(found, "analyzer")) == sorted(expected)
    assert _below(found, "analyzer") == expected
    assert {path.split("-")[0].split("/")[0] for path in found} == {"analyzer", "serving_analyzer"}


@pytest.mark.slow
def test_the_sdist_holds_what_is_needed_to_build_and_test(sdist: Path, checkout: Path) -> None:
    found = _in_sdist(sdist)
    for name in ("analyzer", *DATA, "tests", "sample_traces", "docs", "benchmarks"):
        assert sorted(_below(found, name)) == sorted(_in_checkout(checkout / name))
        assert _below(found, name) == _in_checkout(checkout / name), f"{name}/ differs"
    for name in ("pyproject.toml", "constraints.txt", "Makefile", "README.md", "LICENSE", "CONTRIBUTING.md"):
        assert found[name] == (checkout / name).read_bytes()


@pytest.mark.slow
def test_the_metadata_promises_what_is_tested(wheel: Path, checkout: Path) -> None:
    found = _in_wheel(wheel)
    (folder,) = {path.split("/")[0] for path in found} - {"analyzer"}
    metadata = Parser().parsestr(found[f"{folder}/METADATA"].decode())
    assert (metadata["Name"], metadata["Requires-Python"]) == ("serving-analyzer", ">=3.11")
    assert metadata["License-Expression"] == "MIT"
    pythons = {c.rpartition(" ")[2] for c in metadata.get_all("Classifier") or [] if "Python :: 3." in c}
    assert pythons == {"3.11", "3.12", "3.13"}
    assert metadata.get_payload() == (checkout / "README.md").read_text(encoding="utf-8")
    entries = found[f"{folder}/entry_points.txt"].decode()
    assert "analyze = analyzer.cli:main" in entries
    for source in ("otlp", "guidellm", "events"):
        assert f"{source} = analyzer.sources.{source}:SOURCE" in entries


@pytest.mark.slow
def test_every_module_of_the_wheel_compiles_on_every_promised_python(
    wheel: Path, interpreter: Path, tmp_path: Path
) -> None:
    for path, text in _in_wheel(wheel).items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(text)
    command: list[str | Path] = [interpreter, "-W", "error", "-m", "compileall", "-q", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
