"""Rows on stdout: a table for people, plain columns when piped, JSON or CSV for machines."""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import sys
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import click

from analyzer.vocabulary import NOT_REACHED

if TYPE_CHECKING:
    from collections.abc import Sequence

_INT53 = 2**53
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def machine(value: Any) -> Any:
    """A value as JSON can carry it: infinity as "not_reached", integers beyond 2^53 as text."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        return value if abs(value) < _INT53 else str(value)
    if isinstance(value, float):
        return NOT_REACHED if value == math.inf else value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict):
        return {str(key): machine(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [machine(item) for item in value]
    return value if isinstance(value, str) else str(value)


def text(value: Any) -> str:
    """A value for a person's eye or a CSV cell."""
    shown = machine(value)
    if shown is None:
        return ""
    if isinstance(shown, float):
        return repr(shown)
    return shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)


def _encoding() -> str:
    return sys.stdout.encoding or "utf-8"


def _write(output: str) -> None:
    click.echo(output.encode(_encoding(), "backslashreplace").decode(_encoding()), nl=False)


def plain(text: str) -> None:
    """Text as it is."""
    _write(text)


def as_json(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows as a JSON array of objects."""
    document([dict(zip(names, row, strict=True)) for row in rows])


def document(value: Any) -> None:
    """A value, its inner ones too, as JSON."""
    # JSON has escapes of its own for what the terminal's encoding lacks; Python's would not be JSON.
    is_utf8 = codecs.lookup(_encoding()).name == "utf-8"
    _write(json.dumps(machine(value), ensure_ascii=not is_utf8, indent=1, allow_nan=False) + "\n")


def as_csv(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows as CSV; text that a spreadsheet would run as a formula is quoted with an apostrophe."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        writer.writerow(["'" + v if isinstance(v, str) and v.startswith(_FORMULA) else text(v) for v in row])
    _write(buffer.getvalue())


def as_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Rows as a table: drawn on a terminal, tab-separated when piped."""
    if not sys.stdout.isatty():
        lines = ["\t".join(names), *("\t".join(_one_line(text(value)) for value in row) for row in rows)]
        _write("\n".join(lines) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in names:
        table.add_column(Text(name), overflow="fold")
    for row in rows:
        numeric = [isinstance(value, (int, float, Decimal)) and not isinstance(value, bool) for value in row]
        cells = [_one_line(f"{v:.6g}" if isinstance(v, float) and math.isfinite(v) else text(v)) for v in row]
        table.add_row(*(Text(c, justify="right" if n else "left") for c, n in zip(cells, numeric, strict=True)))
    Console().print(table)


def _one_line(cell: str) -> str:
    return "".join(c if c.isprintable() else " " for c in cell)


def show(
    names: Sequence[str], rows: Sequence[Sequence[Any]], *, json_wanted: bool = False, csv_wanted: bool = False
) -> None:
    """Rows in the form that was asked for."""
    (as_json if json_wanted else as_csv if csv_wanted else as_table)(names, rows)
