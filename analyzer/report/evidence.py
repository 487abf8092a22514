"""The rows a report reads: views of one run, and the text of each query that gave them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from analyzer.errors import QueryError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from analyzer.report.facts import ReportFacts
    from analyzer.store import Store

Row = dict[str, Any]

# Rows of these are about files, not about a run's requests; their text may hold the path of a file.
_WITH_PATHS = {
    "audit": ("subject", "detail"),
    "source_file": ("path", "note"),
    "refused": ("source_file", "reason"),
}
# Base tables and views that hold no run of their own.
_WITHOUT_RUN = {
    "metric": "",
    "rule_file": "",
    "refused": "source_file IN (SELECT path FROM source_file WHERE run = {run})",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """A query that runs as it stands in any shell on the store, and its rows."""

    view: str
    sql: str
    rows: tuple[Row, ...]


class Evidence:
    """Rows of the store for one run. Text that names a file names it as the manifest does."""

    def __init__(self, store: Store, facts: ReportFacts) -> None:
        self._store = store
        self.facts = facts
        self._asked: dict[str, Answer] = {}

    def ask(
        self,
        view: str,
        *,
        columns: str = "*",
        where: str = "",
        order: str = "ALL",
        limit: int | None = None,
        **equal: str | Sequence[str],
    ) -> Answer:
        """Rows of a view for this run; each keyword is a column and the value, or values, that it must have."""
        run = literal(self.facts.run)
        conditions = [_WITHOUT_RUN.get(view, "run = {run}").format(run=run), *map(_condition, equal.items()), where]
        chosen = " AND ".join(condition for condition in conditions if condition)
        sql = f"SELECT {columns} FROM {view}"
        sql += (f" WHERE {chosen}" if chosen else "") + f" ORDER BY {order}" + (f" LIMIT {limit}" if limit else "")
        if sql not in self._asked:
            rows = [self._shown(view, row) for row in self._store.fetch(sql)]
            if view in _WITH_PATHS:
                # Once their paths are shown otherwise, rows stand in the order of what is shown.
                rows.sort(key=lambda row: [(value is None, value or 0) for value in row.values()])
            self._asked[sql] = Answer(view, sql, tuple(rows))
        return self._asked[sql]

    def definition(self, view: str) -> str:
        """The SQL that makes a view."""
        return self._store.definition(view)

    def is_defined(self, view: str) -> bool:
        """Whether a query makes it; base tables are filled by ingest."""
        try:
            self._store.definition(view)
        except QueryError:
            return False
        return True

    @cached_property
    def comments(self) -> dict[str, str]:
        """What each view and stored table is, in a sentence."""
        rows = self._store.fetch(
            "SELECT view_name AS name, comment FROM duckdb_views() WHERE NOT internal"
            " UNION ALL SELECT table_name, comment FROM duckdb_tables() WHERE NOT internal ORDER BY ALL"
        )
        return {row["name"]: row["comment"] or "" for row in rows}

    @cached_property
    def head(self) -> str:
        """The side whose clock heads the numbers."""
        rows = self.ask("run").rows
        return str(rows[0]["side"] or "client") if rows else "client"

    @cached_property
    def metrics(self) -> dict[str, Row]:
        """Definition of each metric by name."""
        return {row["metric"]: row for row in self.ask("metric").rows}

    def head_metric(self, family: str) -> str:
        """Name of ttft or e2e on the side that heads the run."""
        return family if self.head == "client" else f"{family}_{self.head}"

    def _shown(self, view: str, row: Row) -> Row:
        columns = _WITH_PATHS.get(view, ())
        return {key: self.relabelled(value) if key in columns else value for key, value in row.items()}

    def relabelled(self, value: Any) -> Any:
        """Text with every stored path in it written as the manifest writes it."""
        return relabelled(value, self.facts.labels) if isinstance(value, str) else value


def relabelled(text: str, labels: Mapping[str, str]) -> str:
    """Text with whole paths replaced, the longest first."""
    if text in labels:
        return labels[text]
    for stored in sorted(labels, key=lambda path: (-len(path), path)):
        if stored in text and "/" in stored:
            text = re.sub(rf"(?<![\w./-]){re.escape(stored)}(?![\w/-])", lambda _: labels[stored], text)  # noqa: B023
    return text


def literal(text: str) -> str:
    """A string as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _condition(pair: tuple[str, str | Sequence[str]]) -> str:
    column, value = pair
    if isinstance(value, str):
        return f"{column} = {literal(value)}"
    return f"{column} IN ({', '.join(map(literal, value))})"
