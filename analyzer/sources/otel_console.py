"""The output of OpenTelemetry's console exporter for Python: spans as JSON over many lines, one after the other."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analyzer.sources.documents import WHOLE, Pieces
from analyzer.sources.opening import open_counted
from analyzer.sources.span_rows import ODD_FORMS, SpanRows, flag_of
from analyzer.sources.span_values import (
    KINDS,
    SPAN_DIGITS,
    STATUSES,
    TRACE_DIGITS,
    OddRecordError,
    enum,
    ids,
    loaded,
    nanoseconds,
    optional_text,
    padded_identifier,
    plain,
    text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Frames, Options

_DOCUMENTS = frozenset({WHOLE})
_SPAN = re.compile(rb'\{\s*"name"\s*:[^{}]*"context"\s*:\s*\{\s*"trace_id"\s*:\s*"0x[0-9a-fA-F]')
_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d)", re.ASCII)
_SECOND = 1_000_000_000
# The trace state as Python shows its list of members; neither a comma nor a sign of equality can be part of one.
_MEMBER = re.compile(r"""['"]\{key=([^,=]+), value=([^,=]*)\}['"](?:, |\]$)""")


class _Console:
    name = "otel_console"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """An object with a name and a context of ids that begin with 0x."""
        return _SPAN.search(head) is not None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `span`, span by span; times have microseconds. The exporter writes no scope."""
        rows = SpanRows(options)
        stream, count = open_counted(path)
        with stream:
            for piece in Pieces(stream, _DOCUMENTS, options.max_document_bytes, options.max_depth):
                if piece.fault:
                    rows.refuse(piece.place, piece.fault, piece.body)
                else:
                    try:
                        _span_into(loaded(piece.body), piece.line, rows)
                    except ODD_FORMS as fault:
                        rows.refuse_odd(piece.place, fault, piece.body)
                if rows.full:
                    yield rows.flush(count())
            yield rows.flush(count(), last=True)


def _identifier(value: Any, digits: int) -> str | None:
    return padded_identifier(value.removeprefix("0x") if isinstance(value, str) else value, digits)


def _ns(value: Any) -> tuple[int | None, bool]:
    """A time in nanoseconds, as `nanoseconds` gives it. One without a zone says no moment."""
    if value is None:
        return None, False
    found = _TIME.fullmatch(value)
    if found is None:
        raise OddRecordError(f"{str(value)[:40]!r} is no time with a zone")
    seconds, fraction, zone = found.groups()
    moment = datetime.fromisoformat(seconds + ("+00:00" if zone == "Z" else zone)) - datetime(1970, 1, 1, tzinfo=UTC)
    whole = moment.days * 86_400 + moment.seconds
    return nanoseconds(whole * _SECOND + int((fraction or "").ljust(9, "0")))


def _trace_state(written: Any) -> str | None:
    """The trace state as a header has it; as it is written, where it is of another form."""
    shown = optional_text(written)
    if shown is None or shown == "[]":
        return None
    members = _MEMBER.findall(shown)
    is_list = shown[0] == "[" and "\\" not in shown and not _MEMBER.sub("", shown[1:])
    return ",".join(f"{key}={value}" for key, value in members) if is_list else shown


def _span_into(span: dict[str, Any], position: int, rows: SpanRows) -> None:
    context = span.get("context") or {}
    trace_id, span_id = ids(
        _identifier(context.get("trace_id"), TRACE_DIGITS), _identifier(context.get("span_id"), SPAN_DIGITS)
    )
    start, odd_start = _ns(span.get("start_time"))
    end, odd_end = _ns(span.get("end_time"))
    status = span.get("status") or {}
    own = {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": _identifier(span.get("parent_id"), SPAN_DIGITS),
        "name": text(span.get("name")) or "",
        "kind": enum(span.get("kind"), KINDS, "SpanKind."),
        "status": enum(status.get("status_code"), STATUSES, "StatusCode."),
        "status_message": text(status.get("description")),
        "start_ns": start,
        "end_ns": end,
        "flag": flag_of(start, end, out_of_range=odd_start or odd_end),
        "trace_state": _trace_state(context.get("trace_state")),
    }
    resource = rows.resource(_attributes((span.get("resource") or {}).get("attributes")))
    events = [
        {"name": text(item.get("name")) or "", "time_ns": _ns(item.get("timestamp"))[0],
         "attributes": _attributes(item.get("attributes"))}
        for item in span.get("events") or ()
    ]  # fmt: skip
    links = [
        {"trace_id": _identifier((item.get("context") or {}).get("trace_id"), TRACE_DIGITS),
         "span_id": _identifier((item.get("context") or {}).get("span_id"), SPAN_DIGITS),
         "attributes": _attributes(item.get("attributes"))}
        for item in span.get("links") or ()
    ]  # fmt: skip
    rows.add(own, _attributes(span.get("attributes")), events, links, resource, position)


def _attributes(found: Any) -> dict[str, Any]:
    if not isinstance(found or {}, dict):
        raise OddRecordError("attributes are not an object")
    attributes: dict[str, Any] = plain(found or {})
    return attributes


SOURCE = _Console()
