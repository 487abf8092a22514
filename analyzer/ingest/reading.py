"""Reading files into a store: each whole or not at all, each once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from analyzer import manifest, sources
from analyzer.errors import ManifestError, SourceError, UsageFault
from analyzer.ingest.mapping_file import load_mapping
from analyzer.ingest.rotating import Joint, joints
from analyzer.store import FileRecord, copy_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from analyzer.ingest.finding import Found
    from analyzer.store import Append, Store

_BLOCK = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """What became of one file. state: read, unchanged, copy (of another path), unknown (no source knows it)."""

    label: str
    state: str
    source: str = ""
    note: str = ""


def file_sha256(path: Path) -> str:
    """SHA-256 of a file's bytes, hex. SourceError when it cannot be read."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except OSError as fault:
        raise SourceError(f"{path} cannot be read: {fault.strerror}", "check the path and its permissions") from fault
    return digest.hexdigest()


def _already(store: Store, label: str, sha256: str, run: str, reading: str) -> FileOutcome | None:
    """What the store knows of these bytes: unchanged under this path, or a copy of another."""
    rows = store.fetch(
        "SELECT path, run, source, records, reading FROM source_file WHERE sha256 = ? AND run IS NOT DISTINCT FROM ?"
        " ORDER BY path",
        [sha256, run],
    )
    own = next((row for row in rows if row["path"] == label), None)
    if own and own["reading"] == reading:
        return FileOutcome(label, "unchanged", own["source"])
    if own and own["records"] > 0:
        return None  # what was left out, or joined, the last time is not what is asked for now
    for row in rows:
        if row["path"] != label and row["records"] > 0:
            return FileOutcome(label, "copy", row["source"], row["path"])
    return None


def add_frame(append: Append, frame: sources.Frame | sources.Columns) -> None:
    """Append what a source gave; what cannot be taken of whole columns goes back to it."""
    if isinstance(frame, sources.Frame):
        append.add(frame.table, frame.rows, frame.select)
        return
    taken = append.add_columns(
        frame.table,
        frame.rows,
        stage=frame.stage,
        shapes=frame.shapes,
        judge=frame.judge,
        select=frame.select,
        counts=frame.counts,
        left=frame.left,
    )
    frame.take(*taken)


def _read(
    store: Store,
    found: Found,
    source: sources.Source,
    options: sources.Options,
    sha256: str,
    reading: str,
    advance: Callable[[int], None],
) -> None:
    size = found.path.stat().st_size
    record = FileRecord(found.label, options.run, size, sha256, source.name, reading=reading)
    records = set_aside = dropped = 0
    notes: list[str] = []
    with store.append(record) as append:
        for piece in source.read(found.path, options):
            for frame in piece.frames:
                add_frame(append, frame)
            records += piece.records
            set_aside += piece.set_aside
            dropped += piece.dropped
            notes += piece.notes
            append.record = replace(
                append.record,
                records=records,
                set_aside=set_aside,
                dropped=dropped,
                tool=piece.tool or append.record.tool,
                note="; ".join(notes) or None,
            )
            advance(piece.bytes_read)


def _copy(store: Store, found: Found, run: str, sha256: str, reading: str, original: FileOutcome) -> None:
    """A copy is written into the ledger, with none of its records taken a second time."""
    row = store.fetch("SELECT records FROM source_file WHERE path = ?", [original.note])[0]
    record = FileRecord(
        found.label, run, found.path.stat().st_size, sha256, original.source,
        records=0, note=copy_note(original.note, row["records"]), reading=reading,
    )  # fmt: skip
    with store.append(record):
        pass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a file may ask of memory; None leaves a limit where the sources put it."""

    max_line_bytes: int | None = None
    max_document_bytes: int | None = None
    max_depth: int | None = None

    def chosen(self) -> dict[str, Any]:
        """The limits that are not left where they are."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name)) is not None}


@dataclass(frozen=True, slots=True)
class How:
    """How files are read: into which run, by which source, with or without content and named attributes.

    `mapping` is the path of a mapping file, through which every file is read that was named itself.
    """

    run: str | None = None
    source: str | None = None
    keep_content: bool = False
    drop: tuple[str, ...] = ()
    limits: Limits = Limits()
    mapping: str | None = None

    def reading(self, joint: Joint, reader: sources.Source) -> str:
        """All of it that changes what a file gives, in words."""
        parts = ["content kept" if self.keep_content else "content left out"]
        if own := getattr(reader, "reading", ""):
            parts.append(own)
        if self.drop:
            parts.append("left out by name: " + ", ".join(sorted(set(self.drop))))
        parts += [f"{name} {value}" for name, value in self.limits.chosen().items()]
        if joint.begins_inside_line:
            parts.append("first line read with the file before")
        if joint.line_rest:
            parts.append("last line read with its rest in the next file")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class _Planned:
    """A file with the source that reads it, None when none knows it."""

    found: Found
    reader: sources.Source | None
    joint: Joint


def ingest_files(
    store: Store,
    files: Sequence[Found],
    how: How = How(),
    advance: Callable[[int, str], None] = lambda _done, _what: None,
) -> list[FileOutcome]:
    """Read files into the store, one transaction each; what became of each, in order.

    SourceError, before anything is read, when a file that was named itself is of no known format.
    """
    planned = _plan(files, how)
    outcomes = []
    done = 0
    for one in planned:

        def report(read: int, before: int = done, label: str = one.found.label) -> None:
            advance(before + read, label)

        report(0)
        outcomes.append(_one(store, one, how, report))
        done += one.found.path.stat().st_size
    return outcomes


def _plan(files: Sequence[Found], how: How) -> list[_Planned]:
    """Each file with its source. SourceError when a file that was named itself is of no known format."""
    mapped = _through_mapping(files, how)
    readers = {found.path: mapped or _reader(found, how) for found in files}
    limit = how.limits.max_line_bytes or sources.Options("").max_line_bytes
    joined = joints(files, readers, limit)
    planned = []
    for found in files:
        joint, reader = joined.get(found.path, (Joint(), readers[found.path]))
        if reader is None and found.named:
            raise SourceError(
                _unknown(found),
                "`analyze sources` lists the formats; `analyze sources suggest` drafts a mapping for --map, and"
                " docs/event-log.md has a format that any tool can write",
            )
        planned.append(_Planned(found, reader, joint))
    return planned


def _through_mapping(files: Sequence[Found], how: How) -> sources.Source | None:
    """The source that the mapping makes of each file; None where nobody named a mapping."""
    if how.mapping is None:
        return None
    if how.source:
        raise UsageFault("a file is read through a mapping or by a source, not both", "leave --source or --map out")
    mapped = sources.Mapped(load_mapping(how.mapping))
    for found in files:
        if not found.named:
            raise UsageFault(
                f"{found.label} was not named itself, and a mapping is for files that are",
                "name the files, not a folder",
            )
    return mapped


def _reader(found: Found, how: How) -> sources.Source | None:
    return sources.named(how.source) if how.source else sources.recognise(found.path)


def _unknown(found: Found) -> str:
    """That no source knows a file, and why, where one can tell."""
    why = sources.explain(found.path)
    said = f"{found.label} is of no format that a source knows"
    return f"{said}: {why}" if why else said


def _one(store: Store, planned: _Planned, how: How, advance: Callable[[int], None]) -> FileOutcome:
    found, reader = planned.found, planned.reader
    if reader is None:
        return FileOutcome(found.label, "unknown", note=sources.explain(found.path) or "")
    run = how.run or (found.manifest.name if found.manifest else "default")
    sha256 = file_sha256(found.path)
    reading = how.reading(planned.joint, reader)
    known = _already(store, found.label, sha256, run, reading)
    if known and known.state == "copy":
        _copy(store, found, run, sha256, reading, known)
    if known:
        return known
    if found.manifest and how.run is None:
        # Before its rows, so that a run that is cut short here is counted as its manifest says all the same.
        apply_manifest(store, found.manifest)
    options = sources.Options(
        found.label,
        run_forced=how.run,
        run_default=run,
        keep_content=how.keep_content,
        drop=how.drop,
        line_rest=planned.joint.line_rest,
        begins_inside_line=planned.joint.begins_inside_line,
        **how.limits.chosen(),
    )
    _read(store, found, reader, options, sha256, reading, advance)
    return FileOutcome(found.label, "read", reader.name)


def apply_manifest(store: Store, declared: manifest.Manifest) -> None:
    """Count a run as its manifest says. ManifestError for a rule that is not counted by."""
    method = manifest.declared(declared.document, "measurement", "method")
    if method not in (None, "nearest_rank"):
        raise ManifestError(f"{declared.path}: measurement.method {method} is not counted by", "say nearest_rank")
    settings = manifest.settings(declared)
    if settings.population_unit != "request":
        raise ManifestError(
            f"{declared.path}: measurement.population.unit {settings.population_unit} is not counted by",
            "say request; attempts stand beside requests in outcome_count",
        )
    levels = manifest.declared(declared.document, "measurement", "percentiles") or ()
    _apply(store, settings, declared.name, [round(level * 1_000_000) for level in levels])


def apply_defaults(store: Store) -> None:
    """Give every run of the store that has no manifest the default settings."""
    settled = {row["run"] for row in store.fetch("SELECT run FROM run_setting")}
    for run in store.runs():
        if run not in settled:
            _apply(store, manifest.default_settings(run))


def _apply(store: Store, declared: manifest.Settings, name: str | None = None, levels: Sequence[int] = ()) -> None:
    run = declared.run
    store.settings_rows(
        run,
        {
            "run_setting": [
                (run, declared.why or None, declared.window_start_ns, declared.window_end_ns, declared.window_width_ns,
                 declared.warmup_ns, declared.client_cancel, declared.max_attempts, declared.retry_budget_share,
                 declared.retry_idempotent, declared.entry, declared.population_unit, name),
            ],
            "tenant_key": [(run, place, key) for place, key in enumerate(declared.tenant_keys)],
            "length_bin": [(run, b.dimension, b.bin, b.low, b.high) for b in declared.length_bins],
            "slo": [
                (run, s.slo, s.condition, s.metric, s.op, s.limit_ms, s.target, s.confidence) for s in declared.slos
            ],
            "slo_select": [(run, *row) for row in declared.slo_select],
            "population_select": [(run, *row) for row in declared.population_select],
            "clock_relation": [
                (run, c.clock_a, c.clock_b, c.relation, c.offset_ns, c.error_ns) for c in declared.clock_relations
            ],
            "percentile_level": [(run, level) for level in levels],
            "load_point_range": [(run, *row) for row in declared.load_points],
            "boundary_policy": [(run, *row) for row in declared.boundary_policies],
        },
    )  # fmt: skip
