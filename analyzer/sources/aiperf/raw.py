"""AIPerf's profile_export_raw.jsonl: every message of every request, by a counter that starts with the request."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError
from analyzer.sources.aiperf import lines, messages
from analyzer.sources.aiperf.beside import requests_beside, settings_beside
from analyzer.sources.base import HEAD_BYTES, Frames
from analyzer.sources.opening import head as first_bytes
from analyzer.sources.opening import lines as lines_of
from analyzer.sources.request_rows import event_rows

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.aiperf.beside import Beside
    from analyzer.sources.base import Options

_STRUCTURE = {
    "start_perf_ns": "VARCHAR",
    "status": "VARCHAR",
    "payload": {"model": "VARCHAR"},
    "responses": [
        {"perf_ns": "VARCHAR", "packets": [{"name": "VARCHAR", "value": "VARCHAR"}], "text": "VARCHAR"},
    ],
}
_SENTENCES = {
    "send_told": "{n} requests were stamped with their start when they were given up: their send and end are taken"
    " from the HTTP trace in the export of requests beside this file",
    "send_reckoned": "{n} requests were stamped with their start when they were given up: their send is taken as that"
    " less the time they had waited",
    "without_end": "{n} failed requests have no end: the file has their start there",
    "odd": "{n} requests have messages of a form that is not known here: when their content came is not told",
}
_CHECKS = (
    ("f.responses IS NULL AND NOT failed", "responses is missing"),
    (lines.is_strange("f.start_perf_ns"), "start_perf_ns is not a count of nanoseconds"),
    ("f.start_perf_ns IS NULL", "start_perf_ns is missing"),
)

_USAGE = ", ".join(
    f"arg_max({count}, place) FILTER ({count} IS NOT NULL) AS {name}" for name, count in messages.COUNTS.items()
)
# A count of the performance counter may be 0: it starts with the machine.
_PERF = "TRY_CAST(r.perf_ns AS BIGINT)"

_STAGE = f"""
WITH {lines.read(_STRUCTURE)}, beside AS (
  SELECT told_request, max(told_sent_ns) AS told_sent_ns, max(told_done_ns) AS told_done_ns
  FROM input WHERE line IS NULL GROUP BY told_request
), checked AS MATERIALIZED (
  SELECT *, {lines.reasons(_CHECKS)} AS reason FROM request_line
), response AS (
  SELECT position, unnest(f.responses) AS r, generate_subscripts(f.responses, 1) AS place,
    start_ns, TRY_CAST(f.start_perf_ns AS BIGINT) AS start_perf_ns
  FROM checked WHERE reason IS NULL
), received AS (
  SELECT position, place, r.text IS NOT NULL AS in_one,
    TRY_CAST(start_ns::HUGEINT + ({_PERF} - start_perf_ns) AS BIGINT) AS time_ns,
    coalesce(r.text, array_to_string(list_transform(
      list_filter(r.packets, lambda p: p.name = 'data' AND p.value IS NOT NULL), lambda p: p.value), chr(10))) AS body
  FROM response
), read AS (
  SELECT position, place, in_one, time_ns, body, valid, {messages.PARSED} AS m
  FROM (SELECT *, CASE WHEN json_valid(body) THEN body END AS valid FROM received)
), message AS (
  SELECT position, place, time_ns, m, in_one, CASE WHEN in_one THEN 'done' ELSE {messages.KIND} END AS kind FROM read
), gathered AS (
  SELECT position,
    list({{'time_ns': time_ns, 'kind': kind, 'tokens': NULL::BIGINT}} ORDER BY place)
      FILTER (kind <> 'done') AS chunks,
    min(time_ns) FILTER (kind IN ('text', 'reasoning', 'tool')) AS first_content_ns,
    min(time_ns) FILTER (kind IN ('text', 'tool')) AS first_answer_ns,
    max(time_ns) FILTER (kind IN ('text', 'reasoning', 'tool')) AS last_content_ns,
    bool_or(kind = 'unknown' OR time_ns IS NULL) AS odd, bool_or(in_one) AS in_one,
    arg_min({messages.RESPONSE_ID}, place) FILTER ({messages.RESPONSE_ID} <> '') AS response_id, {_USAGE}
  FROM message
  GROUP BY position
), told AS (
  SELECT position, reason, CASE WHEN reason IS NOT NULL THEN left(line, 1000) END AS start,
    {lines.NAMED},
    f.metadata.turn_index AS turn_index, nullif(f.payload.model, '') AS model,
    coalesce(TRY_CAST(f.status AS INTEGER), CASE WHEN code <> 499 THEN code END) AS status
  FROM checked
), joined AS (
  SELECT t.*, g.* EXCLUDE (position, odd), coalesce(g.odd, false) AS odd, b.told_sent_ns, b.told_done_ns,
    coalesce(b.told_sent_ns < t.start_ns, false) AS send_told,
    coalesce(b.told_sent_ns IS NULL AND {lines.STAMPED_LATE}, false) AS send_reckoned
  FROM told AS t
  LEFT JOIN gathered AS g ON g.position = t.position
  LEFT JOIN beside AS b ON b.told_request = t.request
), timed AS (
  SELECT *,
    CASE WHEN send_told THEN told_sent_ns WHEN send_reckoned THEN start_ns - (end_ns - start_ns)
      ELSE start_ns END AS sent_ns,
    CASE WHEN send_told THEN told_done_ns WHEN send_reckoned THEN start_ns WHEN end_ns > start_ns THEN end_ns
      ELSE told_done_ns END AS done_ns
  FROM joined
)
SELECT *, failed AND done_ns IS NULL AND end_ns IS NOT NULL AS without_end FROM timed"""

_FAILED = '"error":\\s*\\{'


def _requests(beside: Beside) -> str:
    """Request rows from the staged lines."""
    return f"""
SELECT {lines.facts(beside)}, model,
  CASE WHEN status BETWEEN 100 AND 599 THEN status END AS status_code,
  CASE WHEN in_one THEN false WHEN len(chunks) > 0 THEN true END AS streamed,
  -- An id that several answers bear joins nothing.
  CASE WHEN count(*) OVER (PARTITION BY response_id) = 1 THEN response_id END AS response_id,
  -- Counts on the way are none of the whole.
  {", ".join(f"CASE WHEN NOT failed THEN {name} END AS {name}" for name in messages.COUNTS)},
  sent_ns, CASE WHEN NOT odd THEN first_content_ns END AS first_content_ns,
  CASE WHEN NOT odd THEN first_answer_ns END AS first_answer_ns,
  CASE WHEN NOT odd THEN last_content_ns END AS last_content_ns, done_ns, CASE WHEN NOT odd THEN chunks END AS chunks
FROM staged
WHERE reason IS NULL"""


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < lines.MOST_NS else None


def _true_times(row: dict[str, Any]) -> tuple[str, int | None, int | None] | None:
    """Id, send and end of a failed request, where its HTTP trace tells them and its own stamps do not; else None."""
    metadata, trace = row.get("metadata"), row.get("trace_data")
    if not isinstance(metadata, dict) or not isinstance(trace, dict):
        return None
    request, start = metadata.get("x_request_id"), _number(metadata.get("request_start_ns"))
    send, broken = _number(trace.get("request_send_start_ns")), _number(trace.get("error_timestamp_ns"))
    if not isinstance(request, str) or not start:
        return None
    kind = row["error"].get("type") if isinstance(row.get("error"), dict) else None
    given_up = metadata.get("was_cancelled") is True or kind in lines.GIVEN_UP_TYPES
    if given_up and send and send < start:
        return request, send, broken if broken and broken >= send else start
    if (_number(metadata.get("request_end_ns")) or start) <= start:
        ends = (_number(trace.get("response_receive_end_ns")), broken)
        return request, None, next((end for end in ends if end and end > start), None)
    return None


def _failed_lines(path: Path, limit: int) -> Iterator[dict[str, Any]]:
    import pyarrow.compute as pc

    for block in lines_of(path, limit):
        for line in block.table["line"].filter(pc.match_substring_regex(block.table["line"], _FAILED)).to_pylist():
            with suppress(ValueError, RecursionError):
                row = json.loads(line)
                if isinstance(row, dict):
                    yield row


def _told_beside(path: Path, limit: int) -> pa.Table:
    """True times of failed requests from the export of requests beside a file: only that has the HTTP trace."""
    import pyarrow as pa

    beside = requests_beside(path)
    found = []
    # What is wrong with that file is said where it is read itself.
    with suppress(SourceError):
        found += [times for line in _failed_lines(beside, limit) if (times := _true_times(line))] if beside else []
    names = (("told_request", pa.string()), ("told_sent_ns", pa.int64()), ("told_done_ns", pa.int64()))
    return pa.table({name: pa.array([row[place] for row in found], kind) for place, (name, kind) in enumerate(names)})


class _AIPerfRaw:
    name = "aiperf_raw"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line of metadata and the start by the performance counter."""
        return lines.first_key(head) == "start_perf_ns"

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, a request a line. SourceError when the file is cut short in its compression."""
        import pyarrow as pa

        beside = settings_beside(path)
        told = lines.version(first_bytes(path, HEAD_BYTES), beside)
        yield Frames(tool=f"aiperf {told}" if told else "aiperf", notes=lines.said_of_version(told))
        times = _told_beside(path, options.max_line_bytes)
        tally = lines.Tally(options, _SENTENCES)
        select = event_rows(_requests(beside), options)
        for block in lines_of(path, options.max_line_bytes):
            rows = pa.concat_tables([block.table, times], promote_options="default")
            yield tally.frames(block, rows, _STAGE, select)
        yield tally.flush()


SOURCE = _AIPerfRaw()
