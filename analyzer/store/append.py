"""Rows on their way into base tables, one transaction a file."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import duckdb

from analyzer.store.spans import put_copies_back

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class FileRecord:
    """What was read from one file, for the ledger."""

    path: str
    run: str | None
    bytes: int
    sha256: str
    source: str
    tool: str | None = None
    records: int = 0
    refused: int = 0
    duplicates: int = 0
    note: str | None = None
    set_aside: int = 0
    dropped: int = 0
    reading: str = ""


_TABLES = ("span", "event", "tool_figure", "refused")


@dataclass(slots=True)
class Append:
    """One file's rows. Leaving the `with` block normally commits all of them, anything else none."""

    con: duckdb.DuckDBPyConnection
    record: FileRecord
    _counts: dict[str, int] = field(default_factory=dict)

    def __enter__(self) -> Self:
        self.con.execute("SET preserve_insertion_order = true")
        self.con.execute("BEGIN")
        put_copies_back(self.con)
        _hand_over(self.con, self.record.path, self.record.sha256)
        remove_file(self.con, self.record.path)
        return self

    def add(self, table: str, rows: pa.Table, select: str = "") -> int:
        """Append rows to one base table; how many there were.

        `rows` are Arrow columns under the table's names; with `select` that SELECT is run over them (as `input`).
        """
        if table not in _TABLES:
            raise ValueError(f"{table} takes no rows from a source")
        # The database finds it by its Python name, which no table bears: what is registered in a transaction is held
        # until that ends. As a CTE it is `input` whatever else in the store may be called so.
        _analyze_rows_of_this_source = rows
        row = self.con.execute(
            f"INSERT INTO {table} BY NAME WITH input AS (SELECT * FROM _analyze_rows_of_this_source)"
            f" SELECT * FROM ({select or 'SELECT * FROM input'})"
        ).fetchone()
        added = int(row[0]) if row else 0
        self._counts[table] = self._counts.get(table, 0) + added
        return added

    def add_columns(
        self,
        table: str,
        rows: pa.Table,
        *,
        stage: str,
        shapes: str,
        judge: Callable[[pa.Table], pa.Table],
        select: str,
        counts: str,
        left: str,
    ) -> tuple[dict[str, int], pa.Table]:
        """Append what can be read as whole columns: the only row of `counts`, and what was left.

        `stage` is a SELECT over `rows` (as `input`) and kept as the table `staged`; the answer of `judge` to `shapes`,
        a SELECT over it, is the table `judged`; `select`, `counts` and `left` are SELECTs over both.
        """
        with self._aside() as con, _registered(con, "input", rows):
            con.execute(f"CREATE TEMP TABLE staged AS {stage}")
            with _registered(con, "judged", judge(con.sql(shapes).to_arrow_table())):
                found = con.sql(select).to_arrow_table()
                (counted,) = con.sql(counts).to_arrow_table().to_pylist()
                over = con.sql(left).to_arrow_table()
        with self._in_any_order():
            self.add(table, found)
        return counted, over

    @contextmanager
    def _in_any_order(self) -> Iterator[None]:
        """Each thread writes where it likes: columns say themselves where their rows stand."""
        self.con.execute("SET preserve_insertion_order = false")
        try:
            yield
        finally:
            with suppress(duckdb.Error):  # a connection that has failed takes no statement before its rollback
                self.con.execute("SET preserve_insertion_order = true")

    @contextmanager
    def _aside(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A connection outside of the file's transaction, which would hold all that it ever made until its end."""
        con = self.con.cursor()
        try:
            yield con
        finally:
            con.close()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            roll_back(self.con)
            return
        refused = self._counts.get("refused", 0)
        self.record = replace(self.record, refused=refused)
        _write_record(self.con, self.record)
        self.con.execute("DELETE FROM store_state WHERE key = 'derived'")
        self.con.execute("COMMIT")


@contextmanager
def _registered(con: duckdb.DuckDBPyConnection, name: str, rows: pa.Table) -> Iterator[None]:
    con.register(name, rows)
    try:
        yield
    finally:
        con.unregister(name)


def roll_back(con: duckdb.DuckDBPyConnection) -> None:
    """End a transaction without a trace. A database that has failed has done so itself."""
    with suppress(duckdb.Error):
        con.execute("ROLLBACK")


def remove_file(con: duckdb.DuckDBPyConnection, path: str) -> None:
    """Take out every row that came from a path."""
    for table in _TABLES:
        con.execute(f"DELETE FROM {table} WHERE source_file = ?", [path])
    con.execute("DELETE FROM source_file WHERE path = ?", [path])


def _hand_over(con: duckdb.DuckDBPyConnection, path: str, sha256: str) -> None:
    """Give a path's rows to a copy of its file, if the ledger knows one: these are its rows as well.

    Not where the same bytes are read again in another way: then the copy goes with them.
    """
    row = con.execute(
        "SELECT c.path, f.records FROM source_file AS f JOIN source_file AS c ON c.sha256 = f.sha256"
        " AND c.run IS NOT DISTINCT FROM f.run AND c.path <> f.path"
        " WHERE f.path = ? AND f.sha256 <> ? AND f.records > 0 AND c.records = 0 ORDER BY c.path LIMIT 1",
        [path, sha256],
    ).fetchone()
    if row is None:
        return
    heir, records = row
    for table in _TABLES:
        con.execute(f"UPDATE {table} SET source_file = ? WHERE source_file = ?", [heir, path])
    con.execute("DELETE FROM source_file WHERE path = ?", [heir])
    con.execute("UPDATE source_file SET path = ? WHERE path = ?", [heir, path])
    con.execute(
        "UPDATE source_file SET note = ? WHERE records = 0 AND path <> ? AND sha256 ="
        " (SELECT sha256 FROM source_file WHERE path = ?)",
        [copy_note(heir, records), heir, heir],
    )


def copy_note(original: str, records: int) -> str:
    """What the ledger says of a file whose bytes stand there under another path."""
    return f"same bytes as {original}: its {records} records were not taken twice"


def _write_record(con: duckdb.DuckDBPyConnection, record: FileRecord) -> None:
    times = con.execute(
        "SELECT min(t), max(t) FROM (SELECT start_ns AS t FROM span WHERE source_file = $path UNION ALL"
        " SELECT end_ns FROM span WHERE source_file = $path UNION ALL"
        " SELECT time_ns FROM event WHERE source_file = $path AND clock_kind <> 'duration') WHERE t > 0",
        {"path": record.path},
    ).fetchone() or (None, None)
    values: list[Any] = [
        record.path, record.run, record.bytes, record.sha256, record.source, record.tool, record.records,
        record.records - record.refused - record.duplicates - record.set_aside, record.set_aside, record.refused,
        record.duplicates, *times, record.note, record.set_aside, record.dropped, record.reading,
    ]  # fmt: skip
    con.execute(f"INSERT INTO source_file VALUES ({', '.join('?' * len(values))})", values)
