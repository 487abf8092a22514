"""`analyze ingest`: files into a store, and the ledger of what was read."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer import diagnostics, ingest
from analyzer.errors import SourceError, UsageFault
from analyzer.ingest import How, Limits
from analyzer.jobs import rule_files
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["How", "Ledger", "Limits", "run"]

_AS_USUAL = How()

_LEDGER = """
SELECT path, source, run, records, kept, set_aside, refused, duplicates, dropped, note
FROM source_file WHERE path IN (SELECT unnest($labels)) ORDER BY path
"""


@dataclass(frozen=True, slots=True)
class Ledger:
    """What became of each file: rows of source_file for those read, and the rest by name."""

    rows: list[dict[str, Any]]
    unknown: list[str]
    lookalikes: list[tuple[str, str]]
    unchanged: int
    refusals: list[dict[str, Any]]


def run(
    paths: Sequence[str],
    store_path: str,
    *,
    how: How = _AS_USUAL,
    rules: Sequence[str] | None = None,
    trace: Callable[[str], None] | None = None,
) -> Ledger:
    """Read everything the paths mean into the store and derive what follows. SourceError when nothing was known.

    `rules` are files of rules that take the place of those the store has; None leaves them as they are.
    """
    rule_texts = None if rules is None else rule_files.read(rules)
    run_name = how.run
    if run_name is not None and (not run_name.strip() or not run_name.isprintable()):
        raise UsageFault("--run is empty or holds characters that do not print", "give the run a name")
    files, faults = ingest.find(paths, skip=[Path(store_path), Path(store_path + ".wal")])
    for fault in faults:
        diagnostics.note(fault)
    with Store(store_path, create=True, trace=trace) as store:
        total = sum(file.path.stat().st_size for file in files)
        before = _runs_of_files(store)
        with diagnostics.progress("reading", total) as bar:
            outcomes = ingest.ingest_files(store, files, how, bar.advance)
        if not outcomes:
            raise SourceError(f"there is no file to read in {', '.join(paths)}", "name the files themselves")
        if all(outcome.state == "unknown" for outcome in outcomes):
            raise SourceError(_none_known(files, outcomes, paths), "`analyze sources` lists the formats")
        _tell_of_moves(before, _runs_of_files(store))
        if rule_texts is not None:
            _use_rules(store, rule_texts)
        _settle(store, files, run_name)
        _warn_of_mixing(store)
        with diagnostics.progress("deriving", None) as bar:
            store.derive(bar.advance)
        return _ledger(store, outcomes)


def _runs_of_files(store: Store) -> dict[str, str]:
    return {row["path"]: row["run"] for row in store.fetch("SELECT path, run FROM source_file")}


def _tell_of_moves(before: dict[str, str], after: dict[str, str]) -> None:
    """A file is in one run: read into another it is gone from the first, which nobody may have meant."""
    moves = Counter((run, after[path]) for path, run in before.items() if after.get(path, run) != run)
    for (old, new), count in sorted(moves.items()):
        many = "1 file" if count == 1 else f"{count} files"
        diagnostics.note(
            f"{many} moved from run {old} to run {new}: a file is in one run; a copy of it may be in another"
        )


def _use_rules(store: Store, files: Sequence[tuple[str, str]]) -> None:
    """Use these rule files, and say which of the store's they take the place of."""
    had = [row["name"] for row in store.fetch("SELECT name FROM rule_file ORDER BY position")]
    store.use_rules(files)
    gone = [name for name in had if name not in {name for name, _ in files}]
    if gone:
        diagnostics.note(f"given up: the rules of {', '.join(gone)}; every run of the store is read without them")


def _warn_of_mixing(store: Store) -> None:
    """Files of several folders under the name that nobody gave are likely several experiments."""
    rows = store.fetch("SELECT path FROM source_file WHERE run = 'default' AND records > 0")
    folders = sorted({str(Path(row["path"]).parent) for row in rows})
    if len(folders) > 1:
        diagnostics.note(
            f"run default now holds files of {len(folders)} folders, and its numbers are over all of them; where they"
            " are runs of their own, name each with --run"
        )


def _none_known(files: Sequence[ingest.Found], outcomes: Sequence[ingest.FileOutcome], paths: Sequence[str]) -> str:
    """That nothing could be read, and why, where one can tell."""
    empty = all(file.path.stat().st_size == 0 for file in files)
    what = "nothing but empty files" if empty else "no file of a format that a source knows"
    told = next((f"; {outcome.label}: {outcome.note}" for outcome in outcomes if outcome.note), "")
    return f"{', '.join(paths)}: {what}{told}"


def _settle(store: Store, files: Sequence[ingest.Found], run_name: str | None) -> None:
    """Each run counts as the manifest that lists its files says; without one, by the defaults."""
    for declared in {id(f.manifest): f.manifest for f in files if f.manifest}.values():
        if run_name is None:
            ingest.apply_manifest(store, declared)
    ingest.apply_defaults(store)


def _ledger(store: Store, outcomes: Sequence[ingest.FileOutcome]) -> Ledger:
    labels = [outcome.label for outcome in outcomes]
    refusals = store.fetch(
        "SELECT source_file, position, reason FROM refused WHERE source_file IN (SELECT unnest($labels))"
        " ORDER BY source_file, rowid LIMIT 5",
        {"labels": labels},
    )
    return Ledger(
        store.fetch(_LEDGER, {"labels": labels}),
        [outcome.label for outcome in outcomes if outcome.state == "unknown"],
        [(outcome.label, outcome.note) for outcome in outcomes if outcome.state == "unknown" and outcome.note],
        sum(outcome.state == "unchanged" for outcome in outcomes),
        refusals,
    )
