"""A tool's own figures beside what as_printed makes of its requests."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from building import rows

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

Cell = tuple[str, str, str]


def read(folder: Path, *paths: Path) -> Store:
    """A derived store of these files, in this folder."""
    files, _ = ingest.find([str(path) for path in paths])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


def cells(store: Store, tool: str) -> tuple[set[Cell], set[Cell]]:
    """Cells (load point, metric, statistic) of the tool's distributions that are reproduced, and that are not."""
    found = rows(
        store,
        f"""
        SELECT coalesce(f.load_point, '(all)') AS point, f.metric, f.statistic, f.value AS told, p.value AS made
        FROM tool_figure AS f
        LEFT JOIN as_printed AS p ON p.run = f.run AND p.tool = f.tool AND p.metric = f.metric
          AND p.statistic = f.statistic AND p.load_point = coalesce(f.load_point, '(all)')
        WHERE f.tool = '{tool}' AND f.kind = 'printed' AND f.statistic NOT IN ('value', 'count') AND f.metric IN (SELECT metric FROM printed_formula WHERE tool = '{tool}')
        """,
    )
    same = {row[:3] for row in found if row[4] is not None and math.isclose(row[3], row[4], rel_tol=1e-6)}
    return same, {row[:3] for row in found} - same


def balanced(store: Store) -> bool:
    """Whether every record of every file is accounted for, and every refused one listed."""
    return rows(
        store,
        "SELECT bool_and(records = kept + set_aside + refused + duplicates), sum(refused) = (SELECT count(*) FROM refused) FROM source_file",
    ) == [(True, True)]


def notes(store: Store) -> list[str]:
    """What is said of the files."""
    return [
        note
        for (told,) in rows(store, "SELECT note FROM source_file WHERE note IS NOT NULL ORDER BY path")
        for note in told.split("; ")
    ]
