"""`analyze export`."""

from __future__ import annotations

import sys

import click

from analyzer import diagnostics
from analyzer.cli import options, printing
from analyzer.errors import UsageFault


@click.command()
@options.store
@click.option(
    "--perfetto", "target", required=True, metavar="FILE", help="Write a trace for ui.perfetto.dev; - for stdout."
)
@options.run
@click.option("--request", "requests", multiple=True, metavar="ID", help="This request. May be given again.")
@click.option("--where", metavar="SQL", help="Attempts of which this holds, such as \"outcome = 'timeout'\".")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="The N earliest attempts.")
@options.as_json
@click.pass_context
def export(
    context: click.Context,
    store: str,
    target: str,
    run: str | None,
    requests: tuple[str, ...],
    where: str | None,
    limit: int | None,
    json_wanted: bool,
) -> None:
    """Write attempts, stages, boundaries, control events and gauges as a trace that opens in ui.perfetto.dev.

    Each clock is a process of the trace, whose name tells where its zero is: one zero for the wall clocks of a run, one
    for each other clock. No clock is set by another. Nothing leaves the machine: Perfetto runs in the browser.

    \b
    Example:
      analyze export --perfetto night-7.trace.json
      analyze export --perfetto slow.trace.json --run night-7 --where "outcome = 'timeout'" --limit 100
      analyze export --perfetto - --request req-17 | gzip > req-17.json.gz
    """
    if target == "-" and json_wanted:
        raise UsageFault("--json and --perfetto - both want stdout", "name a file with --perfetto")
    from analyzer.jobs import exporting

    selection = exporting.Selection(run, requests, where, limit)
    sink = sys.stdout.buffer if target == "-" else target
    done = exporting.perfetto(store, selection, sink, context.obj)
    if json_wanted:
        printing.as_json(("path", "attempts", "clocks", "events"), [(target, done.attempts, done.clocks, done.events)])
    diagnostics.note(
        f"{_many(done.attempts, 'attempt')} on {_many(done.clocks, 'clock')}, {_many(done.events, 'event')},"
        f" {'on stdout' if target == '-' else f'in {target}'}; ui.perfetto.dev opens it in the browser, nothing is sent"
    )


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"
