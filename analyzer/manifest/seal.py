"""Binding a manifest to the bytes of its raw files, and writing it so that no half of it is ever seen."""

from __future__ import annotations

import copy
import json
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.errors import DriftError, ManifestError, SourceError
from analyzer.manifest.freeze import freeze, run_id, utc_seconds
from analyzer.manifest.hashing import Digest, hash_file
from analyzer.manifest.model import Manifest, RawFile, check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class RawFacts:
    """What reading a raw file has shown: its records, their first and last time (ns since 1970), its source.

    `sha256`, where given, is of the bytes that were read; seal refuses a file that has changed since.
    """

    rows: int
    first_ns: int | None
    last_ns: int | None
    source: str
    sha256: str | None = None


def seal(
    manifest: Manifest,
    facts: Mapping[str, RawFacts],
    *,
    now: datetime,
    analyzer_version: str,
    post_hoc: str | None = None,
    progress: Callable[[int, str], None] | None = None,
) -> dict[str, Any]:
    """Return a new document with every raw file hashed, and the run_id over contract and files.

    `facts` are by path as the manifest gives it; files that it does not list yet are added. `progress` hears
    the bytes done over all files and the file under way. DriftError where the contract has changed since it
    was frozen (unless `post_hoc` says why), or the files since they were sealed; ManifestError where a listed
    file has no facts; SourceError where one cannot be read.
    """
    document = freeze(manifest, now=now, post_hoc=post_hoc)
    artifact = document["artifact"]
    before = [entry for entry in artifact.get("raw", ()) if "sha256" in entry]
    artifact["raw"] = _listed(manifest, artifact, facts)
    files = Manifest(manifest.path, document).raw_files()
    digests = _digests(files, facts, progress)
    for entry, digest in zip(artifact["raw"], digests, strict=True):
        _fill(entry, digest, facts[entry["path"]])
    if "run_id" in artifact:
        _refuse_other_bytes(manifest, before, artifact["raw"])
    artifact["created"] = utc_seconds(now)
    artifact["analyzer_version"] = analyzer_version
    artifact["run_id"] = run_id(document)
    check(document, str(manifest.path))
    return document


def write(document: Mapping[str, Any], path: str | Path) -> None:
    """Write a manifest in one step: readers see the old file or the new one, also after a power cut."""
    target = Path(os.path.realpath(path))
    text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    draft = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
        try:
            with draft.open("x", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                draft.chmod(mode)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(target.parent)
    except OSError as fault:
        raise ManifestError(f"{path} cannot be written: {fault.strerror or fault}") from None


def _listed(manifest: Manifest, artifact: dict[str, Any], facts: Mapping[str, RawFacts]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = copy.deepcopy(artifact.get("raw", []))
    paths = {entry["path"] for entry in entries}
    unread = sorted(paths - facts.keys())
    if unread:
        raise ManifestError(
            f"{manifest.path} lists {', '.join(unread[:5])}, which nothing has read",
            "ingest it first, or take it off the list",
        )
    entries += [{"path": path} for path in sorted(facts.keys() - paths)]
    if not entries:
        raise ManifestError(f"{manifest.path} lists no raw file, so there is nothing to seal", "list its raw files")
    return entries


def _digests(
    files: tuple[RawFile, ...], facts: Mapping[str, RawFacts], progress: Callable[[int, str], None] | None
) -> Iterator[Digest]:
    done = 0
    for file in files:

        def advance(of_file: int, of_others: int = done, given: str = file.given) -> None:
            if progress:
                progress(of_others + of_file, given)

        before = _version(file.path)
        digest = hash_file(file.path, advance)
        if _version(file.path) != before or digest.bytes != before[0]:
            raise SourceError(f"{file.path} is still being written", "seal it when the run is over")
        if facts[file.given].sha256 not in {None, digest.sha256}:
            raise DriftError(f"{file.path} has changed since it was read", "ingest it again, then seal")
        done += digest.bytes
        yield digest


def _version(path: Path) -> tuple[int, int]:
    """Return size and last change of a file; while they move, it is being written."""
    try:
        found = path.stat()
    except OSError as fault:
        raise SourceError(f"{path} cannot be read: {fault.strerror or fault}") from None
    return found.st_size, found.st_mtime_ns


def _fill(entry: dict[str, Any], digest: Digest, facts: RawFacts) -> None:
    entry.update(bytes=digest.bytes, sha256=digest.sha256, rows=facts.rows)
    for key, value in (("first_ns", facts.first_ns), ("last_ns", facts.last_ns)):
        entry.pop(key, None)
        if value is not None:
            entry[key] = str(value)  # as text: beyond what JSON readers hold exactly
    entry["source"] = facts.source


def _refuse_other_bytes(manifest: Manifest, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
    # Sealing other bytes under the same manifest would make changed data look as if it had always been so.
    old = {entry["path"]: entry["sha256"] for entry in before}
    new = {entry["path"]: entry["sha256"] for entry in after}
    differing = sorted(path for path in old.keys() | new.keys() if old.get(path) != new.get(path))
    if differing:
        raise DriftError(
            f"{manifest.path} is sealed over other bytes than {', '.join(differing[:5])} now has",
            "restore the sealed files, or give the new ones a manifest of their own",
        )


def _sync_folder(folder: Path) -> None:
    # Not every system lets a folder be opened; the rename is atomic all the same.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
