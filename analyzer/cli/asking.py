"""`analyze sql`."""

from __future__ import annotations

import click

from analyzer.cli import options, printing
from analyzer.errors import UsageFault


@click.command()
@click.argument("query")
@options.store
@options.as_json
@click.option("--csv", "csv_wanted", is_flag=True, help="Print CSV.")
@click.pass_context
def sql(context: click.Context, query: str, store: str, json_wanted: bool, csv_wanted: bool) -> None:
    """Run a query on the store and print its rows; the DuckDB shell gives the same.

    \b
    Example:
      analyze sql "FROM outcome_count" --json
      analyze sql "SELECT metric, population, n, failed, p95 FROM percentile WHERE tenant = '(all)'"
    """
    if json_wanted and csv_wanted:
        raise UsageFault("--json and --csv exclude each other", "ask for one of them")
    from analyzer.jobs import asking

    names, rows = asking.query(store, query, context.obj)
    printing.show(names, rows, json_wanted=json_wanted, csv_wanted=csv_wanted)
