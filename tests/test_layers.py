"""Imports and SQL point downwards, and asking for help costs next to nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analyzer.store import catalog
from analyzer.store.catalog import Definition

if TYPE_CHECKING:
    from collections.abc import Mapping

CHECKOUT = Path(__file__).parents[1]
ORDER = ("timeline", "metrics", "strata", "summary", "audits")
HEAVY = {"duckdb", "polars", "pyarrow", "plotly", "scipy", "numpy", "jinja2", "jsonschema", "rich"}
HELP_CPU_S = 0.3

_CREATED = re.compile(r"^CREATE TABLE (\w+)", re.MULTILINE)


def wrong_reads(definitions: Mapping[str, Definition], base: set[str]) -> list[str]:
    """What a file of queries/ reads that is neither a base table, nor of its own layer, nor of one below."""
    wrong = []
    for name, definition in definitions.items():
        for needed in sorted(definition.needs - base):
            if needed in definitions:
                other = definitions[needed].layer
                if ORDER.index(other) > ORDER.index(definition.layer):
                    wrong.append(f"{definition.layer}/{name} reads {other}/{needed}")
            elif not re.search(rf"\b{needed}\s*(\([^)]*\)\s*)?AS\s*(MATERIALIZED\s*)?\(", definition.sql):
                wrong.append(f"{definition.layer}/{name} reads {needed}, which nothing defines")
    return wrong


def _made_up(name: str, layer: str, needs: set[str], sql: str = "") -> Definition:
    return Definition(name, "VIEW", layer, sql, "", "", frozenset(needs))


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_view_reads_base_tables_its_own_layer_and_layers_below() -> None:
    base = set(_CREATED.findall(catalog.base_tables()))
    assert {"span", "event", "source_file", "refused"} <= base
    definitions = catalog.definitions()
    assert set(ORDER) == set(catalog.LAYERS) == {definition.layer for definition in definitions.values()}
    assert wrong_reads(definitions, base) == []


def test_a_view_that_reads_upwards_or_nothing_known_is_found() -> None:
    definitions = {
        "attempt": _made_up("attempt", "timeline", {"span", "percentile", "early"}, "WITH early AS (SELECT 1)"),
        "percentile": _made_up("percentile", "strata", {"attempt", "atempt"}),
    }
    assert wrong_reads(definitions, {"span"}) == [
        "timeline/attempt reads strata/percentile",
        "strata/percentile reads atempt, which nothing defines",
    ]


def test_every_file_of_queries_lies_in_a_layer() -> None:
    found = {path.relative_to(CHECKOUT / "queries").as_posix() for path in (CHECKOUT / "queries").rglob("*.sql")}
    assert found - {f"{d.layer}/{d.name}.sql" for d in catalog.definitions().values()} == {"macros.sql"}


def test_imports_keep_to_the_layers() -> None:
    program = "from importlinter.cli import lint_imports_command as lint; lint()"
    done = subprocess.run(
        [sys.executable, "-c", program, "--no-cache"], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"import-linter says:\n{done.stdout}{done.stderr}"
    assert " 0 broken" in done.stdout


def test_help_of_every_command_imports_nothing_heavy() -> None:
    # One process asks for all of them, so that what one command drags in is seen after it.
    program = """
import io, json, sys
from contextlib import redirect_stdout
from analyzer.cli import main

def helped(*words):
    with redirect_stdout(io.StringIO()) as page:
        try:
            main([*words, "--help"])
        except SystemExit as end:
            assert end.code == 0, words
    assert page.getvalue().startswith("Usage:"), words
    return sorted(sys.modules)

def walk(group, *words):
    seen[" ".join(["analyze", *words])] = helped(*words)
    for name, command in sorted(getattr(group, "commands", {}).items()):
        walk(command, *words, name)

seen = {}
walk(main)
print(json.dumps(seen))
"""
    seen = json.loads(_run(program))
    assert {"analyze", "analyze ingest", "analyze report", "analyze sql"} <= seen.keys()
    imported = {command: sorted(HEAVY & set(modules)) for command, modules in seen.items()}
    assert {command: heavy for command, heavy in imported.items() if heavy} == {}
    # The names are those by which Python would know them.
    assert set(chain.from_iterable(seen.values())) >= {"click", "analyzer.cli"}


@pytest.mark.skipif(not hasattr(os, "wait4"), reason="this system does not tell the CPU time of one child")
def test_help_takes_less_than_300_ms_of_cpu() -> None:
    command = Path(sys.executable).with_name("analyze")
    assert command.is_file(), f"{command} is missing: install the project, `make test` does"

    def cpu_s() -> float:
        child = subprocess.Popen([command, "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        return used.ru_utime + used.ru_stime

    # The best of three: a first run compiles, and a neighbour's load must not be measured.
    assert min(cpu_s() for _ in range(3)) < HELP_CPU_S
