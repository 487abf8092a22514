"""`analyze timeline`."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import click

from analyzer.cli import options, printing

_WIDTH = 32
_WIDE = 160


def _ms(row: dict[str, Any]) -> str | None:
    """A wait as one length, or as the two that it lies between."""
    if row["low_ms"] is None:
        return None
    if row["low_ms"] == row["high_ms"]:
        return f"{row['low_ms']:.3f}"
    return f"{row['low_ms']:.3f} to {row['high_ms']:.3f}"


def _at(row: dict[str, Any]) -> str | None:
    if row["at_ms"] is None:
        return None
    # A boundary that is only bounded has no moment of its own.
    text = f"{row['at_ms']:.3f}"
    if row["entry"] == "boundary" and row["until_ms"] is not None:
        text += f" to {row['until_ms']:.3f}"
    return text if row["related"] else f"{text} (own zero)"


def _bar(row: dict[str, Any], whole: float) -> str:
    """Where the entry lies in the request, as a line of marks."""
    if row["at_ms"] is None or not row["related"] or whole <= 0:
        return ""
    start = min(max(int(row["at_ms"] / whole * _WIDTH), 0), _WIDTH - 1)
    until = row["until_ms"] if row["until_ms"] is not None else row["at_ms"]
    end = min(max(int(until / whole * _WIDTH), start), _WIDTH - 1)
    mark = "·" if row["entry"] == "boundary" else "█"
    return " " * start + mark * (end - start + 1)


def _facts(timeline: Any) -> list[tuple[str, Any]]:
    request = timeline.request
    told = [(name, value) for name, value in request.items() if value is not None and not name.endswith("_why")]
    told += [(name, request[name]) for name in ("ttft_why", "e2e_why", "not_counted_why") if request[name]]
    for found in timeline.diagnosis:
        excess = ""
        if found["excess_low_ms"] is not None and found["finding"] not in ("no excess", "not enough evidence"):
            excess = f": {found['part']} is {found['excess_low_ms']:.3f} ms longer than the median, or more"
        told.append(
            (
                f"excess before {found['about']}",
                found["finding"] + excess + (f": {found['why']}" if found["why"] else ""),
            )
        )
    return told


@click.command()
@click.argument("request")
@options.store
@options.run
@options.as_json
@click.pass_context
def timeline(context: click.Context, request: str, store: str, run: str | None, json_wanted: bool) -> None:
    """Show one request from arrival to final byte: each wait with its owner, its clock and how it is known.

    Times count from the start of the request. A side whose clock nothing relates to it counts from its own first time,
    and says so. A wait that is only bounded shows both its ends.

    \b
    Example:
      analyze timeline req-17
      analyze timeline req-17 --run night-7 --json
    """
    from analyzer.jobs import timelines

    found = timelines.of(store, request, run, context.obj)
    if json_wanted:
        told = {
            "request": found.request,
            "attempts": found.attempts,
            "entries": found.entries,
            "diagnosis": found.diagnosis,
        }
        printing.document(told)
        return
    printing.show(("what", "value"), _facts(found))
    if len(found.attempts) > 1:
        printing.plain("\n")
        names = list(found.attempts[0])
        printing.show(names, [[row[name] for name in names] for row in found.attempts])
    # Broken over lines, a bar tells nothing.
    drawn = sys.stdout.isatty() and shutil.get_terminal_size().columns >= _WIDE
    whole = max((row["until_ms"] or row["at_ms"] or 0 for row in found.entries if row["related"]), default=0)
    columns = ("attempt", "at_ms", "side", "entry", "what", "wait_ms", "owner", "clock", "evidence", "origin", "note")
    rows = [
        [
            row["attempt"], _at(row), row["side"], row["entry"], row["what"], _ms(row), row["owner"], row["clock"],
            row["evidence"], row["origin"], row["note"], *([_bar(row, whole)] if drawn else []),
        ]
        for row in found.entries
    ]  # fmt: skip
    printing.plain("\n")
    printing.show([*columns, *(["0 to " + f"{whole:.0f} ms"] if drawn else [])], rows)
