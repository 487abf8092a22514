"""Opening the store, and the few things that may be asked of it."""

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import duckdb

from analyzer.errors import EvidenceError, QueryError, StoreBusyError, StoreError
from analyzer.store import catalog, rules
from analyzer.store.append import Append, FileRecord, remove_file, roll_back
from analyzer.store.derive import comment_columns, derive, drop_derived, drop_tables
from analyzer.store.interrupting import Interruptible
from analyzer.store.memory import bound_memory
from analyzer.store.spans import put_copies_back, set_copies_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import TracebackType

LAYOUT = "7"
# The oldest shell that must be able to open a store.
STORAGE_VERSION = "v1.2.0"

_SETTING_TABLES = (
    "run_setting", "tenant_key", "length_bin", "slo", "slo_select", "population_select", "clock_relation",
    "load_point_range", "percentile_level", "boundary_policy",
)  # fmt: skip


def _busy(path: Path, fault: duckdb.Error) -> StoreBusyError:
    holder = re.search(r"held in (\S+)?.*?\(PID (\d+)\)", str(fault))
    who = f"process {holder.group(2)} ({Path(holder.group(1) or '').name})" if holder else "another process"
    return StoreBusyError(f"{path} is in use by {who}", "wait until it has finished, or name another --store")


# What a full disk, a lost one or too little memory raises; a commit that cannot be written is a TransactionException.
_OF_THE_MACHINE = (
    duckdb.IOException,
    duckdb.TransactionException,
    duckdb.FatalException,
    duckdb.OutOfMemoryException,
)


def _is_text(path: Path) -> bool:
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _raise_as_ours(fault: BaseException, path: Path) -> None:
    """Raise what the database says of its own file or of this machine as a fault that a user understands."""
    # Which of the two comes depends on who of us heard the signal first.
    if isinstance(fault, duckdb.InterruptException) or str(fault) == "Query interrupted":
        raise KeyboardInterrupt from fault
    if isinstance(fault, _OF_THE_MACHINE):
        said = str(fault).splitlines()[0]
        raise StoreError(
            f"{path} cannot be written or read: {said}", "nothing was half-written; make room, or name another --store"
        ) from fault


@contextmanager
def _as_query_error(what: str) -> Iterator[None]:
    """Raise what the database says of a user's SQL as one line."""
    try:
        yield
    except duckdb.InterruptException:
        raise
    except duckdb.Error as fault:
        lines = [line.strip() for line in str(fault).splitlines() if line.strip()]
        hint = next((line for line in lines[1:] if line.startswith(("Did you mean", "Candidate"))), "")
        raise QueryError(f"{what} does not run: {lines[0]}", hint) from fault


class Store:
    """One open store file. Use as a context manager.

    Raises StoreBusyError when another process writes it, StoreError when the file is none of ours.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        create: bool = False,
        read_only: bool = False,
        trace: Callable[[str], None] | None = None,
    ) -> None:
        self.path = Path(path)
        self._trace = trace
        if not _is_text(self.path):
            raise StoreError(f"{self.path} has a name that is no UTF-8", "name another --store")
        if self.path.is_dir():
            raise StoreError(f"{self.path} is a directory, not a store", "name a file with --store")
        fresh = not self.path.exists()
        if fresh and not create:
            raise StoreError(
                f"{self.path} does not exist", "run `analyze ingest` first, or name the store with --store"
            )
        if fresh and not self.path.parent.is_dir():
            raise StoreError(f"{self.path.parent} does not exist", "make the folder first, or name another --store")
        # Made by this process, and nothing of a file is in it yet.
        self._fresh = fresh
        self._con = duckdb.connect()
        self._ctrl_c: Interruptible | None = None
        try:
            made = f"STORAGE_VERSION '{STORAGE_VERSION}'" if fresh else "READ_WRITE"
            self._attach("READ_ONLY" if read_only else made)
            # Empty is also what a process leaves that was killed between making the file and filling it.
            if fresh or self._is_empty(create):
                self._build()
            else:
                self._check()
        except BaseException as fault:
            self._leave()
            _raise_as_ours(fault, self.path)
            raise

    def _attach(self, mode: str) -> None:
        bound_memory(self._con, self.path)
        # Absolute, so that no name is taken for memory or for an address.
        place = str(self.path.absolute()).replace("'", "''")
        try:
            self._con.execute(f"ATTACH '{place}' AS store ({mode})")
        except duckdb.Error as fault:
            said = str(fault).splitlines()[0]
            if "Could not set lock" in said:
                raise _busy(self.path, fault) from fault
            if "not a valid DuckDB database" in said:
                raise StoreError(f"{self.path} is no DuckDB file", "name another --store") from fault
            what = "made" if self._fresh else "opened"
            raise StoreError(f"{self.path} cannot be {what}: {said}", "name another --store") from fault
        self._con.execute("USE store")
        self._con.execute("SET TimeZone = 'UTC'")

    def _build(self) -> None:
        with self.transaction():
            self._con.execute(catalog.base_tables())
            self._con.execute("INSERT INTO store_state VALUES ('layout', ?)", [LAYOUT])
            comment_columns(self._con)

    def _is_empty(self, create: bool) -> bool:
        held = self._con.execute(
            "SELECT EXISTS (FROM duckdb_tables() WHERE database_name = 'store')"
            " OR EXISTS (FROM duckdb_views() WHERE database_name = 'store' AND NOT internal)"
        ).fetchone()
        if held == (True,):
            return False
        if not create:
            raise StoreError(
                f"{self.path} has nothing in it", "run `analyze ingest` first, or name the store with --store"
            )
        return True

    def _check(self) -> None:
        try:
            row = self._con.execute("SELECT value FROM store_state WHERE key = 'layout'").fetchone()
        except duckdb.CatalogException as fault:
            raise StoreError(f"{self.path} is a DuckDB file but no store of analyze", "name another --store") from fault
        if row is None or row[0] != LAYOUT:
            raise StoreError(
                f"{self.path} has layout {row[0] if row else 'unknown'}, this version reads {LAYOUT}",
                "ingest the raw files again into a new store",
            )

    def __enter__(self) -> Self:
        self._ctrl_c = Interruptible(self._con)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if value is None:
            self.close()
            return
        self._leave()
        _raise_as_ours(value, self.path)

    def _leave(self) -> None:
        """Let go of the file; one that was made here and took nothing in is taken away again."""
        with suppress(duckdb.Error):
            self.close()
        if self._fresh:
            for path in (self.path, self.path.with_name(self.path.name + ".wal")):
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file."""
        if self._ctrl_c:
            self._ctrl_c.close()
        self._con.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        self._con.execute("BEGIN")
        try:
            yield
        except BaseException:
            roll_back(self._con)
            raise
        self._con.execute("COMMIT")

    # -- reading ------------------------------------------------------------------------------------------------

    def fetch(self, query: str, parameters: Sequence[Any] | Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
        """Rows of a query of our own, as dictionaries."""
        if self._trace:
            self._trace(query)
        cursor = self._con.execute(query, parameters)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    def query(self, text: str) -> list[tuple[list[str], list[tuple[Any, ...]]]]:
        """Column names and rows of each statement of a user's. QueryError says what the database says, in one line."""
        if self._trace:
            self._trace(text)
        with _as_query_error("the query"):
            statements = self._con.extract_statements(text)
            if not statements:
                raise QueryError("there is no query in it", "write one, such as 'FROM percentile'")
            answers = []
            for statement in statements:
                cursor = self._con.execute(statement)
                answers.append(([column[0] for column in cursor.description or ()], cursor.fetchall()))
        return answers

    def batches(
        self, query: str, parameters: Mapping[str, Any] | None = None, size: int = 10_000
    ) -> Iterator[list[tuple[Any, ...]]]:
        """Rows of a query of our own, some at a time; the store may be asked nothing else until all are read."""
        if self._trace:
            self._trace(query)
        cursor = self._con.execute(query, parameters)
        while rows := cursor.fetchmany(size):
            yield rows

    def keep(self, name: str, query: str, parameters: Mapping[str, Any] | None = None, *, users: str = "") -> None:
        """Put the rows of a query into a table of this connection's own, which a store open to be read may have too.

        `users` names the part of it that a user wrote: QueryError says in one line what is wrong with that.
        """
        made = f"CREATE OR REPLACE TEMP TABLE {name} AS\n{query}"
        if self._trace:
            self._trace(made)
        if not users:
            self._con.execute(made, parameters)
            return
        with _as_query_error(users):
            if len(self._con.extract_statements(made)) != 1:
                raise QueryError(f"{users} is more than one condition", "leave the semicolon out")
            self._con.execute(made, parameters)

    def definition(self, name: str) -> str:
        """The SQL that defines a view or stored table."""
        found = catalog.definitions().get(name)
        if found is None:
            raise QueryError(f"{name} is not defined by a query", "FROM duckdb_views() lists the views")
        return found.sql

    def runs(self) -> list[str]:
        """Names of the runs that have rows."""
        return [row["run"] for row in self.fetch("SELECT run FROM span UNION SELECT run FROM event ORDER BY run")]

    # -- writing ------------------------------------------------------------------------------------------------

    @contextmanager
    def append(self, record: FileRecord) -> Iterator[Append]:
        """Replace what a path gave with new rows; one transaction."""
        with Append(self._con, record) as append:
            yield append
        self._fresh = False

    def remove(self, path: str) -> None:
        """Take out what a path gave."""
        with self.transaction():
            put_copies_back(self._con)
            remove_file(self._con, path)
            self._stale()

    def relabel(self, path: str, run: str) -> None:
        """Put a file's rows under another run. EvidenceError when they are of several runs."""
        runs = self.fetch(
            "SELECT DISTINCT run FROM (SELECT run FROM span WHERE source_file = $p UNION SELECT run FROM span_copy"
            " WHERE source_file = $p UNION SELECT run FROM event WHERE source_file = $p)",
            {"p": path},
        )
        if len(runs) > 1:
            raise EvidenceError(
                f"{path} holds lines of {len(runs)} runs, one manifest is one run", "split the file by run"
            )
        if [row["run"] for row in runs] in ([run], []):
            return
        with self.transaction():
            put_copies_back(self._con)
            for table in ("span", "event", "source_file"):
                column = "path" if table == "source_file" else "source_file"
                self._con.execute(f"UPDATE {table} SET run = ? WHERE {column} = ?", [run, path])
            self._stale()

    def settings_rows(self, run: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> bool:
        """Declare how a run is counted: rows for each setting table. True when that differs from what stood there."""
        before = {table: self._rows_of(table, run) for table in _SETTING_TABLES}
        after = {table: sorted(map(tuple, rows.get(table, ())), key=repr) for table in _SETTING_TABLES}
        if before == after:
            return False
        with self.transaction():
            for table in _SETTING_TABLES:
                self._con.execute(f"DELETE FROM {table} WHERE run = ?", [run])
                for row in after[table]:
                    self._con.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", list(row))
            self._stale()
        return True

    def use_rules(self, files: Sequence[tuple[str, str]]) -> None:
        """Read spans by these rule files (name, text) before the built-in ones, instead of those that the store has.

        UsageFault says in a sentence what is wrong with one of them; the store then stays as it was.
        """
        with self.transaction():
            if rules.replace(self._con, files):
                self._stale()

    def _rows_of(self, table: str, run: str) -> list[tuple[Any, ...]]:
        return sorted(self._con.execute(f"SELECT * FROM {table} WHERE run = ?", [run]).fetchall(), key=repr)

    def _stale(self) -> None:
        self._con.execute("DELETE FROM store_state WHERE key = 'derived'")

    @property
    def is_derived(self) -> bool:
        """Whether the derived tables are those of the base tables, by this version's queries."""
        return self.fetch("SELECT value FROM store_state WHERE key = 'derived'") == [{"value": catalog.fingerprint()}]

    def derive(self, advance: Callable[[int, str], None] = lambda _done, _what: None) -> None:
        """Make the derived tables and views again, unless they are up to date."""
        if self.is_derived:
            return
        version = catalog.fingerprint()
        stand = self.fetch("SELECT value FROM store_state WHERE key = 'views'") == [{"value": version}]
        with self.transaction():
            (drop_tables if stand else drop_derived)(self._con)
            put_copies_back(self._con)
            set_copies_aside(self._con)
            derive(self._con, advance, views=not stand)
            self._con.execute("DELETE FROM store_state WHERE key IN ('derived', 'views')")
            self._con.execute(
                "INSERT INTO store_state VALUES ('derived', $version), ('views', $version)", {"version": version}
            )
        self._con.execute("CHECKPOINT store")
