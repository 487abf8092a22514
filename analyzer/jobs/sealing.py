"""`analyze freeze`, `analyze seal` and `analyze manifest new`: the manifest before and after a run."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer import __version__, diagnostics, ingest, manifest
from analyzer.errors import EvidenceError, UsageFault
from analyzer.jobs import run_store
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable

    from analyzer.manifest import Manifest


def freeze(path: str, post_hoc: str | None) -> str:
    """Write the contract's hash into the manifest; the hash. DriftError when it was frozen otherwise."""
    declared = manifest.load(path)
    document = manifest.freeze(declared, now=datetime.now(UTC), post_hoc=post_hoc)
    manifest.write(document, declared.path)
    return str(document["artifact"]["contract_sha256"])


def seal(path: str, *, post_hoc: str | None, no_promise: bool, trace: Callable[[str], None] | None) -> dict[str, Any]:
    """Bind the manifest to the bytes of its raw files and write it; the sealed document.

    UsageFault where it promises nothing and nobody said so: the contract is fixed from here on.
    """
    declared = _with_files(manifest.load(path))
    run_store.check_readable(declared)
    if not manifest.declared(declared.document, "measurement", "slo") and not no_promise:
        raise UsageFault(
            f"{path} promises nothing: measurement.slo is empty, and sealing fixes it",
            "write the promise first (docs/manifest.md has an example), or say --no-promise",
        )
    with run_store.open_store(declared, None, trace) as store:
        labels = run_store.take_in(store, declared)
        rows = store.fetch("SELECT path, records, first_ns, last_ns, source, sha256 FROM source_file ORDER BY path")
    facts = {
        labels[row["path"]]: manifest.RawFacts(
            row["records"], row["first_ns"], row["last_ns"], row["source"], row["sha256"]
        )
        for row in rows
        if row["path"] in labels
    }
    with diagnostics.progress("hashing", sum(raw.path.stat().st_size for raw in declared.raw_files())) as bar:
        document = manifest.seal(
            declared,
            facts,
            now=datetime.now(UTC),
            analyzer_version=__version__,
            post_hoc=post_hoc,
            progress=bar.advance,
        )
    manifest.write(document, declared.path)
    return document


def _with_files(declared: Manifest) -> Manifest:
    """A manifest that lists no raw file takes those beside it that a source knows."""
    if declared.raw_files():
        return declared
    folder = declared.path.parent
    beside = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and path.resolve() != declared.path.resolve() and run_store.is_known(path)
    )  # fmt: skip
    if not beside:
        raise UsageFault(
            f"{declared.path} lists no raw file and none lies beside it", "put the run's files beside run.json"
        )
    document = {
        **declared.document,
        "artifact": {**declared.document.get("artifact", {}), "raw": [{"path": p} for p in beside]},
    }
    return manifest.Manifest(declared.path, document)


def begin(store_path: str, run_name: str | None, out: Path, trace: Callable[[str], None] | None) -> dict[str, Any]:
    """A manifest for a run of the store: what the data shows is filled in; written to `out`, which must not exist."""
    if out.exists():
        raise UsageFault(f"{out} exists", "name another file with --out, or move it away")
    if not out.parent.is_dir():
        raise UsageFault(f"{out.parent} does not exist", "make the folder first")
    with Store(store_path, trace=trace) as store:
        ingest.apply_defaults(store)
        store.derive()
        document = manifest.skeleton(_facts(store, _only_run(store, run_name), out.parent))
    manifest.write(document, out)
    return document


def _only_run(store: Store, name: str | None) -> str:
    runs = store.runs()
    if name is None and len(runs) == 1:
        return runs[0]
    if name is None:
        raise UsageFault(
            f"{store.path} holds {len(runs)} runs", f"say which with --run: {', '.join(runs) or 'none yet'}"
        )
    if name not in runs:
        raise UsageFault(f"{store.path} holds no run {name}", f"it holds {', '.join(runs) or 'none'}")
    return name


def _lengths(row: dict[str, Any], side: str) -> dict[str, int] | None:
    if not row[f"with_{side}"]:
        return None
    return {level: int(row[f"{side}_{level}"]) for level in ("p50", "p95", "max")}


def _facts(store: Store, run: str, folder: Path) -> dict[str, object]:
    """What the data shows of a manifest's fields, by dotted path."""
    rows = store.fetch("FROM workload WHERE run = ?", [run])
    if not rows:
        raise EvidenceError(f"run {run} has no request to describe", "ingest files that hold requests")
    row = rows[0]
    facts: dict[str, object] = {"name": run, "measurement.population.unit": "request"}
    found = {
        "model.id": row["model"] if row["models"] == 1 else None,
        "workload.input_tokens": _lengths(row, "input"),
        "workload.output_tokens": _lengths(row, "output"),
        "workload.streaming": row["streamed"],
    }
    facts |= {field: value for field, value in found.items() if value is not None}
    engine = store.fetch("SELECT DISTINCT 'vllm' AS engine FROM span WHERE run = ? AND scope LIKE 'vllm%'", [run])
    if engine:
        facts["runtime.engine"] = engine[0]["engine"]
    facts["artifact.raw"] = _raw(store, run, folder)
    return facts


def _raw(store: Store, run: str, folder: Path) -> list[dict[str, str]]:
    """Files of the run that lie below the manifest's folder, as it must name them."""
    here = folder.resolve()
    listed = []
    for row in store.fetch("SELECT path FROM source_file WHERE run = ? AND records > 0 ORDER BY path", [run]):
        real = Path(row["path"]).resolve()
        if not real.is_relative_to(here):
            raise UsageFault(
                f"{row['path']} does not lie below {folder}",
                "write run.json into the folder above them; runs that share a store want names: ingest --run NAME",
            )
        listed.append({"path": real.relative_to(here).as_posix()})
    return listed
