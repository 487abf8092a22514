"""SGLang's request log (`--export-metrics-to-file`): a finished request a line, as API server and scheduler saw it.

With `--enable-metrics` a line has unix seconds; without, only how long the request took. Requests whose client left
during the stream are not in it. `response_sent_to_client_ts` is the first message of a stream and not its end.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from analyzer.sources.base import Frame, Frames
from analyzer.sources.opening import lines
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import outline, refused
from analyzer.sources.request_rows import event_rows
from analyzer.vocabulary import ClockKind, Outcome, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines

CLOCK = "sglang"
# The first key of a line is what was asked for, prompt and all; the others may stand beyond the first bytes.
_BEGINS = re.compile(rb'\s*\{\s*"request_parameters"\s*:\s*"')
_OTHERS = re.compile(rb'"(?:finish_reason|e2e_latency|completion_tokens|num_retractions)"\s*:')
_RETRACTED = r'"num_retractions"\s*:\s*[1-9]'
_FIELDS = (
    "request_parameters", "id", "finish_reason", "prompt_tokens", "completion_tokens", "reasoning_tokens",
    "cached_tokens", "num_retractions", "weight_version", "dp_rank", "queue_time", "request_received_ts",
    "forward_entry_time", "prefill_finished_time", "prefill_finished_ts", "decode_finished_ts", "request_finished_ts",
    "first_token_latency", "e2e_latency",
)  # fmt: skip
_NUMBERS = "'UBIGINT', 'BIGINT', 'DOUBLE', 'HUGEINT'"
_LATEST_S = 9_000_000_000


def _text(field: str) -> str:
    return f"CASE WHEN json_type(f.{field}) = 'VARCHAR' THEN json_extract_string(f.{field}, '$') END"


def _count(field: str) -> str:
    return (
        f"CASE WHEN json_type(f.{field}) = 'UBIGINT' THEN TRY_CAST(json_extract_string(f.{field}, '$') AS BIGINT) END"
    )


def _ns(field: str) -> str:
    """Seconds in ns; the digits of a double are what was written. What is negative or no number is none."""
    number = f"TRY_CAST(json_extract_string(f.{field}, '$') AS DECIMAL(38, 9))"
    return (
        f"CASE WHEN json_type(f.{field}) IN ({_NUMBERS}) AND {number} BETWEEN 0 AND {_LATEST_S}"
        f" THEN CAST(round({number} * 1000000000) AS BIGINT) END"
    )


# An abort without a status is the client's, or an operator's; one with a status is what the client is told.
_PARSED = f"""
WITH checked_line AS (
  SELECT position, line, CASE WHEN json_valid(line) THEN line END AS valid FROM input
), line_row AS (
  SELECT position, line, valid,
    CASE WHEN json_type(valid) = 'OBJECT' THEN from_json(valid, '{json.dumps(dict.fromkeys(_FIELDS, "JSON"))}') END AS f
  FROM checked_line
), told AS (
  SELECT position, line, valid, f,
    {_text("id")} AS id, {_text("request_parameters")} AS asked,
    coalesce(json_extract_string(f.finish_reason, '$.type'), {_text("finish_reason")}) AS stop_reason,
    TRY_CAST(json_extract_string(f.finish_reason, '$.status_code') AS INTEGER) AS status_code,
    json_extract_string(f.finish_reason, '$.err_type') AS err_type,
    coalesce(contains(lower(json_extract_string(f.finish_reason, '$.message')), 'timeout'), false) AS by_time,
    {_count("prompt_tokens")} AS input_tokens, {_count("completion_tokens")} AS output_tokens,
    {_count("reasoning_tokens")} AS reasoning_tokens, {_count("cached_tokens")} AS cached_tokens,
    {_count("dp_rank")} AS dp_rank, {_text("weight_version")} AS weights,
    {_count("num_retractions")} AS retractions, {_ns("queue_time")} AS queue_ns,
    nullif({_ns("request_received_ts")}, 0) AS received_ns, nullif({_ns("forward_entry_time")}, 0) AS forward_ns,
    nullif(coalesce({_ns("prefill_finished_time")}, {_ns("prefill_finished_ts")}), 0) AS prefilled_ns,
    nullif({_ns("decode_finished_ts")}, 0) AS decoded_ns, nullif({_ns("request_finished_ts")}, 0) AS finished_ns,
    nullif({_ns("first_token_latency")}, 0) AS first_ns, nullif({_ns("e2e_latency")}, 0) AS took_ns
  FROM line_row
), judged AS (
  SELECT *,
    CASE WHEN valid IS NULL THEN 'not valid JSON'
      WHEN f IS NULL THEN 'not a JSON object'
      WHEN received_ns IS NULL AND took_ns IS NULL THEN 'it tells neither when the request came nor how long it took'
    END AS reason,
    CASE WHEN stop_reason <> 'abort' THEN '{Outcome.OK}'
      WHEN stop_reason IS NULL THEN NULL
      WHEN by_time OR status_code IN (408, 504) THEN '{Outcome.TIMEOUT}'
      WHEN status_code IN (429, 503) AND coalesce(output_tokens, 0) = 0 THEN '{Outcome.REJECTED}'
      WHEN status_code IS NULL THEN '{Outcome.CANCELLED}'
      ELSE '{Outcome.ERROR}' END AS outcome,
    CASE WHEN json_valid(asked) THEN asked END AS parameters
  FROM told
)
"""

_ROWS = f"""{_PARSED}
SELECT position, id AS request, id AS response_id, '{CLOCK}' AS clock, '{Side.ENGINE}' AS side,
  CASE WHEN received_ns IS NULL THEN '{ClockKind.DURATION}' ELSE '{ClockKind.WALL}' END AS clock_kind,
  coalesce(received_ns, 0) AS arrived_ns,
  -- The wait in the queue is the sum over all stays in it: it tells when the first began if there was no other.
  CASE WHEN received_ns IS NOT NULL AND retractions = 0 THEN forward_ns - queue_ns END AS admitted_ns,
  CASE WHEN received_ns IS NOT NULL THEN forward_ns END AS started_ns,
  CASE WHEN received_ns IS NULL THEN first_ns ELSE coalesce(received_ns + first_ns, prefilled_ns) END AS first_token_ns,
  CASE WHEN outcome = '{Outcome.OK}' AND output_tokens > 0 THEN
    CASE WHEN received_ns IS NULL THEN took_ns ELSE coalesce(decoded_ns, finished_ns, received_ns + took_ns) END
  END AS last_token_ns,
  CASE WHEN received_ns IS NULL THEN took_ns ELSE coalesce(finished_ns, received_ns + took_ns) END AS done_ns,
  outcome, stop_reason, status_code,
  CASE WHEN outcome <> '{Outcome.OK}' THEN
    CASE WHEN regexp_full_match(err_type, '[A-Za-z_]{{1,40}}') THEN err_type ELSE 'abort' END END AS error_type,
  input_tokens, output_tokens, reasoning_tokens, cached_tokens,
  'dp ' || dp_rank AS worker, nullif(weights, 'default') AS revision,
  CASE json_extract_string(parameters, '$.stream') WHEN 'true' THEN true WHEN 'false' THEN false END AS streamed,
  nullif(regexp_extract(lower(json_extract_string(parameters, '$.external_trace_header.traceparent')),
    '^[0-9a-f]{{2}}-([0-9a-f]{{32}})-', 1), '') AS trace_id
FROM judged WHERE reason IS NULL"""


def _refused(options: Options, torn: int | None) -> str:
    """Rows of `refused`; no line is shown, because it begins with a prompt."""
    tail = (
        f"CASE WHEN position = {torn} AND reason = 'not valid JSON'"
        " THEN 'torn last line: the file ends inside it' ELSE reason END"
    )
    return (
        f"{_PARSED} SELECT {sql_text(options.label)} AS source_file, 'line ' || position AS position,\n"
        f"  {tail if torn else 'reason'} AS reason, length(line) || ' characters' AS sample\n"
        "FROM judged WHERE reason IS NOT NULL"
    )


class _SGLangRequests:
    name = "sglang_requests"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """An object that begins with what was asked for, and goes on with how it was answered."""
        whole = b"\n" in head
        return bool(_BEGINS.match(head)) and (not whole or bool(_OTHERS.search(head)))

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, the engine's side of each request."""
        yield Frames(tool="SGLang request log")
        for block in lines(path, options.max_line_bytes):
            yield self._frames(block, options)

    def _frames(self, block: Lines, options: Options) -> Frames:
        import pyarrow.compute as pc

        broken = [(f"line {position}", reason, outline(raw)) for position, reason, raw in block.broken]
        retracted = pc.sum(pc.match_substring_regex(block.table["line"], _RETRACTED)).as_py()
        note = f"{retracted} requests were retracted: when they waited again is not told, nor when they were admitted"
        return Frames(
            frames=(
                Frame("event", block.table, event_rows(_ROWS, options)),
                Frame("refused", block.table, _refused(options, block.torn_position)),
                *refused(options.label, broken),
            ),
            records=block.table.num_rows + len(broken),
            bytes_read=block.bytes_read,
            notes=(note,) if retracted else (),
        )


SOURCE = _SGLangRequests()
