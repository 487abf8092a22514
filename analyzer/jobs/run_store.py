"""The store behind a manifest: its own beside it, or one that the user names, holding what the manifest lists."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from analyzer import diagnostics, ingest, sources
from analyzer.errors import AnalyzerError, SourceError, StoreBusyError, StoreError, UsageFault
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.manifest import Manifest, RawFile


def own_path(manifest: Manifest) -> Path:
    """Where the store of a manifest lies when no other is named: a cache that may be deleted."""
    return manifest.path.parent / ".analyze" / f"{manifest.path.stem}.duckdb"


def open_store(manifest: Manifest, named: str | None, trace: Callable[[str], None] | None) -> Store:
    """The named store, made if need be; else the manifest's own, made anew when it cannot be used."""
    if named:
        return Store(named, create=True, trace=trace)
    path = own_path(manifest)
    try:
        path.parent.mkdir(exist_ok=True)
    except OSError as fault:
        raise StoreError(
            f"{path.parent} cannot be made: {fault.strerror}", "name a store elsewhere with --store"
        ) from fault
    try:
        store = Store(path, create=True, trace=trace)
    except StoreBusyError:
        raise
    except StoreError:
        return _anew(path, trace)
    if not _of_another(store, manifest.name):
        return store
    store.close()
    return _anew(path, trace)


def _anew(path: Path, trace: Callable[[str], None] | None) -> Store:
    path.unlink(missing_ok=True)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)
    return Store(path, create=True, trace=trace)


def _of_another(store: Store, name: str) -> bool:
    """Whether a manifest of another name has filled this store."""
    return bool(store.fetch("SELECT 1 FROM run_setting WHERE manifest IS NOT NULL AND manifest <> ?", [name]))


def is_known(path: Path) -> bool:
    """Whether a source reads this file; one that cannot be opened is none."""
    try:
        return sources.recognise(path) is not None
    except AnalyzerError:
        return False


def take_in(store: Store, manifest: Manifest) -> dict[str, str]:
    """Put exactly the manifest's files under its name, and count them as it says: store path -> path in the manifest.

    UsageFault when another manifest has claimed one of them in this store, or the name holds rows of other files.
    """
    labels: dict[str, str] = {}
    missing = []
    for raw in manifest.raw_files():
        sha256 = ingest.file_sha256(raw.path)
        label = _stored(store, manifest, raw, sha256, labels)
        if label is None:
            label = _label(store, manifest, raw)
            missing.append(ingest.Found(raw.path, label, named=True, manifest=manifest))
        labels[label] = raw.given
    _refuse_strangers(store, manifest, labels)
    total = sum(found.path.stat().st_size for found in missing)
    with diagnostics.progress("reading", total) as bar:
        ingest.ingest_files(store, missing, ingest.How(), bar.advance)
    for label in labels:
        store.relabel(label, manifest.name)
    ingest.apply_manifest(store, manifest)
    ingest.apply_defaults(store)
    with diagnostics.progress("deriving", None) as bar:
        store.derive(bar.advance)
    return labels


def _label(store: Store, manifest: Manifest, raw: RawFile) -> str:
    """The path under which a file is stored: as the manifest gives it in its own store, as reached in a shared one."""
    if store.path == own_path(manifest):
        return raw.given
    return os.path.relpath(raw.path)


def _stored(store: Store, manifest: Manifest, raw: RawFile, sha256: str, taken: dict[str, str]) -> str | None:
    """The path under which the store holds these bytes; not one that another file of the manifest has taken."""
    rows = store.fetch(
        "SELECT f.path, f.run, s.manifest FROM source_file AS f LEFT JOIN run_setting AS s ON s.run = f.run"
        " WHERE f.sha256 = ? AND f.records > 0 ORDER BY f.run = ? DESC, f.path",
        [sha256, manifest.name],
    )
    rows = [row for row in rows if row["path"] not in taken]
    if not rows:
        return None
    claimed = rows[0]["manifest"]
    if claimed is not None and claimed != manifest.name:
        raise UsageFault(
            f"{raw.given} is already part of run {claimed} in {store.path}",
            "one file belongs to one manifest in a store; name another --store",
        )
    return str(rows[0]["path"])


def _refuse_strangers(store: Store, manifest: Manifest, labels: dict[str, str]) -> None:
    rows = store.fetch("SELECT path FROM source_file WHERE run = ? AND records > 0 ORDER BY path", [manifest.name])
    strangers = [row["path"] for row in rows if row["path"] not in labels]
    if not strangers:
        return
    if store.path == own_path(manifest):
        for path in strangers:
            store.remove(path)
        return
    raise UsageFault(
        f"run {manifest.name} of {store.path} also holds {strangers[0]}, which {manifest.path} does not list",
        "list it in the manifest, or name another --store",
    )


def refused_rows(store: Store, labels: dict[str, str]) -> int:
    """How many records of these files were refused."""
    rows = store.fetch(
        "SELECT coalesce(sum(refused), 0)::BIGINT AS n FROM source_file WHERE path IN (SELECT unnest($labels))",
        {"labels": list(labels)},
    )
    return int(rows[0]["n"])


def check_readable(manifest: Manifest) -> None:
    """SourceError for a listed file that does not exist or that no source knows."""
    for raw in manifest.raw_files():
        if not raw.path.is_file():
            raise SourceError(f"{raw.given}, listed by {manifest.path}, does not exist", "mend artifact.raw")
        if sources.recognise(raw.path) is None:
            raise SourceError(
                f"{raw.given}, listed by {manifest.path}, is of no format that a source knows",
                "`analyze sources` lists the formats",
            )
