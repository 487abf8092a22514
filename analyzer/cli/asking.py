"""`analyze sql`."""

from __future__ import annotations

import sys

import click

from analyzer.cli import options, printing
from analyzer.errors import UsageFault


# SQL may begin with a comment, which looks like an option.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("query")
@options.store
@options.as_json
@click.option("--csv", "csv_wanted", is_flag=True, help="Print CSV.")
@click.pass_context
def sql(context: click.Context, query: str, store: str, json_wanted: bool, csv_wanted: bool) -> None:
    """Run a query on the store and print its rows; the DuckDB shell gives the same. A dash reads it from stdin.

    \b
    Example:
      analyze sql "FROM outcome_count" --json
      analyze sql "SELECT metric, population, n, failed, p95, p95_high FROM percentile WHERE tenant = '(all)'"
      analyze sql - < question.sql
    """
    if json_wanted and csv_wanted:
        raise UsageFault("--json and --csv exclude each other", "ask for one of them")
    from analyzer.jobs import asking

    text = sys.stdin.read() if query == "-" else query
    answers = asking.query(store, text, context.obj)
    if (json_wanted or csv_wanted) and len(answers) > 1:
        raise UsageFault(
            f"{len(answers)} statements cannot be one {'JSON' if json_wanted else 'CSV'}", "ask one at a time"
        )
    for place, (names, rows) in enumerate(answers):
        if place:
            click.echo()
        printing.show(names, rows, json_wanted=json_wanted, csv_wanted=csv_wanted)
