"""Which files are meant by the paths of a command, and which manifests list them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import manifest
from analyzer.errors import ManifestError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MANIFEST_LIMIT = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read. `label` is its path as given; `named` tells a file named itself from one found in a folder."""

    path: Path
    label: str
    named: bool
    manifest: manifest.Manifest | None = None


@dataclass(slots=True)
class _Manifests:
    by_file: dict[Path, manifest.Manifest] = field(default_factory=dict)
    own: set[Path] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def look(self, folder: Path) -> None:
        """Take in every manifest of a folder."""
        for path in sorted(folder.glob("*.json")):
            if path.resolve() in self.own or not _is_manifest(path):
                continue
            self.own.add(path.resolve())
            try:
                found = manifest.load(path)
            except ManifestError as fault:
                self.faults.append(str(fault))
                continue
            for raw in found.raw_files():
                first = self.by_file.setdefault(raw.path.resolve(), found)
                if first is not found:
                    self.faults.append(f"{raw.path} is listed by {first.path} and by {path}; the first one counts")


def _is_manifest(path: Path) -> bool:
    try:
        if not path.is_file() or path.stat().st_size > _MANIFEST_LIMIT:
            return False
        with path.open("rb") as stream:
            start = stream.read(4096)
    except OSError:
        return False
    return b'"manifest"' in start and start.lstrip().startswith(b"{")


def _walk(folder: Path, label: str) -> Iterator[tuple[Path, str]]:
    """Files below a folder in the order of their names, hidden ones left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if not name.startswith("."):
                path = Path(place) / name
                yield path, os.path.join(label, path.relative_to(folder))  # noqa: PTH118 (a label keeps what was typed)


def find(paths: Sequence[str], skip: Iterable[Path] = ()) -> tuple[list[Found], list[str]]:
    """The files that paths mean, each once, and what is wrong with manifests beside them.

    SourceError for a path that does not exist or a folder without files.
    """
    left_out = {path.resolve() for path in skip}
    manifests = _Manifests()
    found: dict[Path, Found] = {}
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise SourceError(f"{given} does not exist", "check the path")
        listed = list(_walk(path, given)) if path.is_dir() else [(path, given)]
        if not listed:
            raise SourceError(f"{given} is an empty folder", "name a folder that holds traces or event logs")
        for file, label in listed:
            manifests.look(file.parent)
            real = file.resolve()
            if real in left_out or (path.is_dir() and (real in manifests.own or not file.is_file())):
                continue
            found.setdefault(real, Found(file, label, named=not path.is_dir(), manifest=manifests.by_file.get(real)))
    return list(found.values()), manifests.faults
