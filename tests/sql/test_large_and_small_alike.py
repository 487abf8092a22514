"""What is done otherwise for much than for little gives the same, and nothing in a store is taken for what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from building import lines, rows, store, write

from analyzer import ingest
from analyzer.store import Store, derive

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

MIXED = "\n".join(
    f"r{i} sent {i} tenant=t{i % 3} input_tokens={10 + i}\n"
    + (
        f"r{i} done {i + 9} outcome={'cancelled' if i % 2 else 'error'}"
        if i % 5 == 0
        else f"r{i} first_content {i + 7 + i % 4}\nr{i} last_content {i + 30}\nr{i} done {i + 31} outcome=ok output_tokens={5 + i}"
    )
    for i in range(40)
)


def test_quantiles_filled_in_slices_are_those_filled_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    # At once, metric by metric, and population by population.
    for at_once in (derive.VALUES_AT_ONCE, 1500, 0):
        monkeypatch.setattr(derive, "VALUES_AT_ONCE", at_once)
        folder = tmp_path / str(at_once)
        folder.mkdir()
        with store(folder, lines(MIXED)) as made:
            found.append(rows(made, "FROM quantile ORDER BY ALL"))
            sizes = [n for (n,) in rows(made, "SELECT sum(n)::BIGINT FROM stratum_size GROUP BY metric")]
    assert max(sizes) < 1500 < sum(sizes)
    assert found[0] == found[1] == found[2]


def test_a_table_of_the_users_is_not_taken_for_the_rows_of_a_file(tmp_path: Path) -> None:
    made = tmp_path / "made.duckdb"
    log = write(tmp_path / "one.jsonl", lines("a sent 0\na done 5 outcome=ok"))
    with Store(made, create=True) as empty:
        ingest.apply_defaults(empty)
    with duckdb.connect(str(made)) as con:
        con.execute("CREATE TABLE input AS SELECT 1 AS position, 'not a line' AS line")
        con.execute("CREATE TABLE staged AS SELECT 1 AS position")
    with Store(made) as filled:
        ingest.ingest_files(filled, ingest.find([str(log)])[0])
        assert rows(filled, "SELECT request, event FROM event ORDER BY time_ns") == [("a", "sent"), ("a", "done")]
        assert rows(filled, "SELECT count(*) FROM refused") == [(0,)]
