"""`analyze sources verify` and `analyze sources crosswalk`."""

from __future__ import annotations

from collections import Counter

import click

from analyzer import diagnostics
from analyzer.cli import options, printing


@click.command()
@click.argument("file")
@options.as_json
@click.pass_context
def verify(context: click.Context, file: str, json_wanted: bool) -> None:
    """Set the figures that a tool's own file prints beside the same figures made from its rows.

    A summary that lies beside FILE is read with it. States: equal (to six digits), differs, not in the rows (the file
    lacks what the formula needs), not compared (no formula of it is known here).

    \b
    Example:
      analyze sources verify results/profile_export.jsonl
    """
    from analyzer.jobs import verifying

    rows = verifying.verify(file, context.obj)
    printing.show(verifying.COLUMNS, rows, json_wanted=json_wanted)
    states = Counter(str(row[verifying.COLUMNS.index("state")]) for row in rows)
    diagnostics.note(", ".join(f"{count} {state}" for state, count in sorted(states.items())))


@click.command()
def crosswalk() -> None:
    """Print, as Markdown, every load generator's numbers beside ours: formula, population, difference.

    \b
    Example:
      analyze sources crosswalk > crosswalk.md
    """
    from analyzer.jobs.crosswalk import crosswalk as written

    click.echo(written(), nl=False)
