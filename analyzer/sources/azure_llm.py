"""Azure's LLM inference traces (2023, 2024): arrivals with lengths in tokens, no latencies and no outcomes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from analyzer.sources.checked_lines import line_frames
from analyzer.sources.opening import lines
from analyzer.vocabulary import Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options

CLOCK = "azure_llm"
_HEADER = re.compile(rb"\s*\"?TIMESTAMP\"?\s*,\s*\"?ContextTokens\"?\s*,\s*\"?GeneratedTokens\"?\s*", re.IGNORECASE)
# A rate table of ServeGen: second, rate, coefficient of variation, name of a distribution, two parameters.
_RATES = re.compile(rb"[0-9]+,[0-9.e+-]*,[0-9.e+-]*,([A-Za-z]*),[^,]*,[^,]*\s*")
_TIME = r"([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.([0-9]{1,9}))?(Z|[+-][0-9]{2}:?[0-9]{2})?"
_FIELDS = f"""
SELECT *,
  epoch_us(TRY_CAST(parts[1] || ' ' || parts[2] AS TIMESTAMP)) * 1000 + TRY_CAST(rpad(parts[3], 9, '0') AS BIGINT)
    - CASE WHEN parts[4] IN ('', 'Z') THEN 0 ELSE
      (CASE WHEN left(parts[4], 1) = '-' THEN -1 ELSE 1 END)
      * (TRY_CAST(substr(parts[4], 2, 2) AS BIGINT) * 60 + TRY_CAST(right(parts[4], 2) AS BIGINT)) * 60000000000
      END AS arrived_ns
FROM (
  SELECT position, line, columns, columns[2] AS context, columns[3] AS generated,
    CASE WHEN regexp_full_match(columns[1], '{_TIME}') THEN [regexp_extract(columns[1], '{_TIME}', 1),
      regexp_extract(columns[1], '{_TIME}', 2), regexp_extract(columns[1], '{_TIME}', 3),
      regexp_extract(columns[1], '{_TIME}', 4)] END AS parts
  FROM (SELECT *, list_transform(string_split(line, ','), lambda c: trim(c, ' "')) AS columns FROM input)
)"""
_COUNT = "NOT regexp_full_match({0}, '[0-9]{{1,18}}')"
_CHECKS = (
    ("len(columns) <> 3", "it has not three columns"),
    ("parts IS NULL", "TIMESTAMP is not a date and time"),
    ("arrived_ns IS NULL", "TIMESTAMP is no moment that there was"),
    (_COUNT.format("context"), "ContextTokens is not a count"),
    (_COUNT.format("generated"), "GeneratedTokens is not a count"),
)
_REQUESTS = f"""arrived_ns, '{CLOCK}' AS clock, '{Side.GATEWAY}' AS side,
  TRY_CAST(context AS BIGINT) AS input_tokens, TRY_CAST(generated AS BIGINT) AS output_tokens"""
_NO_ZONE = "its times name no zone and are taken for UTC"


class _AzureLLM:
    name = "azure_llm"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line that names the three columns."""
        return _HEADER.fullmatch(head.lstrip().split(b"\n", 1)[0]) is not None

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why a table of rates is no trace."""
        rows = [_RATES.fullmatch(row) for row in head.split(b"\n")[:5] if row.strip()]
        if rows and all(rows) and any(row and row[1] for row in rows):
            return (
                "it is a table of rates without a header, as ServeGen keeps them: a line is a window of a client's"
                " traffic and no request; generate a workload from it, or give the requests themselves"
            )
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`: the arrival of each request, to 100 ns as the file has it, with its lengths."""
        for number, block in enumerate(lines(path, options.max_line_bytes)):
            rows = block.table if number else block.table.slice(1)
            notes = (_NO_ZONE,) if number == 0 and _without_zone(rows.slice(0, 1).column("line").to_pylist()) else ()
            yield line_frames(
                replace(block, table=rows), rows, options,
                fields=_FIELDS, checks=_CHECKS, requests=_REQUESTS, notes=notes, tool="azure_llm",
            )  # fmt: skip


def _without_zone(first: list[str]) -> bool:
    found = re.match(_TIME, first[0].lstrip('" ')) if first else None
    return found is not None and not found[4]


SOURCE = _AzureLLM()
