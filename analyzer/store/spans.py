"""A span that was exported twice is one span."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import duckdb

_DIFFER = "copies differ, the later end was kept"
_RANKED = """
CREATE TEMP TABLE ranked_copy AS
SELECT id, source_file, place > 1 AS extra, contents > 1 AS differs
FROM (
  SELECT
    s.rowid AS id, s.source_file,
    row_number() OVER (w ORDER BY s.end_ns DESC NULLS LAST, s.source_file, s.position) AS place,
    count(*) OVER w AS copies,
    count(DISTINCT hash(s.parent_span_id, s.name, s.service, s.scope, s.scope_version, s.start_ns, s.end_ns, s.status,
      s.status_message, s.attributes::VARCHAR, s.resource::VARCHAR, s.events::VARCHAR, s.links::VARCHAR, s.trace_state,
      s.flags, s.dropped_attributes, s.dropped_events, s.dropped_links)) OVER w AS contents
  FROM span AS s
  WINDOW w AS (PARTITION BY s.run, s.trace_id, s.span_id, s.kind)
)
WHERE copies > 1
"""


def set_copies_aside(con: duckdb.DuckDBPyConnection) -> None:
    """Keep of each (run, trace, span, kind) the row with the latest end; say so where the copies differ."""
    row = con.execute("SELECT count(*) > count(DISTINCT hash(run, trace_id, span_id, kind)) FROM span").fetchone()
    if not (row and row[0]):
        return
    con.execute(_RANKED)
    con.execute("INSERT INTO span_copy FROM span WHERE rowid IN (SELECT id FROM ranked_copy WHERE extra)")
    con.execute(
        "UPDATE span SET flag = concat_ws('; ', flag, ?)"
        " WHERE rowid IN (SELECT id FROM ranked_copy WHERE differs AND NOT extra)",
        [_DIFFER],
    )
    con.execute(
        "UPDATE source_file AS f SET duplicates = f.duplicates + c.extra, kept = f.kept - c.extra"
        " FROM (SELECT source_file, count(*) AS extra FROM ranked_copy WHERE extra GROUP BY source_file) AS c"
        " WHERE c.source_file = f.path"
    )
    con.execute("DELETE FROM span WHERE rowid IN (SELECT id FROM ranked_copy WHERE extra)")
    con.execute("DROP TABLE ranked_copy")


def put_copies_back(con: duckdb.DuckDBPyConnection) -> None:
    """Undo set_copies_aside: before rows come or go, every span is where its file put it."""
    con.execute(
        "UPDATE span SET flag = nullif(regexp_replace(flag, '(; )?' || $differ || '$', ''), '')"
        " WHERE flag LIKE '%' || $differ",
        {"differ": _DIFFER},
    )
    con.execute(
        "UPDATE source_file AS f SET duplicates = f.duplicates - c.extra, kept = f.kept + c.extra"
        " FROM (SELECT source_file, count(*) AS extra FROM span_copy GROUP BY source_file) AS c"
        " WHERE c.source_file = f.path"
    )
    con.execute("INSERT INTO span FROM span_copy")
    con.execute("DELETE FROM span_copy")
