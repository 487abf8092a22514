"""Spans of OTLP's protobuf messages."""

from __future__ import annotations

import base64
from functools import cache
from typing import TYPE_CHECKING, Any

from analyzer.sources.span_rows import ODD_FORMS, Resource, flag_of
from analyzer.sources.span_values import KINDS, STATUSES, OddRecordError, enum, ids, nanoseconds, number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.otlp.message_columns import MessageColumns
    from analyzer.sources.span_rows import SpanRows

_TRACE_BYTES, _SPAN_BYTES = 16, 8


@cache
def _kinds() -> dict[str, Any]:
    """The messages that a group may be."""
    from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs
    from opentelemetry.proto.metrics.v1.metrics_pb2 import ResourceMetrics
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

    return {"spans": ResourceSpans, "metrics": ResourceMetrics, "logs": ResourceLogs}


def _parsed(kind: str, group: bytes) -> Any:
    """The group as a message of this kind; None when it cannot be one."""
    from google.protobuf.message import DecodeError

    try:
        return _kinds()[kind].FromString(group)
    except DecodeError:
        return None


def is_resource_spans(group: bytes) -> bool:
    """Whether the bytes are the spans, metrics or logs of one resource."""
    for kind, scopes in (("spans", "scope_spans"), ("metrics", "scope_metrics"), ("logs", "scope_logs")):
        found = _parsed(kind, group)
        # Bytes that mean something else leave fields that the message does not have.
        if found is not None and (found.resource.attributes or getattr(found, scopes)) and not _strange(found, scopes):
            return True
    return False


def _strange(found: Any, scopes: str) -> bool:
    from google.protobuf.unknown_fields import UnknownFieldSet

    parts = (found, found.resource, *found.resource.attributes, *getattr(found, scopes))
    return sum(len(UnknownFieldSet(part)) for part in parts) > len(parts)


def resource_into(
    group: bytes, position: int, place: str, rows: SpanRows, columns: MessageColumns | None = None
) -> Iterator[None]:
    """Take the spans of one resource, or hand them to `columns`."""
    found = _parsed("spans", group)
    if found is None or not _has_span(found):
        other = _other_kind(group)
        if other:
            rows.set_aside(f"resources of {other}")
            yield
            return
    if found is None:
        rows.refuse(place, "not a message of OTLP", group)
        yield
        return
    if columns is not None and columns.offer(found, len(group), position, place):
        return
    try:
        resource = rows.resource(resource_attributes(found))
    except ODD_FORMS as fault:
        rows.refuse_odd(place, fault, group)
        yield
        return
    yield from spans_into(found, resource, position, place, rows)


def resource_attributes(group: Any) -> dict[str, Any]:
    """The attributes of a group's resource."""
    return _pairs(group.resource.attributes)


def scope_columns(scoped: Any) -> dict[str, str | None]:
    """The columns that say which scope a span is of."""
    return {"scope": scoped.scope.name or None, "scope_version": scoped.scope.version or None}


def spans_into(group: Any, resource: Resource, position: int, place: str, rows: SpanRows) -> Iterator[None]:
    """Take the spans of a group, one by one."""
    for scoped in group.scope_spans:
        scope = scope_columns(scoped)
        for span in scoped.spans:
            span_into(span, resource, scope, position, place, rows)
            yield


def _has_span(found: Any) -> bool:
    """Whether a span of it has ids: another kind of message, read as spans, has none."""
    if not any(scoped.spans for scoped in found.scope_spans):
        return True
    return any(
        len(span.trace_id) == _TRACE_BYTES and len(span.span_id) == _SPAN_BYTES
        for scoped in found.scope_spans
        for span in scoped.spans
    )


def _other_kind(group: bytes) -> str | None:
    metrics = _parsed("metrics", group)
    if metrics is not None:
        listed = [metric for scoped in metrics.scope_metrics for metric in scoped.metrics]
        if listed and all(metric.name and metric.WhichOneof("data") for metric in listed):
            return "metrics"
    logs = _parsed("logs", group)
    if logs is not None:
        records = [record for scoped in logs.scope_logs for record in scoped.log_records]
        if records and all(record.time_unix_nano or record.observed_time_unix_nano for record in records):
            return "logs"
    return None


def span_into(
    span: Any, resource: Resource, scope: dict[str, str | None], position: int, place: str, rows: SpanRows
) -> None:
    """Take one span, or refuse it."""
    try:
        start, odd_start = nanoseconds(span.start_time_unix_nano)
        end, odd_end = nanoseconds(span.end_time_unix_nano)
        trace_id, span_id = ids(_identifier(span.trace_id, _TRACE_BYTES), _identifier(span.span_id, _SPAN_BYTES))
        own = {
            "trace_id": trace_id,
            "span_id": span_id,
            "parent_span_id": _identifier(span.parent_span_id, _SPAN_BYTES),
            "name": span.name,
            "kind": enum(span.kind, KINDS, "SPAN_KIND_"),
            "status": enum(span.status.code, STATUSES, "STATUS_CODE_"),
            "status_message": span.status.message or None,
            "start_ns": start,
            "end_ns": end,
            "flag": flag_of(start, end, out_of_range=odd_start or odd_end),
            "trace_state": span.trace_state or None,
            "flags": span.flags or None,
            "dropped_attributes": span.dropped_attributes_count or None,
            "dropped_events": span.dropped_events_count or None,
            "dropped_links": span.dropped_links_count or None,
            **scope,
        }
        rows.add(own, _pairs(span.attributes), _events(span.events), _links(span.links), resource, position)
    except ODD_FORMS as fault:
        sample = {"trace_id": span.trace_id.hex(), "span_id": span.span_id.hex(), "name": span.name}
        rows.refuse_odd(place, fault, sample)


def _identifier(raw: bytes, size: int) -> str | None:
    if raw and len(raw) != size:
        raise OddRecordError(f"an id of {len(raw)} bytes is none of {size}")
    return raw.hex() if any(raw) else None


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind is None:
        return None
    raw = getattr(value, kind)
    if kind == "double_value":
        return number(raw)
    if kind == "bytes_value":
        return base64.b64encode(raw).decode("ascii")
    if kind == "array_value":
        return [_value(item) for item in raw.values]
    if kind == "kvlist_value":
        return _pairs(raw.values)
    return raw


def _pairs(items: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for item in items:
        if item.key not in found:
            found[item.key] = _value(item.value)
    return found


def _left_behind(item: Any) -> dict[str, Any]:
    return {"dropped_attributes": item.dropped_attributes_count} if item.dropped_attributes_count else {}


def _events(items: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": item.name,
            "time_ns": nanoseconds(item.time_unix_nano)[0],
            "attributes": _pairs(item.attributes),
            **_left_behind(item),
        }
        for item in items
    ]


def _links(items: Any) -> list[dict[str, Any]]:
    return [
        {
            "trace_id": _identifier(item.trace_id, _TRACE_BYTES),
            "span_id": _identifier(item.span_id, _SPAN_BYTES),
            "attributes": _pairs(item.attributes),
            **_left_behind(item),
        }
        for item in items
    ]
