"""`analyze clocks` and `analyze audit`: views that are looked at so often that they have a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from analyzer import diagnostics
from analyzer.cli import options, printing

if TYPE_CHECKING:
    from collections.abc import Sequence


# Enough to see of which kind a finding is.
_SHOWN = 3


def _show(rows: list[dict[str, Any]], columns: Sequence[str], *, json_wanted: bool) -> None:
    """Rows for a person in these columns, for a machine in all that the view has."""
    names = list(rows[0]) if json_wanted and rows else list(columns)
    printing.show(names, [[row[name] for name in names] for row in rows], json_wanted=json_wanted)


@click.command()
@options.store
@options.run
@options.as_json
@click.pass_context
def clocks(context: click.Context, store: str, run: str | None, json_wanted: bool) -> None:
    """Show what the traffic itself says of the clocks that its sides were read from.

    A request is sent before it arrives and its answer is given before it is seen: that bounds the offset of two clocks.
    It is advice. Nothing is computed with it until an entry of artifact.clocks in the run's manifest declares it.

    \b
    Example:
      analyze clocks
    """
    from analyzer.jobs import asking

    rows = asking.clocks(store, run, context.obj)
    columns = (
        "run", "clock_a", "clock_b", "attempts", "low_ms", "high_ms", "offset_ms", "error_ms", "declared", "finding",
    )  # fmt: skip
    _show(rows, columns, json_wanted=json_wanted)
    if not rows:
        diagnostics.note("no attempt was seen on two clocks of one kind")
    for row in rows:
        if row["declared"] == "not declared" and row["entry"]:
            diagnostics.note(f"an entry of artifact.clocks, if you believe it: {row['entry']}")


@click.command()
@click.option(
    "--coverage", is_flag=True, help="Show instead which boundaries can be pointed to, and what was declared of them."
)
@click.option("--all", "every", is_flag=True, help=f"Print each finding, not only the first {_SHOWN} of a kind.")
@options.store
@options.run
@options.as_json
@click.pass_context
def audit(context: click.Context, coverage: bool, every: bool, store: str, run: str | None, json_wanted: bool) -> None:
    """List what may be wrong with the data, or with what one reads into it; of each run the worst first.

    Of findings of one kind the first few are printed, and how many there are; --all and --json print each.

    \b
    Example:
      analyze audit
      analyze audit --coverage
    """
    from analyzer.jobs import asking

    if coverage:
        columns = (
            "run",
            "side",
            "boundary",
            "owner",
            "seen",
            "missing",
            "evidence",
            "handover",
            "required_policy",
            "policy",
            "policy_state",
        )
        _show(asking.coverage(store, run, context.obj), columns, json_wanted=json_wanted)
        return
    rows = asking.audit(store, run, context.obj)
    shown = [row for row in rows if every or json_wanted or row["finding"] <= _SHOWN]
    _show(shown, ("run", "severity", "audit", "subject", "n", "detail"), json_wanted=json_wanted)
    for row in shown:
        if row["finding"] == _SHOWN < row["findings"] and not (every or json_wanted):
            more = row["findings"] - _SHOWN
            diagnostics.note(f"{more:,} more of {row['run']}: {row['audit']} ({row['severity']}); --all prints them")
    if not rows:
        diagnostics.note("no audit found anything")
