"""Derived tables and views are made from the base tables, all of them in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer import stats
from analyzer.store import catalog, rules

if TYPE_CHECKING:
    from collections.abc import Callable

    import duckdb

# Ordered values, over all strata, that are held at once while quantiles are taken.
VALUES_AT_ONCE = 8_000_000
LEVELS_E6 = (500_000, 900_000, 950_000, 990_000, 999_000)


def _quote(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def drop_tables(con: duckdb.DuckDBPyConnection) -> None:
    """Remove the derived tables of this version's queries; its views, which hold no rows, stay."""
    for name, definition in catalog.definitions().items():
        if definition.kind == "TABLE":
            con.execute(f'DROP TABLE IF EXISTS "{name}"')


def drop_derived(con: duckdb.DuckDBPyConnection) -> None:
    """Remove every derived table, view and table macro, of this version's queries or of another's."""
    here = "database_name = current_database() AND NOT internal"
    found = [
        ("VIEW", f"SELECT view_name FROM duckdb_views() WHERE {here}"),
        ("TABLE", f"SELECT table_name FROM duckdb_tables() WHERE {here}"),
        (
            "MACRO TABLE",
            f"SELECT DISTINCT function_name FROM duckdb_functions() WHERE {here} AND function_type = 'table_macro'",
        ),
    ]
    kept = catalog.base_names()
    for kind, query in found:
        for (name,) in con.execute(query).fetchall():
            if name not in kept:
                con.execute(f'DROP {kind} "{name}"')


def comment_columns(con: duckdb.DuckDBPyConnection) -> None:
    """Give every column without a comment the common meaning of its name."""
    bare = con.execute(
        "SELECT table_name, column_name FROM duckdb_columns()"
        " WHERE database_name = current_database() AND NOT internal AND comment IS NULL"
    ).fetchall()
    statements = [
        f'COMMENT ON COLUMN "{table}"."{column}" IS {_quote(meaning)};'
        for table, column in bare
        if (meaning := catalog.meaning(column)) is not None
    ]
    con.execute("\n".join(statements) or "SELECT 1")


def _rank_bounds(con: duckdb.DuckDBPyConnection) -> None:
    """Ranks for every sample size that a distribution has."""
    import polars as pl

    sizes = [n for (n,) in con.execute("SELECT DISTINCT n FROM stratum_size WHERE n > 0 ORDER BY n").fetchall()]
    told = con.execute("SELECT DISTINCT q_e6 FROM percentile_level ORDER BY q_e6").fetchall()
    levels = sorted({*LEVELS_E6, *(level for (level,) in told)})
    rows = [
        (n, level, low, high)
        for level in levels
        for n, (low, high) in zip(sizes, stats.rank_bounds(sizes, level / 1e6), strict=True)
    ]
    frame = pl.DataFrame(
        rows, schema={"n": pl.Int64, "q_e6": pl.Int64, "low": pl.Int64, "high": pl.Int64}, orient="row"
    )
    con.execute("DELETE FROM rank_bound")
    con.register("rank_rows", frame.to_arrow())
    con.execute("INSERT INTO rank_bound SELECT * FROM rank_rows")
    con.unregister("rank_rows")


def _share_bounds(con: duckdb.DuckDBPyConnection) -> None:
    """Exact bounds for every share that a verdict needs: at the whole run, both ends."""
    import polars as pl

    cases = con.execute(
        "SELECT DISTINCT g, a.n, s.confidence FROM attainment_count AS a"
        " JOIN slo AS s ON s.run = a.run AND s.slo = a.slo,"
        " LATERAL (SELECT unnest([a.good, a.good + a.undetermined + a.unknown]) AS g)"
        " WHERE a.load_point = '(all)' ORDER BY ALL"
    ).fetchall()
    rows = [(*case, *bound) for case, bound in zip(cases, stats.share_bounds(cases), strict=True)]
    schema = {"good": pl.Int64, "n": pl.Int64, "confidence": pl.Float64, "low": pl.Float64, "high": pl.Float64}
    con.execute("DELETE FROM share_bound")
    con.register("share_rows", pl.DataFrame(rows, schema=schema, orient="row").to_arrow())
    con.execute("INSERT INTO share_bound SELECT * FROM share_rows")
    con.unregister("share_rows")


# What Python fills once a table stands, before the views that read it are of use.
_AFTER: dict[str, Callable[[duckdb.DuckDBPyConnection], None]] = {
    "stratum_size": _rank_bounds,
    "attainment_count": _share_bounds,
}


def _slices(con: duckdb.DuckDBPyConnection) -> list[str]:
    """Conditions that part the quantiles, as fine as keeps the values ordered at once below VALUES_AT_ONCE.

    Each names single values: only `=` is looked for before the values are ordered, and only then are the lists of
    other populations left out.
    """
    sizes = con.execute(
        "SELECT metric, population, sum(n)::BIGINT FROM stratum_size GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    if sum(values for _, _, values in sizes) <= VALUES_AT_ONCE:
        return ["true"]
    found = []
    for metric in dict.fromkeys(metric for metric, _, _ in sizes):
        one = f"metric = {_quote(metric)}"
        parts = [(population, values) for name, population, values in sizes if name == metric]
        if sum(values for _, values in parts) <= VALUES_AT_ONCE:
            found.append(one)
        else:
            found += [f"{one} AND population = {_quote(population)}" for population, _ in parts]
    return found


def _by_metric(con: duckdb.DuckDBPyConnection, definition: catalog.Definition) -> None:
    """Fill a table in slices, so that memory follows the largest of them and not their sum."""
    con.execute(f"CREATE TABLE {definition.name} AS SELECT * FROM ({definition.select}) LIMIT 0")
    for condition in _slices(con):
        con.execute(f"INSERT INTO {definition.name} SELECT * FROM ({definition.select}) WHERE {condition}")


def _count_set_aside(con: duckdb.DuckDBPyConnection) -> None:
    """Spans of traces without a request count as set aside in the ledger of their file, beside its other kinds."""
    con.execute(
        "UPDATE source_file SET set_aside = other_kind + t.aside,"
        " kept = records - refused - duplicates - other_kind - t.aside"
        " FROM (SELECT f.path, count(s.span_id) FILTER (r.trace_id IS NULL) AS aside FROM source_file AS f"
        " LEFT JOIN span AS s ON s.source_file = f.path"
        " LEFT JOIN request_trace AS r ON r.run = s.run AND r.trace_id = s.trace_id GROUP BY f.path) AS t"
        " WHERE t.path = source_file.path"
    )


def derive(
    con: duckdb.DuckDBPyConnection,
    advance: Callable[[int, str], None] = lambda _done, _what: None,
    *,
    views: bool = True,
) -> None:
    """Make everything that base tables imply. The caller holds the transaction and has dropped what stood there.

    Without `views` those that stand are kept: they are this version's already.
    """
    con.execute(catalog.macros())
    rules.fill(con)
    definitions = catalog.definitions()
    for done, (name, definition) in enumerate(definitions.items()):
        advance(done, name)
        if not views and definition.kind != "TABLE":
            continue
        if name == "quantile":
            _by_metric(con, definition)
        else:
            con.execute(definition.sql)
        con.execute(definition.comments or "SELECT 1")
        if name in _AFTER:
            _AFTER[name](con)
    _count_set_aside(con)
    comment_columns(con)
