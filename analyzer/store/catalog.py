"""The SQL files of queries/ as definitions, in the order in which they need each other."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, Any

import duckdb

from analyzer import resources
from analyzer.store import rules

if TYPE_CHECKING:
    from collections.abc import Iterator

LAYERS = ("timeline", "metrics", "strata", "summary", "audits")

_HEAD = re.compile(r"^CREATE (TABLE|VIEW|MACRO) (\w+)(?:\([^)]*\) AS TABLE| AS)\s", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Definition:
    """One file of queries/: what it creates, in which layer, from which relations."""

    name: str
    kind: str
    layer: str
    sql: str
    select: str
    comments: str
    needs: frozenset[str]


def _relations(node: Any) -> Iterator[str]:
    """Names of the tables that a serialized statement reads."""
    if isinstance(node, dict):
        if node.get("type") == "BASE_TABLE":
            yield node["table_name"]
        for child in node.values():
            yield from _relations(child)
    elif isinstance(node, list):
        for child in node:
            yield from _relations(child)


def _parse(name: str, layer: str, sql: str, con: duckdb.DuckDBPyConnection) -> Definition:
    head = _HEAD.search(sql)
    if head is None or head.group(2) != name:
        raise ValueError(f"queries/{layer}/{name}.sql must create {name} and nothing else")
    create, _, comments = sql[head.start() :].partition(";\n")
    select = create[head.end() - head.start() :].strip()
    row = con.execute("SELECT json_serialize_sql(?)", [select]).fetchone()
    tree = json.loads(row[0]) if row else {}
    if tree.get("error"):
        raise ValueError(f"queries/{layer}/{name}.sql: {tree.get('error_message')}")
    needs = frozenset(_relations(tree)) - {name}
    return Definition(name, head.group(1), layer, create, select, comments.strip(), needs)


@cache
def definitions() -> dict[str, Definition]:
    """Every view, stored table and table macro of queries/, each after what it needs."""
    found: dict[str, Definition] = {}
    with duckdb.connect() as con:
        for layer in LAYERS:
            for path in sorted(resources.folder("queries").joinpath(layer).glob("*.sql")):
                sql = path.read_text(encoding="utf-8")
                found[path.stem] = _parse(path.stem, layer, sql, con)
    order = TopologicalSorter({name: sorted(d.needs & found.keys()) for name, d in sorted(found.items())})
    return {name: found[name] for name in order.static_order()}


def macros() -> str:
    """The scalar macros that the views share."""
    return resources.text("queries", "macros.sql")


def base_tables() -> str:
    """The base tables with their comments."""
    return resources.text("schemas", "store.sql")


@cache
def base_names() -> frozenset[str]:
    """Names of the base tables."""
    return frozenset(re.findall(r"^CREATE TABLE (\w+)", base_tables(), re.MULTILINE))


@cache
def words() -> dict[str, str]:
    """What each column name means wherever no view says otherwise."""
    return tomllib.loads(resources.text("schemas", "words.toml"))


def meaning(column: str) -> str | None:
    """The meaning of a column name; a metric's column and its reason follow the metric."""
    known = words()
    if column in known:
        return known[column]
    if match := re.fullmatch(r"(client|gateway|engine)_(\w+)_ns", column):
        return f"{match.group(2)} as the {match.group(1)} saw it, ns on its clock; NULL where not recorded"
    if match := re.fullmatch(r"(\w+)_ns", column):
        return f"{match.group(1)}, ns on its clock; NULL where not recorded"
    if match := re.fullmatch(r"(\w+)_why", column):
        return f"Why there is no {match.group(1)}"
    if match := re.fullmatch(r"(\w+)_(low|high)_ms", column):
        return f"{match.group(1)}, ms: at {'least' if match.group(2) == 'low' else 'most'} this"
    if match := re.fullmatch(r"(\w+)_ms", column):
        return f"{match.group(1)}, ms; NULL where it has none"
    return None


@cache
def fingerprint() -> str:
    """Changes whenever a definition changes, so that a store derived by other queries is made again."""
    text = macros() + "".join(d.sql + d.comments for d in definitions().values())
    return hashlib.sha256((text + rules.fingerprint()).encode()).hexdigest()[:16]
