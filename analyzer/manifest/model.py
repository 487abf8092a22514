"""The run manifest as a value: read strictly, checked whole, asked by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.errors import ManifestError
from analyzer.manifest import faults, paths, reading, rules

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = "run.schema.json"
LAYERS = ("model", "runtime", "hardware", "workload", "measurement")
VERSION = 1


@dataclass(frozen=True, slots=True)
class RawFile:
    """One raw file of a run: where it is, and what the seal says of it (None where unsealed)."""

    path: Path
    given: str
    bytes: int | None
    sha256: str | None
    rows: int | None
    source: str | None
    options: tuple[tuple[str, str | float | bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest that has passed every check. `document` is its JSON; treat it as read-only."""

    path: Path
    document: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the run."""
        return str(self.document["name"])

    @property
    def folder(self) -> Path:
        """The real folder that raw paths are relative to."""
        return folder_of(self.path)

    @property
    def artifact(self) -> dict[str, Any]:
        """The sixth layer."""
        layer: dict[str, Any] = self.document["artifact"]
        return layer

    @property
    def run_id(self) -> str | None:
        """Identity of contract and raw bytes, written by seal."""
        return self.artifact.get("run_id")

    @property
    def is_sealed(self) -> bool:
        """Whether contract and every raw file carry their hash."""
        raw = self.raw_files()
        hashed = bool(raw) and all(file.bytes is not None and file.sha256 for file in raw)
        return hashed and {"contract_sha256", "run_id"} <= self.artifact.keys()

    def raw_files(self) -> tuple[RawFile, ...]:
        """List the raw files in their order. ManifestError where a path leads out of the folder."""
        files, wrong = _raw_files(self.path, self.document)
        if wrong:
            raise ManifestError(f"{self.path}: {faults.summed_up(wrong)}")
        return files

    def unknowns(self) -> list[tuple[str, str]]:
        """List (field path, why) of every value that is declared unknown, in document order."""
        return list(_unknowns(self.document, ""))


def load(path: str | Path) -> Manifest:
    """Read and check a manifest. ManifestError says in one sentence what is wrong, and where."""
    path = Path(path)
    document = reading.read(path)
    _refuse_others(path, document)
    found = reading.inexact(document) or faults.of(document, SCHEMA) or rules.broken(document)
    if not found:
        found = _raw_files(path, document)[1]
    if found:
        raise ManifestError(f"{path}: {faults.summed_up(found)}")
    return Manifest(path, document)


def check(document: dict[str, Any], where: str) -> None:
    """Raise ManifestError, naming `where`, unless a document made in memory is a manifest."""
    found = reading.inexact(document) or faults.of(document, SCHEMA) or rules.broken(document)
    if found:
        raise ManifestError(f"{where}: {faults.summed_up(found)}")


def declared(document: Any, *keys: str) -> Any:
    """Look up the value at a path of keys; None where a step is missing or declared unknown."""
    for key in keys:
        document = document.get(key) if isinstance(document, dict) else None
        if is_unknown(document):
            return None
    return document


def is_unknown(value: object) -> bool:
    """Whether a value says that it is not known."""
    return isinstance(value, dict) and value.keys() == {"unknown"}


def folder_of(path: Path) -> Path:
    """Find the real folder a manifest stands in."""
    return Path(os.path.realpath(path.parent))


def _refuse_others(path: Path, document: dict[str, Any]) -> None:
    version = document.get("manifest")
    if version is None:
        raise ManifestError(
            f'{path} is JSON but no run manifest: it lacks "manifest": {VERSION}',
            "name the run.json of the run; `analyze manifest new` writes one",
        )
    if isinstance(version, bool) or version != VERSION:
        found = faults.shown(version)
        raise ManifestError(f"{path}: manifest is {found}, and only version {VERSION} can be read")


def _raw_files(path: Path, document: dict[str, Any]) -> tuple[tuple[RawFile, ...], list[str]]:
    folder, own = folder_of(path), Path(os.path.realpath(path))
    files: dict[Path, RawFile] = {}
    wrong = []
    for i, entry in enumerate(document["artifact"].get("raw", ())):
        given = entry["path"]
        where = f"artifact.raw[{i}].path {faults.shown(given)}"
        try:
            target = paths.inside(folder, given)
        except ValueError as fault:
            wrong.append(f"{where} {fault}")
            continue
        if target in files:
            wrong.append(f"{where} is listed twice")
        if target == own:
            # Sealing writes into the manifest, so its own hash could never hold.
            wrong.append(f"{where} is the manifest itself")
        files[target] = _raw_file(target, entry)
    return tuple(files.values()), wrong


def _raw_file(target: Path, entry: dict[str, Any]) -> RawFile:
    size, rows = (None if entry.get(key) is None else int(entry[key]) for key in ("bytes", "rows"))
    options = tuple(sorted(entry.get("options", {}).items()))
    return RawFile(target, entry["path"], size, entry.get("sha256"), rows, entry.get("source"), options)


def _unknowns(value: Any, where: str) -> Iterator[tuple[str, str]]:
    if is_unknown(value):
        yield where, value["unknown"]
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _unknowns(inner, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _unknowns(inner, f"{where}[{i}]")
