"""`analyze sources crosswalk`: our numbers beside every load generator's, as Markdown, from the views behind them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORMULAS = """
SELECT f.ours, m.formula AS our_formula, f.tool, f.version, f.metric, f.formula, f.weighting, f.population, f.differs
FROM printed_formula AS f LEFT JOIN metric AS m ON m.metric = f.ours ORDER BY 1, f.tool, f.metric
"""
_LIMITS = "SELECT tool, goodput, ours, metric, missing FROM printed_condition ORDER BY ALL"
_BEFORE = """# Crosswalk

Which number of ours each load generator's number is nearest to, and where the two part. Made by `analyze sources
crosswalk` from the views `metric`, `printed_formula` and `printed_condition`; `as_printed` computes every line of it
from your rows.
"""
_OVER = {
    "percentiles": "linear between two values (as numpy), except GuideLLM (smallest value that holds the share of the"
    " weight)"
    " and MLPerf LoadGen (place floor(n q) of the ascending values). Ours are nearest rank.",
    "failures": "of no tool's percentiles. Ours stand beside each percentile, and `all` counts them as never reached.",
}


def _table(names: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join((cell or '').replace('|', '/') for cell in line)} |\n" for line in lines)


def crosswalk() -> str:
    """The whole document, with its last newline."""
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "empty.duckdb", create=True) as store:
        ingest.apply_defaults(store)
        store.derive()
        formulas = store.fetch(_FORMULAS)
        limits = store.fetch(_LIMITS)
    parts = [_BEFORE]
    for ours in dict.fromkeys(row["ours"] for row in formulas):
        mine = [row for row in formulas if row["ours"] == ours]
        parts.append(
            f"\n## `{ours}`\n\nOurs: {mine[0]['our_formula'] or 'one value per gap between chunks of content'}\n\n"
        )
        parts.append(
            _table(
                ("tool", "its name", "formula", "over", "differs"),
                [
                    (
                        f"{row['tool']} {row['version']}",
                        f"`{row['metric']}`",
                        row["formula"],
                        f"{row['population']}; {row['weighting']}",
                        row["differs"],
                    )
                    for row in mine
                ],
            )
        )
    parts.append(
        "\n## Goodput\n\nAn answer is good when it is within every limit (inclusive)."
        " Which number is held against a limit:\n\n"
    )
    parts.append(
        _table(
            ("tool", "goodput", "limit", "its number", "an answer without it"),
            [(row["tool"], row["goodput"], f"`{row['ours']}`", f"`{row['metric']}`", row["missing"]) for row in limits],
        )
    )
    parts.append("\n## Percentiles and failures\n\n")
    parts += [f"- {name.capitalize()}: {said}\n" for name, said in _OVER.items()]
    return "".join(parts)
