"""Jaeger's JSON, as its UI saves a trace and its API gives traces: microseconds, processes, typed tags."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.sources import otel_tags
from analyzer.sources.documents import Pieces
from analyzer.sources.opening import open_counted
from analyzer.sources.span_rows import ODD_FORMS, Resource, SpanRows, flag_of
from analyzer.sources.span_values import (
    KINDS,
    SPAN_DIGITS,
    STATUSES,
    TRACE_DIGITS,
    OddRecordError,
    as_text,
    enum,
    ids,
    loaded,
    nanoseconds,
    padded_identifier,
    plain,
    text,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options

_TRACES = frozenset({("data",)})
_TRACE_ID = re.compile(rb'"traceID"\s*:')
_OWN_KEYS = re.compile(rb'"(spanID|operationName|processes)"\s*:')
_MICROSECOND = 1000


class _Jaeger:
    name = "jaeger"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """An object whose data are traces with Jaeger's own names."""
        start = head.lstrip()
        return start.startswith(b"{") and bool(_TRACE_ID.search(head)) and bool(_OWN_KEYS.search(head))

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `span`, one trace at a time; times are microseconds written as ns."""
        rows = SpanRows(options)
        stream, count = open_counted(path)
        with stream:
            for piece in Pieces(stream, _TRACES, options.max_document_bytes, options.max_depth):
                if piece.fault:
                    rows.refuse(piece.place, piece.fault, piece.body)
                elif piece.ends:
                    if not piece.seen:
                        rows.refuse(piece.place, "not a document of traces", piece.body)
                else:
                    for _ in _trace_into(piece.body, piece.line, piece.place, rows):
                        if rows.full:
                            yield rows.flush(count())
                if rows.full:
                    yield rows.flush(count())
            yield rows.flush(count(), last=True)


def _trace_into(body: bytes, position: int, place: str, rows: SpanRows) -> Iterator[None]:
    try:
        trace = loaded(body)
        spans = trace.get("spans") or []
        processes = {key: _resource(process, rows) for key, process in (trace.get("processes") or {}).items()}
        if not isinstance(spans, list):
            raise OddRecordError("the spans of a trace are not a list")
    except ODD_FORMS as fault:
        rows.refuse_odd(place, fault, body)
        return
    for span in spans:
        try:
            _span_into(span, processes, position, rows)
        except ODD_FORMS as fault:
            rows.refuse_odd(place, fault, span)
        yield


def _resource(process: dict[str, Any], rows: SpanRows) -> Resource:
    attributes = _tags(process.get("tags"))
    service = text(process.get("serviceName"))
    return rows.resource({**attributes, **({"service.name": service} if service else {})})


def _span_into(span: dict[str, Any], processes: dict[str, Resource], position: int, rows: SpanRows) -> None:
    trace_id, span_id = ids(
        padded_identifier(span.get("traceID"), TRACE_DIGITS), padded_identifier(span.get("spanID"), SPAN_DIGITS)
    )
    resource = processes.get(span.get("processID") or "")
    if resource is None:
        resource = _resource(span.get("process") or {}, rows)
    tags = _tags(span.get("tags"))
    start, odd_start = nanoseconds(span.get("startTime"), _MICROSECOND)
    duration = whole_number(span.get("duration"))
    end, odd_end = (None, False)
    if start is not None and duration is not None:
        end, odd_end = nanoseconds(start + duration * _MICROSECOND)
    parent, links = _references(span, trace_id)
    status, message = _status(tags)
    own = {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": parent,
        "name": text(span.get("operationName")) or "",
        "kind": enum(tags.get("span.kind"), KINDS, "SPAN_KIND_"),
        **otel_tags.columns(tags),
        "status": status,
        "status_message": message,
        "start_ns": start,
        "end_ns": end,
        "flag": flag_of(start, end, out_of_range=odd_start or odd_end, also=_warned(span)),
    }
    kept = {key: value for key, value in tags.items() if key not in otel_tags.MOVED}
    rows.add(own, kept, _events(span.get("logs")), links, resource, position)


def _warned(span: dict[str, Any]) -> str | None:
    """What Jaeger itself has found odd; also that it has moved the times, which its adjuster says only here."""
    warnings = [str(warning)[:200] for warning in span.get("warnings") or ()]
    return f"Jaeger warns: {'; '.join(warnings)}" if warnings else None


def _status(tags: dict[str, Any]) -> tuple[str, str | None]:
    """Status and message, from OpenTelemetry's tags, else from OpenTracing's."""
    told = tags.get("otel.status_code")
    failed = tags.get("error") in (True, "true")
    status = enum(told, STATUSES, "STATUS_CODE_") if told else ("error" if failed else "unset")
    if failed and status == "error":
        tags.pop("error", None)
    return status, as_text(tags.get("otel.status_description")) or None


def _references(span: dict[str, Any], trace_id: str) -> tuple[str | None, list[dict[str, Any]]]:
    """The parent, and what else the span refers to."""
    parent = padded_identifier(span.get("parentSpanID"), SPAN_DIGITS)
    links: list[dict[str, Any]] = []
    listed = sorted(span.get("references") or (), key=lambda reference: reference.get("refType") != "CHILD_OF")
    for reference in listed:
        trace = padded_identifier(reference.get("traceID"), TRACE_DIGITS)
        other = padded_identifier(reference.get("spanID"), SPAN_DIGITS)
        if parent is None and reference.get("refType") == "CHILD_OF" and trace == trace_id:
            parent = other
        elif (trace, other) != (trace_id, parent):
            links.append({"trace_id": trace, "span_id": other, "attributes": {}})
    return parent, links


def _tags(items: Any) -> dict[str, Any]:
    """Tags as an object, each of its own type; of a key that stands twice the first counts."""
    if not isinstance(items or [], list):
        raise OddRecordError("tags are not a list")
    found: dict[str, Any] = {}
    for item in items or ():
        key = item.get("key")
        if not isinstance(key, str):
            raise OddRecordError("a tag has no key")
        found.setdefault(key, _typed(item.get("type"), item.get("value")))
    return found


def _typed(kind: Any, value: Any) -> Any:
    if kind == "int64" and (whole := whole_number(value)) is not None:
        return whole
    if kind == "float64" and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if kind == "bool" and value in ("true", "false"):
        return value == "true"
    return plain(value)


def _events(logs: Any) -> list[dict[str, Any]]:
    events = []
    for log in logs or ():
        fields = _tags(log.get("fields"))
        name = as_text(fields.pop("event", None)) or as_text(fields.pop("message", None)) or ""
        time_ns, _ = nanoseconds(log.get("timestamp"), _MICROSECOND)
        events.append({"name": name, "time_ns": time_ns, "attributes": fields})
    return events


SOURCE = _Jaeger()
