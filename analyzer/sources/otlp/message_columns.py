"""Spans of protobuf messages as whole columns: the messages become Arrow's columns, and SQL makes rows of those."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import MEGABYTE, Columns, Frames
from analyzer.sources.opening import in_pieces
from analyzer.sources.otlp import staged
from analyzer.sources.otlp.proto_spans import resource_attributes, scope_columns, span_into, spans_into
from analyzer.sources.otlp.shapes import Shapes
from analyzer.sources.span_rows import ODD_FORMS
from analyzer.sources.span_values import KINDS, STATUSES, as_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.span_rows import Resource, SpanRows

_AT_ONCE = 16 * MEGABYTE
# Bytes of messages for which it takes longer to plan their reading as columns than to read them.
WORTH_COLUMNS = MEGABYTE // 2

# A text of less than 128 bytes is its tag, its length, and itself.
_SHORT_TEXT = """CASE WHEN hex(i[1:1]) = '0A' AND octet_length(i) BETWEEN 2 AND 129
  AND ('0x' || hex(i[2:2]))::INTEGER = octet_length(i) - 2 THEN to_json(decode(i[3:]))::VARCHAR END"""
_LIST = f"list_transform(a.value.array_value.values, lambda i: {_SHORT_TEXT})"
_VALUE = f"""coalesce(to_json(a.value.string_value)::VARCHAR, a.value.bool_value::VARCHAR, a.value.int_value::VARCHAR,
  CASE WHEN isfinite(a.value.double_value) THEN to_json(a.value.double_value)::VARCHAR END,
  CASE WHEN a.value.array_value IS NOT NULL AND list_count({_LIST}) = len(a.value.array_value.values)
    THEN '[' || coalesce(array_to_string({_LIST}, ','), '') || ']' END)"""
_MOST_NS = 2**63 - 1


def _pairs(attributes: str) -> str:
    return f"list_transform({attributes}, lambda a: to_json(a.key)::VARCHAR || ':' || {_VALUE})"


def _keys(attributes: str) -> str:
    return f"to_json(list_transform({attributes}, lambda a: a.key))::VARCHAR"


def _object(pairs: str) -> str:
    return f"'{{' || coalesce(array_to_string({pairs}, ','), '') || '}}'"


_EVENT_PAIRS = _pairs("e.attributes")
_EVENT = f"""CASE WHEN e.time_unix_nano BETWEEN 1 AND {_MOST_NS} AND list_count({_EVENT_PAIRS}) = len(e.attributes) THEN
  '{{"name":' || to_json(e.name)::VARCHAR || ',"time_ns":' || e.time_unix_nano || ',"attributes":'
  || {_object(_EVENT_PAIRS)} || CASE WHEN e.dropped_attributes_count > 0
    THEN ',"dropped_attributes":' || e.dropped_attributes_count ELSE '' END || '}}' END"""

# Of what can be taken `canonical` holds; a span that it does not hold of is the `place`th of its `part`.
_STAGE = f"""
WITH spanned AS (
  SELECT part, position, resource, scope, unnest(spans) AS s, unnest(range(1, len(spans) + 1)) AS place FROM input
), parsed AS (
  SELECT *, {_pairs("s.attributes")} AS pairs, list_transform(s.events, lambda e: {_EVENT}) AS event_texts FROM spanned
)
SELECT
  part, place, position, resource, scope, false AS line_odd,
  '[' || concat_ws(',', {_keys("s.attributes")},
    nullif(array_to_string(list_transform(s.events, lambda e: {_keys("e.attributes")}), ','), '')) || ']' AS keys,
  lower(hex(s.trace_id)) AS trace_id, lower(hex(s.span_id)) AS span_id,
  nullif(nullif(lower(hex(s.parent_span_id)), ''), repeat('0', 16)) AS parent_span_id,
  s.name AS name,
  {staged.named("s.kind::VARCHAR", KINDS, "")} AS kind,
  {staged.named("s.status.code::VARCHAR", STATUSES, "")} AS status,
  nullif(s.status.message, '') AS status_message,
  TRY_CAST(s.start_time_unix_nano AS BIGINT) AS start_ns, TRY_CAST(s.end_time_unix_nano AS BIGINT) AS end_ns,
  {_object("pairs")} AS attributes,
  CASE WHEN len(event_texts) > 0 THEN '[' || array_to_string(event_texts, ',') || ']' END AS events,
  nullif(s.trace_state, '') AS trace_state, nullif(s.flags, 0)::BIGINT AS flags,
  nullif(s.dropped_attributes_count, 0)::BIGINT AS dropped_attributes,
  nullif(s.dropped_events_count, 0)::BIGINT AS dropped_events,
  nullif(s.dropped_links_count, 0)::BIGINT AS dropped_links,
  coalesce(octet_length(s.trace_id) = 16 AND octet_length(s.span_id) = 8 AND octet_length(s.parent_span_id) IN (0, 8)
    AND trace_id <> repeat('0', 32) AND span_id <> repeat('0', 16)
    AND s.kind BETWEEN 0 AND {len(KINDS) - 1} AND coalesce(s.status.code, 0) BETWEEN 0 AND {len(STATUSES) - 1}
    AND start_ns BETWEEN 1 AND end_ns AND len(s.links) = 0
    AND list_count(pairs) = len(s.attributes) AND list_count(event_texts) = len(s.events), false) AS canonical
FROM parsed
"""
_LEFT = f"""
SELECT part, place FROM staged LEFT JOIN {staged.BY_SHAPE} WHERE NOT coalesce(staged.canonical AND j.kept, false)
ORDER BY part, place
"""


@cache
def _handler() -> Any:
    from opentelemetry.proto.trace.v1 import trace_pb2
    from ptars import HandlerPool

    return HandlerPool([trace_pb2.DESCRIPTOR]).get_for_message(trace_pb2.ScopeSpans.DESCRIPTOR)


@dataclass(frozen=True, slots=True)
class _Group:
    """The spans of one resource: its message, what it is called in the columns, and where it stands."""

    message: Any
    key: str
    resource: Resource
    position: int
    place: str


class MessageColumns:
    """Gathers resources with their spans, and makes `Columns` of them. What those leave goes into `rows`."""

    def __init__(self, options: Options, rows: SpanRows) -> None:
        self._rows = rows
        self._select = staged.taken(options.run, options.label)
        self._begin()

    def _begin(self) -> None:
        self._groups: list[_Group] = []
        self._resources: dict[bytes, Resource | None] = {}
        self._bytes = 0

    def offer(self, message: Any, size: int, position: int, place: str) -> bool:
        """Keep the spans of a resource (a message of ResourceSpans of `size` bytes) for later, if it is a plain one.

        One of which attributes are left out is not: they are to be counted.
        """
        key = message.resource.SerializeToString()
        if key not in self._resources:
            self._resources[key] = self._resource(message)
        resource = self._resources[key]
        if resource is None:
            return False
        self._groups.append(_Group(message, key.hex(), resource, position, place))
        self._bytes += size
        return True

    def _resource(self, message: Any) -> Resource | None:
        try:
            return self._rows.resource_if_whole(resource_attributes(message))
        except ODD_FORMS:
            return None

    def frames_if_full(self, bytes_read: int) -> Iterator[Frames]:
        """What has been gathered, if it is enough."""
        if self._bytes >= _AT_ONCE:
            yield from self.frames(bytes_read)

    def frames(self, bytes_read: int) -> Iterator[Frames]:
        """All that has been gathered."""
        groups, size = self._groups, self._bytes
        self._begin()
        columns = self._columns(groups) if size >= WORTH_COLUMNS else None
        if columns is not None:
            yield Frames((columns,), bytes_read=bytes_read)
        else:
            for group in groups:
                for _ in spans_into(group.message, group.resource, group.position, group.place, self._rows):
                    yield from self._rows.flush_full(bytes_read)
        yield from self._rows.flush_full(bytes_read)

    def _columns(self, groups: list[_Group]) -> Columns | None:
        """The columns of these groups; None when they cannot be made."""
        import pyarrow as pa

        parts = [(group, scoped) for group in groups for scoped in group.message.scope_spans]
        try:
            batch = _handler().list_to_record_batch([scoped.SerializeToString() for _, scoped in parts])
        except ValueError:  # what the package cannot take is read record by record
            return None
        scopes = [scope_columns(scoped) for _, scoped in parts]
        table = pa.table(
            {
                "part": pa.array(range(len(parts)), pa.int64()),
                "position": pa.array([group.position for group, _ in parts], pa.int64()),
                "resource": pa.array([group.key for group, _ in parts], pa.string()),
                "scope": pa.array([as_json(scope) for scope in scopes], pa.string()),
                "spans": batch.column("spans"),
            }
        )
        resources = {group.key: group.resource for group in groups}
        shapes = Shapes(self._rows.redact, lambda resource, scope: (resources[resource], json.loads(scope)))

        def take(counts: dict[str, int], left: pa.Table) -> None:
            self._rows.count(**counts)
            for row in left.to_pylist():
                group, scoped = parts[row["part"]]
                span = scoped.spans[row["place"] - 1]
                span_into(span, group.resource, scopes[row["part"]], group.position, group.place, self._rows)

        return Columns(
            "span", in_pieces(table), _STAGE, staged.SHAPES, shapes.judge, self._select, staged.COUNTS, _LEFT, take
        )
