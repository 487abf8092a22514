"""NVIDIA Dynamo's request traces (JSONL): what its frontend measured of each request, one row when it ended.

Arrival is unix time in ms; the first token, as the frontend had it from a worker, and the end are durations from there.
Rows without a session tell arrival, end and lengths only. Rows of tools and of payloads are set aside unread.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from analyzer.sources.checked_lines import (
    JSON_CHECKS,
    count_checks,
    json_fields,
    line_frames,
    milliseconds,
    told_checks,
)
from analyzer.sources.opening import lines
from analyzer.sources.quoting import sql_text
from analyzer.vocabulary import Outcome, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl
    import pyarrow as pa

    from analyzer.sources.base import Frames, Options

CLOCK = "dynamo"
_SCHEMAS = ("dynamo.request.trace.v1", "dynamo.agent.trace.v1")
_SCHEMA = re.compile(rb'"schema"\s*:\s*"(dynamo\.[a-z.]*trace\.[a-z0-9.]*)"')
_BEGINNING = 400
_ENDED = "request_end"
# Rows of other kinds: the harness's tools, and what was asked and answered.
_ASIDE = ("tool_start", "tool_end", "tool_error", "request_payload")
_ENDED_WELL = ("stop", "length", "tool_calls", "function_call", "content_filter")
# A file's lines wrap the row beside the time since the writer began; standard error and old files have it bare.
_RECORD = (
    "CASE WHEN json_type(valid, '$.schema') IS NULL AND json_type(valid, '$.event') = 'OBJECT'"
    " THEN json_extract(valid, '$.event') ELSE valid END"
)
_PATHS = {
    "schema_name": "$.schema", "event_type": "$.event_type", "event_ms": "$.event_time_unix_ms",
    "request_id": "$.request.request_id", "x_request_id": "$.request.x_request_id", "model": "$.request.model",
    "received_ms": "$.request.request_received_ms", "ttft_ms": "$.request.ttft_ms",
    "total_ms": "$.request.total_time_ms", "input_tokens": "$.request.input_tokens",
    "output_tokens": "$.request.output_tokens", "cached_tokens": "$.request.cached_tokens",
    "replayed_tokens": "$.request.replay.input_length",
    "finish": "$.request.finish_reason_metadata.finish_reason",
    "backend_finish": "$.request.finish_reason_metadata.backend_finish_reason",
    "decode_worker": "$.request.worker.decode_worker_id", "prefill_worker": "$.request.worker.prefill_worker_id",
}  # fmt: skip


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(sql_text(word) for word in words)


def _duration_check(name: str) -> tuple[str, str]:
    wrong = f"{name}_type NOT IN ('NULL', 'UBIGINT', 'BIGINT', 'DOUBLE')"
    return f"{wrong} OR {name} IS NOT NULL AND {milliseconds(name)} IS NULL", f"{name} is not a duration"


_CHECKS = (
    *JSON_CHECKS,
    (f"schema_name IS NULL OR schema_name NOT IN ({_listed(_SCHEMAS)})", "its schema is not one that is known"),
    (f"event_type IS NULL OR event_type <> '{_ENDED}'", "its event type is not one that is known"),
    *told_checks(request_id="the row says no request", received_ms="the row says no arrival"),
    ("request_id = '' OR request_id_type <> 'VARCHAR'", "request_id is not a text"),
    *count_checks("received_ms", "event_ms", "input_tokens", "output_tokens", "cached_tokens", "replayed_tokens"),
    (f"{milliseconds('received_ms')} IS NULL", "received_ms is out of range"),
    _duration_check("ttft_ms"),
    _duration_check("total_ms"),
)
_ARRIVED = milliseconds("received_ms")
# An end that is the arrival itself is none: the writer puts it there where it measured no end.
_DONE = f"""CASE WHEN total_ms IS NOT NULL THEN {_ARRIVED} + {milliseconds("total_ms")}
  WHEN {milliseconds("event_ms")} > {_ARRIVED} THEN {milliseconds("event_ms")} END"""
_REQUESTS = f"""
  CASE WHEN x_request_id <> '' AND NOT shared THEN x_request_id ELSE request_id END AS request,
  request_id AS response_id, '{CLOCK}' AS clock, '{Side.GATEWAY}' AS side, model,
  coalesce(decode_worker, prefill_worker) AS worker,
  {_ARRIVED} AS arrived_ns, {_ARRIVED} + {milliseconds("ttft_ms")} AS first_content_ns, {_DONE} AS done_ns,
  TRY_CAST(coalesce(input_tokens, replayed_tokens) AS BIGINT) AS input_tokens,
  -- 0 beside a first token is the counter as it began.
  CASE WHEN ttft_ms IS NULL OR output_tokens <> '0' THEN TRY_CAST(output_tokens AS BIGINT) END AS output_tokens,
  TRY_CAST(cached_tokens AS BIGINT) AS cached_tokens,
  CASE WHEN backend_finish = 'error' OR starts_with(backend_finish, 'error:') THEN '{Outcome.ERROR}'
    WHEN backend_finish = 'cancelled' THEN '{Outcome.CANCELLED}'
    WHEN finish IN ({_listed(_ENDED_WELL)}) THEN '{Outcome.OK}'
    -- The row is written when the answer was whole and when its reader left.
    ELSE '{Outcome.UNRESOLVED}' END AS outcome,
  CASE WHEN backend_finish = 'error' OR starts_with(backend_finish, 'error:') THEN 'backend error' END AS error_type,
  CASE WHEN finish IN ({_listed(_ENDED_WELL)}) THEN finish END AS stop_reason"""


def _told(path: str) -> pl.Expr:
    """A text of a row, wrapped or bare; null in a line that is no JSON."""
    import polars as pl

    line = pl.col("line")
    return pl.coalesce(line.str.json_path_match(f"$.event.{path}"), line.str.json_path_match(f"$.{path}"))


def _frame(table: pa.Table) -> pl.DataFrame:
    """Of each line its kind, the caller's id, and whether it says how the answer ended."""
    import polars as pl

    finish = "request.finish_reason_metadata."
    kind = _told("event_type")
    return cast("pl.DataFrame", pl.from_arrow(table)).select(
        kind=kind,
        aside=kind.is_in(_ASIDE).fill_null(value=False),
        caller=_told("request.x_request_id"),
        said=_told(f"{finish}finish_reason").is_not_null() | _told(f"{finish}backend_finish_reason").is_not_null(),
    )


def _survey(path: Path, limit: int) -> tuple[list[str], tuple[str, ...]]:
    """Callers' ids that several rows of a file bear, and what is to be said of the file."""
    import polars as pl

    callers, unsaid = [pl.Series("caller", [], pl.String)], 0
    for block in lines(path, limit):
        ended = _frame(block.table).filter(pl.col("kind") == _ENDED)
        callers.append(ended["caller"].drop_nulls())
        unsaid += int((~ended["said"]).sum())
    shared = pl.concat(callers).value_counts().filter(pl.col("count") > 1)
    notes = []
    if unsaid:
        notes.append(f"{unsaid} rows say no finish reason: how these ended is not recorded")
    if rows := int(shared["count"].sum()):
        notes.append(f"{rows} rows share the caller's request id with another row: Dynamo's own id stands for it")
    return shared["caller"].to_list(), tuple(notes)


class _Dynamo:
    name = "dynamo"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line with the name of a schema that is known."""
        return _schema(head) in _SCHEMAS

    def explain(self, head: bytes, path: Path) -> str | None:  # noqa: ARG002 (content decides, not the name)
        """Why rows of another schema are not read."""
        if (schema := _schema(head)) and schema not in _SCHEMAS:
            return f"its rows are of Dynamo's schema {schema}; known are {' and '.join(_SCHEMAS)}"
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, seen by the gateway: arrival, first token and end as far as a row has them."""
        import pyarrow as pa

        shared, notes = _survey(path, options.max_line_bytes)
        for block in lines(path, options.max_line_bytes):
            frame = _frame(block.table)
            kept = pa.array((~frame["aside"]).to_list(), pa.bool_())
            table = block.table.append_column(
                "shared", pa.array(frame["caller"].is_in(shared).fill_null(value=False).to_list(), pa.bool_())
            ).filter(kept)
            yield line_frames(
                block, table, options, fields=json_fields(_PATHS, _RECORD), checks=_CHECKS, requests=_REQUESTS,
                set_aside=len(frame) - table.num_rows, notes=notes, tool="dynamo",
            )  # fmt: skip
            notes = ()


def _schema(head: bytes) -> str | None:
    first = head.lstrip().split(b"\n", 1)[0]
    found = _SCHEMA.search(first[:_BEGINNING]) if first.startswith(b"{") else None
    return found[1].decode() if found else None


SOURCE = _Dynamo()
