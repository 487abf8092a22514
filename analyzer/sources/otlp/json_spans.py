"""Spans of OTLP's JSON documents, whatever names their lists bear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.sources.documents import NO_OBJECT
from analyzer.sources.otlp.json_values import pairs
from analyzer.sources.span_rows import ODD_FORMS, Resource, flag_of
from analyzer.sources.span_values import (
    KINDS,
    SPAN_DIGITS,
    STATUSES,
    TRACE_DIGITS,
    OddRecordError,
    enum,
    identifier,
    ids,
    nanoseconds,
    optional_count,
    optional_text,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.span_rows import SpanRows

Path = tuple[str, ...]

# Tempo's second API and Jaeger's third one wrap the document.
_WRAPPERS: tuple[Path, ...] = ((), ("trace",), ("result",))


def _under(*names: str) -> frozenset[Path]:
    return frozenset((*wrapper, name) for wrapper in _WRAPPERS for name in names)


BATCHES = _under("batches")
FLAT = frozenset({("spans",)})
LISTED: Path = ()  # documents as the elements of one list
_OTHER = {
    **dict.fromkeys(_under("resourceMetrics", "resource_metrics"), "metrics"),
    **dict.fromkeys(_under("resourceLogs", "resource_logs"), "logs"),
    **dict.fromkeys(_under("resourceProfiles", "resource_profiles"), "profiles"),
}
ARRAYS = _under("resourceSpans", "resource_spans") | BATCHES | FLAT | {LISTED} | frozenset(_OTHER)
_SCOPE_LISTS = ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans")
_SCOPE_NAMES = ("scope", "instrumentationLibrary", "instrumentation_library", "instrumentationScope")
_NOT_A_DOCUMENT = "not a document of spans"


def either(node: dict[str, Any], *names: str) -> Any:
    """The value of the first of these names that is there."""
    for name in names:
        if name in node:
            return node[name]
    return None


def document_into(document: Any, position: int, place: str, rows: SpanRows) -> Iterator[None]:
    """Take every span of a document; OddRecordError, with nothing taken, when it is none."""
    found = False
    if isinstance(document, list) and document:
        found = True
        for item in document:
            yield from group_into(LISTED, item, position, place, rows)
    elif isinstance(document, dict):
        for path in _paths(document):
            items = document[path[0]] if len(path) == 1 else document[path[0]][path[1]]
            found = True
            for item in items:
                yield from group_into(path, item, position, place, rows)
    if not found:
        raise OddRecordError(_NOT_A_DOCUMENT)


def _paths(document: dict[str, Any]) -> list[Path]:
    """The lists of a document that hold groups."""
    paths: list[Path] = [(key,) for key, value in document.items() if (key,) in ARRAYS and isinstance(value, list)]
    for (wrapper,) in (path for path in _WRAPPERS if path):
        inner = document.get(wrapper)
        if isinstance(inner, dict):
            paths += [
                (wrapper, key) for key, value in inner.items() if (wrapper, key) in ARRAYS and isinstance(value, list)
            ]
    return paths


def group_into(path: Path, group: Any, position: int, place: str, rows: SpanRows) -> Iterator[None]:
    """Take the spans of one element of a document's list: the spans of one resource, or one span by itself."""
    if path in _OTHER:
        rows.set_aside(f"resources of {_OTHER[path]}")
        yield
        return
    if not isinstance(group, dict):
        rows.refuse(place, NO_OBJECT, group)
        yield
        return
    if path == LISTED:
        try:
            yield from document_into(group, position, place, rows)
        except OddRecordError as fault:
            rows.refuse(place, str(fault), group)
            yield
        return
    if path in FLAT:
        _lone_span_into(group, position, place, rows)
        yield
        return
    try:
        resource = rows.resource(resource_attributes(group))
        scopes = [(scoped, scope_columns(scoped), _spans(scoped)) for scoped in _scoped(group)]
    except ODD_FORMS as fault:
        rows.refuse_odd(place, fault, group)
        yield
        return
    for scoped, scope, spans in scopes:
        if spans is None:
            rows.refuse(place, "the spans of a scope are not a list", scoped)
            yield
            continue
        for span in spans:
            span_into(span, resource, scope, position, place, rows)
            yield


def _scoped(group: dict[str, Any]) -> list[Any]:
    listed = [scoped for name in _SCOPE_LISTS for scoped in group.get(name) or ()]
    if any(isinstance(group.get(name), dict) for name in _SCOPE_LISTS):
        raise OddRecordError("the scopes of a resource are not a list")
    return listed


def resource_attributes(group: Any) -> dict[str, Any]:
    """The attributes of the resource that a group, or a lone span, is of. ODD_FORMS when it is none."""
    return pairs((group.get("resource") or {}).get("attributes"))


def scope_columns(scoped: Any) -> dict[str, str | None]:
    """The columns that say which scope a span is of."""
    scope = either(scoped, *_SCOPE_NAMES) or {}
    return {"scope": text(scope.get("name")), "scope_version": optional_text(scope.get("version"))}


def _spans(scoped: dict[str, Any]) -> list[Any] | None:
    spans = scoped.get("spans") or []
    return spans if isinstance(spans, list) else None


def _lone_span_into(span: Any, position: int, place: str, rows: SpanRows) -> None:
    """A span that says its resource and scope itself, or says none."""
    try:
        resource = rows.resource(resource_attributes(span))
        scope = scope_columns(span)
    except ODD_FORMS as fault:
        rows.refuse_odd(place, fault, span)
        return
    span_into(span, resource, scope, position, place, rows)


def span_into(
    span: Any, resource: Resource, scope: dict[str, str | None], position: int, place: str, rows: SpanRows
) -> None:
    """Take one span, or refuse it."""
    try:
        own = _own_columns(span) | scope
        attributes = pairs(span.get("attributes"))
        rows.add(own, attributes, _events(span.get("events")), _links(span.get("links")), resource, position)
    except ODD_FORMS as fault:
        rows.refuse_odd(place, fault, span)


def _own_columns(span: dict[str, Any]) -> dict[str, Any]:
    trace_id, span_id = ids(
        identifier(either(span, "traceId", "trace_id"), TRACE_DIGITS),
        identifier(either(span, "spanId", "span_id"), SPAN_DIGITS),
    )
    start, odd_start = nanoseconds(either(span, "startTimeUnixNano", "start_time_unix_nano"))
    end, odd_end = nanoseconds(either(span, "endTimeUnixNano", "end_time_unix_nano"))
    status = span.get("status") or {}
    if not isinstance(status, dict):
        status = {"code": status}
    return {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": identifier(either(span, "parentSpanId", "parent_span_id"), SPAN_DIGITS),
        "name": text(span.get("name")) or "",
        "kind": enum(span.get("kind"), KINDS, "SPAN_KIND_"),
        "status": enum(status.get("code"), STATUSES, "STATUS_CODE_"),
        "status_message": text(status.get("message")),
        "start_ns": start,
        "end_ns": end,
        "flag": flag_of(start, end, out_of_range=odd_start or odd_end),
        "trace_state": optional_text(either(span, "traceState", "trace_state")),
        "flags": optional_count(span.get("flags")),
        "dropped_attributes": optional_count(either(span, "droppedAttributesCount", "dropped_attributes_count")),
        "dropped_events": optional_count(either(span, "droppedEventsCount", "dropped_events_count")),
        "dropped_links": optional_count(either(span, "droppedLinksCount", "dropped_links_count")),
    }


def _left_behind(item: dict[str, Any]) -> dict[str, Any]:
    """How many attributes the SDK itself has dropped, where it says so."""
    count = optional_count(either(item, "droppedAttributesCount", "dropped_attributes_count"))
    return {"dropped_attributes": count} if count else {}


def _events(items: Any) -> list[dict[str, Any]]:
    return [
        {
            "name": text(item.get("name")) or "",
            "time_ns": nanoseconds(either(item, "timeUnixNano", "time_unix_nano"))[0],
            "attributes": pairs(item.get("attributes")),
            **_left_behind(item),
        }
        for item in items or ()
    ]


def _links(items: Any) -> list[dict[str, Any]]:
    return [
        {
            "trace_id": identifier(either(item, "traceId", "trace_id"), TRACE_DIGITS),
            "span_id": identifier(either(item, "spanId", "span_id"), SPAN_DIGITS),
            "attributes": pairs(item.get("attributes")),
            **_left_behind(item),
        }
        for item in items or ()
    ]
