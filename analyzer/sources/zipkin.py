"""Zipkin's JSON, version 2: lists of spans, microseconds, every tag a text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from analyzer.sources import otel_tags
from analyzer.sources.documents import Pieces
from analyzer.sources.opening import open_counted
from analyzer.sources.span_rows import ODD_FORMS, SpanRows, flag_of
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

_SPANS = frozenset({()})
_TRACE_ID = re.compile(rb'"traceId"\s*:\s*"[0-9a-fA-F]{1,32}"')
_SPAN_ID = re.compile(rb'"id"\s*:\s*"[0-9a-fA-F]{1,16}"')
_OTLP_TIME = re.compile(rb'"startTimeUnixNano"')
_LIST = re.compile(rb"[\s\x00]*\[\s*[\[{]")
_MICROSECOND = 1000
# Zipkin has no resource: exporters write its attributes among the tags.
_OF_RESOURCE = re.compile(r"(service|telemetry|host|k8s|process|os|container|cloud|deployment)\..+")


class _Zipkin:
    name = "zipkin"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A list of objects with Zipkin's ids."""
        return bool(
            _LIST.match(head) and _TRACE_ID.search(head) and _SPAN_ID.search(head) and not _OTLP_TIME.search(head)
        )

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `span`, span by span; times are microseconds written as ns."""
        rows = SpanRows(options)
        stream, count = open_counted(path)
        with stream:
            for piece in Pieces(stream, _SPANS, options.max_document_bytes, options.max_depth):
                if piece.fault:
                    rows.refuse(piece.place, piece.fault, piece.body)
                elif piece.ends:
                    if not piece.seen:
                        rows.refuse(piece.place, "not a list of spans", piece.body)
                else:
                    _piece_into(piece.body, piece.line, piece.place, rows)
                if rows.full:
                    yield rows.flush(count())
            yield rows.flush(count(), last=True)


def _piece_into(body: bytes, position: int, place: str, rows: SpanRows) -> None:
    """Take an element of a list: a span, or, where the API has listed traces, the spans of one."""
    try:
        found = loaded(body)
    except ODD_FORMS:
        rows.refuse(place, "not valid JSON", body)
        return
    for span in found if isinstance(found, list) else [found]:
        try:
            _span_into(span, position, rows)
        except ODD_FORMS as fault:
            rows.refuse_odd(place, fault, span)


def _span_into(span: dict[str, Any], position: int, rows: SpanRows) -> None:
    trace_id, span_id = ids(
        padded_identifier(span.get("traceId"), TRACE_DIGITS), padded_identifier(span.get("id"), SPAN_DIGITS)
    )
    tags = span.get("tags") or {}
    if not isinstance(tags, dict):
        raise OddRecordError("tags are not an object")
    tags = plain(tags)
    start, odd_start = nanoseconds(span.get("timestamp"), _MICROSECOND)
    duration = whole_number(span.get("duration"))
    end, odd_end = (None, False)
    if start is not None and duration is not None:
        end, odd_end = nanoseconds(start + duration * _MICROSECOND)
    status, message = _status(tags)
    service = text((span.get("localEndpoint") or {}).get("serviceName"))
    own_resource = {key: value for key, value in tags.items() if _OF_RESOURCE.fullmatch(key)}
    resource = rows.resource({**own_resource, **({"service.name": service} if service else {})})
    own = {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": padded_identifier(span.get("parentId"), SPAN_DIGITS),
        "name": text(span.get("name")) or "",
        "kind": _kind(span.get("kind") or tags.get("span.kind")),
        **otel_tags.columns(tags),
        "status": status,
        "status_message": message,
        "start_ns": start,
        "end_ns": end,
        "flag": flag_of(start, end, out_of_range=odd_start or odd_end),
    }
    kept = {key: value for key, value in tags.items() if key not in own_resource and key not in otel_tags.MOVED}
    rows.add(own, kept, [_event(item) for item in span.get("annotations") or ()], [], resource, position)


def _kind(value: Any) -> str:
    """The kind; a span without one is local to its process."""
    return enum(value, KINDS, "SPAN_KIND_") if value else "internal"


def _status(tags: dict[str, Any]) -> tuple[str, str | None]:
    """Status and message, from OpenTelemetry's tags, else from Zipkin's own, of which the mere presence counts."""
    told = tags.get("otel.status_code")
    failure = tags.get("error")
    status = enum(told, STATUSES, "STATUS_CODE_") if told else ("unset" if failure is None else "error")
    message = as_text(tags.get("otel.status_description"))
    if status == "error" and failure is not None:
        del tags["error"]
        message = message or (as_text(failure) if failure not in ("", "true", True) else None)
    return status, message or None


def _event(annotation: dict[str, Any]) -> dict[str, Any]:
    """An annotation; OpenTelemetry's exporters write an event's attributes into its text, as an object."""
    time_ns, _ = nanoseconds(annotation.get("timestamp"), _MICROSECOND)
    value = as_text(annotation.get("value")) or ""
    name, attributes = value, {}
    for written in (value, f"{{{value}}}"):
        try:
            found = loaded(written)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and len(found) == 1:
            ((key, inner),) = found.items()
            if isinstance(inner, dict):
                name, attributes = key, plain(inner)
                break
    return {"name": name, "time_ns": time_ns, "attributes": attributes}


SOURCE = _Zipkin()
