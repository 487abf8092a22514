"""AIPerf's profile_export.jsonl: one line a request, unix ns and milliseconds of the load generator's clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.aiperf import lines
from analyzer.sources.aiperf.beside import settings_beside
from analyzer.sources.base import HEAD_BYTES, Frames
from analyzer.sources.opening import head as first_bytes
from analyzer.sources.opening import lines as lines_of
from analyzer.sources.quoting import sql_text
from analyzer.sources.request_rows import event_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.aiperf.beside import Beside
    from analyzer.sources.base import Options

_DURATIONS = ("time_to_first_token", "ttft", "time_to_first_output_token", "request_latency")
_COUNTS = (
    "input_sequence_length", "error_isl", "output_sequence_length", "reasoning_token_count", "usage_prompt_tokens",
    "usage_completion_tokens", "usage_reasoning_tokens", "usage_prompt_cache_read_tokens",
)  # fmt: skip
_GAPS = "inter_chunk_latency"
_TRACE = ("request_send_start_ns", "response_receive_end_ns", "error_timestamp_ns")
_STRUCTURE = {
    "metrics": {
        **{name: {"value": "DOUBLE", "unit": "VARCHAR"} for name in (*_DURATIONS, *_COUNTS)},
        _GAPS: {"value": ["DOUBLE"], "unit": "VARCHAR"},
    },
    "trace_data": dict.fromkeys((*_TRACE, "response_status_code"), "VARCHAR"),
}
_SENTENCES = {
    "send_from_trace": "{n} requests were stamped with their start when they were given up: their send and end are"
    " taken from the HTTP trace",
    "send_reckoned": "{n} requests were stamped with their start when they were given up: their send is taken as that"
    " less the time they had waited",
    "without_end": "{n} failed requests have no end: the file has their start there",
    "of_no_length": "{n} requests have a time of 0 ms, which is none and was left out",
}


def _factor(name: str) -> str:
    return f"CASE f.metrics.{name}.unit WHEN 'ms' THEN 1e6 WHEN 'us' THEN 1e3 WHEN 'ns' THEN 1 WHEN 's' THEN 1e9 END"


def _ns(name: str) -> str:
    """A duration in whole nanoseconds, as AIPerf measured it before it wrote milliseconds; NULL for 0."""
    return f"TRY_CAST(round(nullif(f.metrics.{name}.value, 0) * {_factor(name)}) AS BIGINT)"


def _count(name: str) -> str:
    return f"CASE WHEN f.metrics.{name}.value >= 0 THEN TRY_CAST(f.metrics.{name}.value AS BIGINT) END"


def _is_no_duration(name: str, values: str) -> str:
    limit = f"{lines.LONGEST_NS} / {_factor(name)}"
    return f"len(list_filter({values}, lambda v: v IS NULL OR NOT v BETWEEN 0 AND {limit})) > 0"


def _checks() -> tuple[tuple[str, str], ...]:
    checks = [("f.metrics IS NULL", "metrics is missing")]
    for name in (*_DURATIONS, _GAPS):
        given = f"f.metrics.{name}.value IS NOT NULL"
        values = f"f.metrics.{name}.value" if name == _GAPS else f"[f.metrics.{name}.value]"
        checks += [
            (f"{given} AND {_factor(name)} IS NULL", f"{name} has a unit that is none of ns, us, ms, s"),
            (f"{given} AND {_is_no_duration(name, values)}", f"{name} holds a value that is no duration"),
        ]
    checks += [(lines.is_strange(f"f.trace_data.{name}"), f"{name} is not a count of nanoseconds") for name in _TRACE]
    traced = ", ".join(lines.whole(f"f.trace_data.{name}") for name in _TRACE)
    return (*checks, (f"greatest({traced}) > {lines.MOST_NS}", "a time is out of range"))


# A safe reading of the gaps: the checks see what is wrong with them only after all columns have been made.
_SAFE_GAPS = f"list_filter(f.metrics.{_GAPS}.value, lambda v: v BETWEEN 0 AND {lines.LONGEST_NS} / {_factor(_GAPS)})"

_STAGE = f"""
WITH {lines.read(_STRUCTURE)}, checked AS (
  SELECT *, {lines.reasons(_checks())} AS reason FROM request_line
), told AS (
  SELECT position, reason, CASE WHEN reason IS NOT NULL THEN left(line, 1000) END AS start,
    {lines.NAMED},
    f.metadata.turn_index AS turn_index,
    {lines.whole("f.trace_data.request_send_start_ns")} AS send_ns,
    {lines.whole("f.trace_data.response_receive_end_ns")} AS received_ns,
    {lines.whole("f.trace_data.error_timestamp_ns")} AS broken_ns,
    coalesce(TRY_CAST(f.trace_data.response_status_code AS INTEGER), CASE WHEN code <> 499 THEN code END) AS status,
    CASE WHEN reason IS NULL THEN coalesce({_ns("time_to_first_token")}, {_ns("ttft")}) END AS first_ns,
    CASE WHEN reason IS NULL THEN {_ns("time_to_first_output_token")} END AS answer_ns,
    CASE WHEN reason IS NULL THEN {_ns("request_latency")} END AS latency_ns,
    CASE WHEN reason IS NULL AND {_factor(_GAPS)} IS NOT NULL THEN
      list_transform({_SAFE_GAPS}, lambda v: TRY_CAST(round(v * {_factor(_GAPS)}) AS BIGINT)) END AS gaps,
    -- An answer that came as a stream has a first token, or it is no answer to AIPerf.
    coalesce(NOT failed AND f.metrics.request_latency.value > 0 AND f.metrics.time_to_first_token.value IS NULL
      AND f.metrics.ttft.value IS NULL, false) AS in_one,
    0 IN ({", ".join(f"coalesce(f.metrics.{name}.value, -1)" for name in _DURATIONS)}) AS of_no_length,
    {", ".join(f"{_count(name)} AS {name}" for name in _COUNTS)}
  FROM checked
), judged_late AS (
  SELECT *, coalesce({lines.GIVEN_UP} AND send_ns < start_ns, false) AS send_from_trace,
    coalesce(send_ns IS NULL AND {lines.STAMPED_LATE}, false) AS send_reckoned
  FROM told
), timed AS (
  SELECT *,
    CASE WHEN send_from_trace THEN send_ns WHEN send_reckoned THEN start_ns - (end_ns - start_ns)
      ELSE start_ns END AS sent_ns,
    CASE
      WHEN send_from_trace AND broken_ns >= send_ns THEN broken_ns
      -- The stamp is of the moment when it was given up.
      WHEN send_from_trace OR send_reckoned THEN start_ns
      WHEN end_ns > start_ns THEN end_ns
      WHEN failed AND received_ns > start_ns THEN received_ns
      WHEN failed AND broken_ns > start_ns THEN broken_ns
    END AS done_ns
  FROM judged_late
)
SELECT *, failed AND done_ns IS NULL AND end_ns IS NOT NULL AS without_end FROM timed"""


def _requests(beside: Beside) -> str:
    """Request rows from the staged lines."""
    own = "NULL" if beside.server_counts else "coalesce(input_sequence_length, error_isl)"
    made = "NULL" if beside.server_counts else "output_sequence_length"
    kept = "usage_completion_tokens" + (", output_sequence_length" if beside.server_counts else "")
    given = "usage_prompt_tokens" + (", input_sequence_length" if beside.server_counts else "")
    return f"""
WITH taken AS (
  SELECT * FROM staged WHERE reason IS NULL
), arriving AS (
  SELECT position, start_ns + first_ns AS begun_ns, unnest(list_prepend(0::BIGINT, coalesce(gaps, []))) AS gap,
    generate_subscripts(list_prepend(0::BIGINT, coalesce(gaps, [])), 1) AS place
  FROM taken
  -- One chunk has no gap; without a list it is known to be the only one when the answer ends with it.
  WHERE first_ns IS NOT NULL AND (gaps IS NOT NULL OR latency_ns = first_ns)
), arrived AS (
  SELECT position, place,
    TRY_CAST(begun_ns + sum(gap) OVER (PARTITION BY position ORDER BY place) AS BIGINT) AS time_ns
  FROM arriving
), gathered AS (
  SELECT position, max(time_ns) AS last_ns,
    list({{'time_ns': time_ns, 'kind': NULL::VARCHAR, 'tokens': NULL::BIGINT}} ORDER BY place) AS chunks
  FROM arrived
  WHERE time_ns IS NOT NULL
  GROUP BY position
)
SELECT {lines.facts(beside)}, {sql_text(beside.model) if beside.model else "NULL"} AS model,
  CASE WHEN status BETWEEN 100 AND 599 THEN status END AS status_code,
  CASE WHEN first_ns IS NOT NULL THEN true WHEN in_one THEN false END AS streamed,
  coalesce({given}) AS input_tokens, coalesce({kept}) AS output_tokens,
  -- Where the server counts nothing, the share of the text that was reasoning is of the same count as all of it.
  coalesce(usage_reasoning_tokens,
    CASE WHEN coalesce({kept}) IS NULL THEN reasoning_token_count END) AS reasoning_tokens,
  usage_prompt_cache_read_tokens AS cached_tokens,
  {own} AS retokenized_input_tokens, {made} AS retokenized_output_tokens,
  sent_ns, start_ns + first_ns AS first_content_ns, start_ns + answer_ns AS first_answer_ns,
  coalesce(last_ns, CASE WHEN first_ns IS NOT NULL THEN start_ns + latency_ns END) AS last_content_ns, done_ns, chunks
FROM taken
LEFT JOIN gathered USING (position)"""


class _AIPerf:
    name = "aiperf"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line of metadata and metrics."""
        return lines.first_key(head) == "metrics"

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, a request a line. SourceError when the file is cut short in its compression."""
        beside = settings_beside(path)
        told = lines.version(first_bytes(path, HEAD_BYTES), beside)
        yield Frames(tool=f"aiperf {told}" if told else "aiperf", notes=lines.said_of_version(told))
        tally = lines.Tally(options, _SENTENCES)
        select = event_rows(_requests(beside), options)
        for block in lines_of(path, options.max_line_bytes):
            yield tally.frames(block, block.table, _STAGE, select)
        yield tally.flush()


SOURCE = _AIPerf()
