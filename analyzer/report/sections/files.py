"""What was read, from which bytes, and what was refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.report import numbers, sentences, table
from analyzer.report.section import Section
from analyzer.report.table import Cell, Column, Table

if TYPE_CHECKING:
    from analyzer.report.evidence import Evidence, Row

MOST = 100


def section(evidence: Evidence) -> Section:
    """Files against their seal, and each record that could not be taken."""
    answer = evidence.ask("source_file")
    refused = evidence.ask("refused", columns="source_file, position, reason")
    sub = "records = kept + set aside + refused + duplicates."
    tables = [_files(evidence, answer.rows, answer.sql)]
    if refused.rows:
        tables.append(_refused(refused.rows, refused.sql))
    else:
        sub += " Nothing was refused."
    rules = evidence.ask("rule_file", columns="name, sha256", order="position")
    if rules.rows:
        tables.append(_rules(rules.rows, rules.sql))
        sub += f" Spans were read by rules of {sentences.plural(len(rules.rows), 'file')} before the built-in ones."
    empty = "" if answer.rows or evidence.facts.raw_files else "No file is listed for this run."
    return Section("files", "Files", heading(answer.rows, refused.rows), sub, tuple(tables), empty=empty)


def heading(files: tuple[Row, ...], refused: tuple[Row, ...]) -> str:
    """How many files were read, and whether all of their records were taken."""
    read = sentences.plural(len(files), "file")
    if refused:
        return f"{sentences.plural(len(refused), 'record')} of {read} could not be taken"
    return f"{read} read, no record refused"


def _files(evidence: Evidence, rows: tuple[Row, ...], sql: str) -> Table:
    sealed = {path: (size, digest, count) for path, size, digest, count in evidence.facts.raw_files}
    columns = (
        Column("file", "path", numeric=False),
        Column("source", "source", numeric=False),
        Column("bytes", "bytes"),
        Column("SHA-256", "sha256", numeric=False),
        Column("sealed", "sealed", numeric=False),
        *(
            Column(label, key)
            for label, key in (
                ("records", "records"),
                ("kept", "kept"),
                ("set aside", "set_aside"),
                ("refused", "refused"),
                ("duplicates", "duplicates"),
            )
        ),
        Column("note", "note", numeric=False),
    )
    body = [_file(row, sealed.get(row["path"])) for row in rows]
    known = {row["path"] for row in rows}
    blank = table.words(None)
    for path, size, digest, _ in evidence.facts.raw_files:
        if path not in known:
            unread = table.words("listed by the manifest, not in the store", kind="bad")
            body.append(
                (
                    table.words(path, kind="code"),
                    blank,
                    table.number(size),
                    _digest(digest),
                    blank,
                    *[blank] * 5,
                    unread,
                )
            )
    return Table("table-files", "Raw files", columns, tuple(body), sql, ())


def _file(row: Row, sealed: tuple[Any, Any, Any] | None) -> tuple[Cell, ...]:
    tool = f"{row['source']}, {row['tool']}" if row["tool"] else row["source"]
    return (
        table.words(row["path"], kind="code"),
        table.words(tool),
        table.number(row["bytes"]),
        _digest(row["sha256"]),
        _seal(row, sealed),
        *(
            table.number(row[key], kind="bad" if key == "refused" else "")
            for key in ("records", "kept", "set_aside", "refused", "duplicates")
        ),
        table.words(row["note"], kind="prose"),
    )


def _digest(digest: str | None) -> Cell:
    return Cell(f"{digest[:12]}…", digest, "code", digest) if digest else table.words(None)


def _seal(row: Row, sealed: tuple[Any, Any, Any] | None) -> Cell:
    """Whether the bytes in the store are those of the seal."""
    if sealed is None:
        return table.words("not listed", kind="open")
    if sealed[1] is None:
        return table.words("no", kind="open")
    return table.words("same bytes") if sealed[1] == row["sha256"] else table.words("other bytes", kind="bad")


def _refused(rows: tuple[Row, ...], sql: str) -> Table:
    columns = (
        Column("file", "source_file", numeric=False),
        Column("position", "position", numeric=False),
        Column("why", "reason", numeric=False),
    )
    body = tuple(
        (
            table.words(row["source_file"], kind="code"),
            table.words(row["position"]),
            table.words(row["reason"], kind="prose"),
        )
        for row in rows[:MOST]
    )
    note = f"{numbers.count(len(rows) - MOST)} more are in summary.json." if len(rows) > MOST else ""
    return Table("table-refused", "Records that could not be taken", columns, body, sql, (), note)


def _rules(rows: tuple[Row, ...], sql: str) -> Table:
    columns = (Column("file", "name", numeric=False), Column("SHA-256", "sha256", numeric=False))
    body = tuple((table.words(row["name"], kind="code"), _digest(row["sha256"])) for row in rows)
    note = "Their text is in summary.json; FROM span_rule lists every rule that was tried."
    return Table("table-rules", "Rules of spans that were added to the built-in ones", columns, body, sql, (), note)
