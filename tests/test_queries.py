"""Every definition says what it is, keeps to SQL that travels, and opens in the oldest DuckDB that is promised."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from analyzer.jobs import ingesting
from analyzer.store import Store, catalog

CHECKOUT = Path(__file__).parents[1]
OLDEST_DUCKDB = "1.2.2"
# Above the timeline, a view must also run on an engine that is not DuckDB.
TRAVELS = ("metrics", "strata", "summary", "audits")
BANNED = {
    "WITHIN GROUP": r"\bWITHIN\s+GROUP\b",
    "median": r"\bmedian\s*\(",
    "time_bucket": r"\btime_bucket\b",
    "ASOF": r"\bASOF\b",
    "QUALIFY": r"\bQUALIFY\b",
    "len of a list": r"\blen\s*\(",
}
# Only macros.sql names how an order statistic is read.
BY_MACRO = {
    "a quantile function": r"\b(approx_)?quantile(_\w+)?\s*\(|\bpercentile_(cont|disc)\b",
    "a place in a list": r"\blist_extract\b|\blist_element\b|\barray_extract\b",
}

_TEXT_OR_COMMENT = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)


def constructs(sql: str, banned: dict[str, str]) -> list[str]:
    """Which of the constructs stand in the SQL, outside of its texts and comments."""
    bare = _TEXT_OR_COMMENT.sub("''", sql)
    return [name for name, pattern in banned.items() if re.search(pattern, bare, re.IGNORECASE)]


@pytest.fixture(scope="module")
def store_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a derived store of the sample with three sides."""
    path = tmp_path_factory.mktemp("store") / "sample.duckdb"
    sample = str(CHECKOUT / "sample_traces" / "three-services")
    ingesting.run([sample], str(path))
    return path


def _comments(store_file: Path, listing: str) -> dict[str, str | None]:
    with Store(store_file) as store:
        rows = store.fetch(f"SELECT name, comment FROM ({listing}) ORDER BY name")
    assert rows
    return {row["name"]: row["comment"] for row in rows}


def test_every_table_and_view_says_what_a_row_is(store_file: Path) -> None:
    comments = _comments(
        store_file,
        "SELECT table_name AS name, comment FROM duckdb_tables() WHERE database_name = current_database()"
        " UNION ALL SELECT view_name, comment FROM duckdb_views()"
        " WHERE database_name = current_database() AND NOT internal",
    )
    expected = {name for name, definition in catalog.definitions().items() if definition.kind != "MACRO"}
    assert expected <= comments.keys()
    assert [name for name, comment in comments.items() if not comment] == []


def test_every_column_has_a_comment(store_file: Path) -> None:
    comments = _comments(
        store_file,
        "SELECT table_name || '.' || column_name AS name, comment FROM duckdb_columns()"
        " WHERE database_name = current_database() AND NOT internal",
    )
    assert [name for name, comment in comments.items() if not comment] == []


def test_every_macro_that_is_a_table_has_a_comment(store_file: Path) -> None:
    comments = _comments(
        store_file,
        "SELECT DISTINCT function_name AS name, comment FROM duckdb_functions()"
        " WHERE database_name = current_database() AND function_type = 'table_macro' AND NOT internal",
    )
    assert {name for name, d in catalog.definitions().items() if d.kind == "MACRO"} == comments.keys()
    assert [name for name, comment in comments.items() if not comment] == []


def test_a_file_creates_the_view_of_its_own_name_and_nothing_else() -> None:
    for path in sorted((CHECKOUT / "queries").glob("*/*.sql")):
        bare = _TEXT_OR_COMMENT.sub("''", path.read_text(encoding="utf-8"))
        created = re.findall(r"\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:TABLE|VIEW|MACRO)\s+(\w+)", bare, re.IGNORECASE)
        assert created == [path.stem]
        commented = re.findall(r"\bCOMMENT\s+ON\s+\w+(?:\s+TABLE)?\s+(\w+)", bare, re.IGNORECASE)
        assert set(commented) <= {path.stem}


@pytest.mark.parametrize("layer", TRAVELS)
def test_sql_above_the_timeline_keeps_to_what_other_engines_have(layer: str) -> None:
    found = {
        name: constructs(definition.sql, BANNED | BY_MACRO)
        for name, definition in catalog.definitions().items()
        if definition.layer == layer
    }
    assert found
    assert {name: banned for name, banned in found.items() if banned} == {}


def test_the_shared_macros_keep_to_what_other_engines_have() -> None:
    assert constructs(catalog.macros(), BANNED) == []


@pytest.mark.parametrize(
    ("sql", "banned"),
    [
        ("SELECT percentile_disc(0.5) WITHIN\n GROUP (ORDER BY x)", ["WITHIN GROUP", "a quantile function"]),
        ("SELECT Median (x)", ["median"]),
        ("SELECT quantile_disc(x, [0.5, 0.9])", ["a quantile function"]),
        ("SELECT n FROM quantile -- len(x) is not travelled\nWHERE note = 'median(x)' AND length(note) > 1", []),
        ("SELECT list_extract(values, 3), len(values)", ["len of a list", "a place in a list"]),
    ],
)
def test_a_banned_construct_is_found_outside_of_texts_and_comments(sql: str, banned: list[str]) -> None:
    assert constructs(sql, BANNED | BY_MACRO) == banned


_READ_EVERYTHING = """
import duckdb, json, sys
con = duckdb.connect(sys.argv[1], read_only=True)
con.execute("SET TimeZone = 'UTC'")
con.execute("SET enable_progress_bar = false")
rows = {}
for relation in sys.argv[2:]:
    con.execute(f"SELECT * FROM {relation} LIMIT 1").fetchall()
    # As Python prints them: a float in the shortest form that reads back equal.
    rows[relation] = sorted(repr(row) for row in con.execute(f"SELECT * FROM {relation}").fetchall())
print(json.dumps({"version": duckdb.__version__, "rows": rows}))
"""


def _read(python: Path, store_file: Path, relations: list[str]) -> tuple[str, dict[str, list[str]]]:
    command: list[str | Path] = [python, "-c", _READ_EVERYTHING, store_file, *relations]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer["version"], answer["rows"]


@pytest.fixture(scope="module")
def oldest_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give an interpreter that has the oldest promised DuckDB and nothing else."""
    folder = tmp_path_factory.mktemp("oldest")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    wanted = f"duckdb=={OLDEST_DUCKDB}"
    command: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wanted]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "No matching distribution found" in done.stderr:
        pytest.skip(f"the index that pip asks offers no {wanted} for this Python and system")
    assert done.returncode == 0, done.stderr
    return python


@pytest.mark.slow
def test_every_view_reads_the_same_in_the_oldest_duckdb_that_is_promised(store_file: Path, oldest_python: Path) -> None:
    relations = [name for name, definition in catalog.definitions().items() if definition.kind != "MACRO"]
    relations.append("percentile_at('ttft', 0.75)")
    version, old = _read(oldest_python, store_file, relations)
    assert version == OLDEST_DUCKDB
    _, new = _read(Path(sys.executable), store_file, relations)
    assert {name: len(rows) for name, rows in old.items()} == {name: len(rows) for name, rows in new.items()}
    assert [name for name in relations if old[name] != new[name]] == []
    assert len(new["request"]) == 36
