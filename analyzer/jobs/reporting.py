"""`analyze report --manifest`: verify, take in what is missing, write the page and its summary."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import __version__, diagnostics, manifest, report
from analyzer.errors import UsageFault
from analyzer.jobs import rule_files, run_store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analyzer.manifest import Difference, Manifest


@dataclass(frozen=True, slots=True)
class Written:
    """What a report left on disk, and the verdicts it states: (promise, verdict)."""

    page: Path
    summary: Path
    verdicts: list[tuple[str, str]]


def differences(path: str) -> tuple[Manifest, list[Difference]]:
    """A manifest, and how the run on disk differs from what it has sealed."""
    declared = manifest.load(path)
    total = sum(raw.path.stat().st_size for raw in declared.raw_files() if raw.path.is_file())
    with diagnostics.progress("hashing", total) as bar:
        return declared, manifest.verify(declared, run_store.is_known, bar.advance)


def write(
    declared: Manifest,
    *,
    store_path: str | None,
    out: str | None,
    rules: Sequence[str] = (),
    trace: Callable[[str], None] | None,
) -> Written:
    """The report of a verified manifest. UsageFault when the page cannot be written where it is wanted.

    `rules` are the files of rules to read spans by; without any, a named store keeps those that it has.
    """
    rule_texts = rule_files.read(rules)
    page = Path(out) if out else declared.path.with_suffix(".html")
    if page.is_dir():
        raise UsageFault(f"{page} is a directory", "name a file with --out")
    if not page.parent.is_dir():
        raise UsageFault(f"{page.parent} does not exist", "make the folder first, or name another --out")
    summary = page.with_name(page.stem + ".summary.json")
    _refuse_to_overwrite(declared, (page, summary))
    with run_store.open_store(declared, store_path, trace) as store:
        # The store beside the manifest is a cache: what it holds follows from the manifest and this call alone.
        if rule_texts or not store_path:
            store.use_rules(rule_texts)
        labels = run_store.take_in(store, declared)
        refused = run_store.refused_rows(store, labels)
        built = report.build(store, _facts(declared, labels))
    if refused:
        diagnostics.note(f"{refused} records could not be taken; the report lists them")
    _replace({page: built.html, summary: report.to_json(built.summary)})
    return Written(page, summary, list(built.verdicts))


def stale_page(declared: Manifest, out: str | None) -> str:
    """A word on a page that an earlier report left where this one would stand."""
    page = Path(out) if out else declared.path.with_suffix(".html")
    return f" ({page} is from before they differed)" if page.is_file() else ""


def _facts(declared: Manifest, labels: dict[str, str]) -> report.ReportFacts:
    artifact = declared.artifact
    return report.ReportFacts(
        run=declared.name,
        manifest=declared.document,
        run_id=declared.run_id,
        status="verified",
        status_note="every raw file and the contract are those that were sealed",
        post_hoc=list(artifact.get("post_hoc") or ()),
        unknowns=declared.unknowns(),
        analyzer_version=__version__,
        raw_files=[(raw.given, raw.bytes, raw.sha256, raw.rows) for raw in declared.raw_files()],
        labels=labels,
    )


def _refuse_to_overwrite(declared: Manifest, targets: tuple[Path, ...]) -> None:
    kept = {raw.path: "a raw file" for raw in declared.raw_files()} | {declared.path.resolve(): "the manifest"}
    for target in targets:
        if target.exists() and not target.is_file():
            raise UsageFault(f"{target} is no regular file", "name another --out")
        if (what := kept.get(target.resolve())) is not None:
            raise UsageFault(f"{target} is {what} of this run and would be lost", "name another --out")


def _replace(texts: dict[Path, str]) -> None:
    """Write files, all of them whole or none at all."""
    drafts = {path: path.with_name(f".{path.name}.{secrets.token_hex(4)}") for path in texts}
    path = next(iter(texts))
    try:
        for path, draft in drafts.items():
            with draft.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(texts[path])
                stream.flush()
                os.fsync(stream.fileno())
        for path, draft in drafts.items():
            draft.replace(path)
    except OSError as fault:
        raise UsageFault(f"{path} cannot be written: {fault.strerror}", "name another --out") from fault
    finally:
        for draft in drafts.values():
            with suppress(OSError):
                draft.unlink(missing_ok=True)
