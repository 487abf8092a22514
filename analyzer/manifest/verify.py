"""Whether a run still is what its manifest has sealed: every file hashed again, none missing, none beside."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from analyzer.errors import ManifestError, SourceError
from analyzer.manifest import paths, reading
from analyzer.manifest.freeze import contract_sha256, run_id
from analyzer.manifest.hashing import Digest, hash_file, is_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from analyzer.manifest.model import Manifest, RawFile

What = Literal["changed", "missing", "extra", "contract", "run_id", "unsealed"]
_MARK = b'"manifest"'


@dataclass(frozen=True, slots=True)
class Difference:
    """One way in which a run differs from its seal; `path` is relative to the manifest."""

    path: str
    what: What
    expected: str
    actual: str
    likely: str

    @property
    def sentence(self) -> str:
        """The difference in one sentence."""
        return f"{self.path}: {self.what} ({self.likely}): expected {self.expected}, found {self.actual}"


def verify(
    manifest: Manifest, known: Callable[[Path], bool], progress: Callable[[int, str], None] | None = None
) -> list[Difference]:
    """List every difference between a manifest and what lies on disk now; empty when there is none.

    `known` says whether a source reads a file: such a file below the manifest's folder that no manifest there
    lists is a difference too. `progress` hears the bytes done over all files and the file under way.
    SourceError where a file or folder cannot be read at all.
    """
    if not manifest.is_sealed:
        unsealed = [file.given for file in manifest.raw_files() if not file.sha256]
        actual = f"no sha256 of {', '.join(unsealed[:5])}" if unsealed else "no seal"
        return [Difference(manifest.path.name, "unsealed", "a sealed manifest", actual, "never sealed")]
    found = [*_contract(manifest), *_identity(manifest)]
    done = 0
    for file in manifest.raw_files():

        def advance(of_file: int, of_others: int = done, given: str = file.given) -> None:
            if progress:
                progress(of_others + of_file, given)

        found.extend(_raw(file, advance))
        done += file.bytes or 0
    found.extend(_extra(manifest, known))
    return found


def _contract(manifest: Manifest) -> Iterator[Difference]:
    expected, actual = manifest.artifact["contract_sha256"], contract_sha256(manifest.document)
    if expected != actual:
        yield Difference(manifest.path.name, "contract", expected, actual, "edited after it was frozen")


def _identity(manifest: Manifest) -> Iterator[Difference]:
    expected, actual = manifest.artifact["run_id"], run_id(manifest.document)
    if expected != actual:
        yield Difference(manifest.path.name, "run_id", expected, actual, "seal edited by hand")


def _raw(file: RawFile, progress: Callable[[int], None]) -> Iterator[Difference]:
    expected = _said(file.bytes, file.sha256)
    if not os.path.lexists(file.path):
        yield Difference(file.given, "missing", expected, "no file", "missing")
        return
    if not is_regular(file.path):
        yield Difference(file.given, "changed", expected, "not a regular file", "replaced")
        return
    digest = hash_file(file.path, progress, first=file.bytes)
    if digest.sha256 != file.sha256 or digest.bytes != file.bytes:
        yield Difference(file.given, "changed", expected, _said(digest.bytes, digest.sha256), _likely(file, digest))


def _likely(file: RawFile, digest: Digest) -> str:
    size = file.bytes or 0
    if digest.bytes > size and digest.first_sha256 == file.sha256:
        return "grew"
    # Of a shorter file nothing proves that what is left is as it was; it is the likely cause.
    return "truncated" if digest.bytes < size else "replaced"


def _said(size: int | None, sha256: str | None) -> str:
    return f"{size} bytes, sha256 {sha256}"


def _extra(manifest: Manifest, known: Callable[[Path], bool]) -> Iterator[Difference]:
    listed = {file.path for file in manifest.raw_files()} | {Path(os.path.realpath(manifest.path))}
    rest = []
    for path in _below(manifest.folder):
        claimed = _claimed(path)
        if claimed is None:
            rest.append(path)
        else:
            listed |= claimed
    for path in rest:
        if Path(os.path.realpath(path)) not in listed and known(path):
            given = path.relative_to(manifest.folder).as_posix()
            size = f"{path.stat().st_size} bytes"
            yield Difference(given, "extra", f"not beside {manifest.path.name}", size, "extra")


def _below(folder: Path) -> Iterator[Path]:
    """Walk the regular files below a folder in a fixed order; folders that begin with a dot hold caches."""
    for parent, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(parent, name)
            if is_regular(path):
                yield path


def _refuse(fault: OSError) -> NoReturn:
    # An unseen folder may hold unlisted files, so nothing could be said of it.
    raise SourceError(f"{fault.filename} cannot be listed: {fault.strerror or fault}") from None


def _claimed(path: Path) -> set[Path] | None:
    """Collect the raw files that a manifest lists; None where the file is no manifest."""
    document = _manifest_in(path)
    if document is None:
        return None
    artifact = document.get("artifact")
    raw = artifact.get("raw") if isinstance(artifact, dict) else None
    claimed = set()
    for entry in raw if isinstance(raw, list) else ():
        given = entry.get("path") if isinstance(entry, dict) else None
        if isinstance(given, str):
            try:
                claimed.add(paths.inside(Path(os.path.realpath(path.parent)), given))
            except ValueError:
                continue  # a path that leads out names no file of this folder
    return claimed


def _manifest_in(path: Path) -> dict[str, Any] | None:
    """Read a file that says it is a manifest; a broken one says nothing and lists nothing."""
    if path.suffix != ".json" or path.stat().st_size > reading.MOST_BYTES:
        return None
    try:
        content = path.read_bytes()
        document = reading.parse(content.decode("utf-8-sig"), str(path)) if _MARK in content else None
    except (OSError, UnicodeDecodeError, ManifestError):
        return None
    is_manifest = isinstance(document, dict) and document.get("manifest") == 1
    return document if is_manifest else None
