"""Which files are meant by the paths of a command, and which manifests list them."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

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
    seen: set[Path] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def look(self, folder: Path) -> None:
        """Take in every manifest of a folder, once."""
        if folder in self.seen:
            return
        self.seen.add(folder)
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


def _refuse(fault: OSError) -> NoReturn:
    raise SourceError(f"{fault.filename} cannot be listed: {fault.strerror}", "check its permissions") from fault


def _is_our_report(name: str, beside: Sequence[str]) -> bool:
    """Whether a file is a report of ours, or its summary, lying beside the raw files."""
    stem = name.removesuffix(".summary.json").removesuffix(".html")
    return stem != name and f"{stem}.html" in beside and f"{stem}.summary.json" in beside


def _walk(folder: Path, label: str) -> Iterator[tuple[Path, str]]:
    """Files, and links to folders, below a folder in the order of their names, hidden ones left out."""
    for place, folders, files in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [name for name in folders if Path(place, name).is_symlink()]
        for name in sorted([*files, *links]):
            if not name.startswith(".") and not _is_our_report(name, files):
                path = Path(place) / name
                yield path, os.path.join(label, path.relative_to(folder))  # noqa: PTH118 (a label keeps what was typed)


def find(paths: Sequence[str], skip: Iterable[Path] = ()) -> tuple[list[Found], list[str]]:
    """The files that paths mean, each once, and what is to be said of the rest and of manifests beside them.

    SourceError for a path that is no file and no folder, or a folder without files.
    """
    left_out = {path.resolve() for path in skip}
    manifests = _Manifests()
    found: dict[Path, Found] = {}
    notes = []
    for given in paths:
        path = Path(given)
        listed = _listed(path, given)
        for file, label in listed:
            if not file.is_file():
                notes.append(f"{label} is not a regular file and was left out; name what it stands for")
                continue
            manifests.look(file.parent)
            real = file.resolve()
            if real in left_out or (path.is_dir() and real in manifests.own):
                continue
            # A name that is no UTF-8 is shown with escapes; the file itself is opened by its bytes.
            shown = os.fsencode(label).decode("utf-8", "backslashreplace")
            found.setdefault(real, Found(file, shown, named=not path.is_dir(), manifest=manifests.by_file.get(real)))
    return list(found.values()), [*notes, *manifests.faults]


def _listed(path: Path, given: str) -> list[tuple[Path, str]]:
    try:
        is_there, is_folder = path.exists(), path.is_dir()
    except OSError as fault:
        raise SourceError(f"{given} cannot be read: {fault.strerror}", "check the path") from fault
    if not is_there:
        raise SourceError(f"{given} does not exist", "check the path")
    if not is_folder and not path.is_file():
        # A pipe can be read once only: what recognises its bytes would take them away.
        raise SourceError(f"{given} is not a regular file", "write what it gives into a file first")
    listed = list(_walk(path, given)) if is_folder else [(path, given)]
    if not listed:
        raise SourceError(f"{given} is an empty folder", "name a folder that holds traces or event logs")
    return listed
