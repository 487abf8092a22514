"""Options that several commands share."""

from __future__ import annotations

import click

DEFAULT_STORE = "analyze.duckdb"

store = click.option(
    "--store",
    envvar="ANALYZE_STORE",
    default=DEFAULT_STORE,
    show_default=True,
    metavar="FILE",
    help="The store; also ANALYZE_STORE.",
)
run = click.option("--run", metavar="NAME", help="Only this run.")
as_json = click.option("--json", "json_wanted", is_flag=True, help="Print JSON.")
rules = click.option(
    "--rules",
    "rule_paths",
    multiple=True,
    metavar="TOML",
    help="Read spans by these rules before the built-in ones (docs/rules.md). May be given again.",
)
