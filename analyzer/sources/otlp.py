"""OTLP/JSON lines: one TracesData document a line, as the OpenTelemetry file exporters write them."""

from __future__ import annotations

import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from analyzer.sources import otlp_values as values
from analyzer.sources.base import Frame, Frames
from analyzer.sources.opening import lines
from analyzer.sources.refusing import refused, shown

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines

_START = re.compile(rb'\s*\{\s*"(resourceSpans|resource_spans)"\s*:')
_TEXT = (
    "trace_id", "span_id", "parent_span_id", "name", "kind", "service", "scope", "status", "status_message",
    "attributes", "resource", "events", "links", "clock", "flag",
)  # fmt: skip
_NUMBERS = ("start_ns", "end_ns", "position")
_CLOCK_KEYS = ("host.name", "host.id", "k8s.node.name", "service.instance.id", "service.name")


class _Rows:
    """Span columns under construction."""

    def __init__(self) -> None:
        self.columns: dict[str, list[Any]] = {name: [] for name in (*_TEXT, *_NUMBERS)}
        self.refusals: list[tuple[str, str, str]] = []
        self.records = 0
        self.dropped = 0

    def table(self, options: Options) -> pa.Table:
        import pyarrow as pa

        arrays = {name: pa.array(self.columns[name], pa.string()) for name in _TEXT}
        arrays |= {name: pa.array(self.columns[name], pa.int64()) for name in _NUMBERS}
        size = len(self.columns["position"])
        arrays["run"] = pa.array([options.run] * size, pa.string())
        arrays["source_file"] = pa.array([options.label] * size, pa.string())
        return pa.table(arrays)


def _clock(resource: dict[str, Any]) -> str:
    """The clock domain: the host if it is named, else the process, else the service, else what else tells it apart."""
    for key in _CLOCK_KEYS:
        value = resource.get(key)
        # The SDKs' default name is everybody's: two processes that bear it share no clock by it.
        if value not in (None, "") and not (key == "service.name" and str(value).startswith("unknown_service")):
            return str(value)
    return "unnamed " + hashlib.sha256(values.as_json(sorted(resource.items())).encode()).hexdigest()[:8]


def _either(node: dict[str, Any], *names: str) -> Any:
    return next((node[name] for name in names if name in node), None)


def _sub_records(items: Any, keep_content: bool) -> str | None:
    """Span events or links with plain attributes, as a JSON array."""
    if not items:
        return None
    plain = []
    for item in items:
        attributes = values.pairs(item.get("attributes"))
        if not keep_content:
            attributes, _ = values.without_content(attributes)
        plain.append({**{k: v for k, v in item.items() if k != "attributes"}, "attributes": attributes})
    return values.as_json(plain)


def _span(span: dict[str, Any], keep_content: bool) -> tuple[dict[str, Any], int]:
    """One span's own columns, and how many content attributes were dropped. OddRecordError when it is none."""
    trace_id = values.identifier(_either(span, "traceId", "trace_id"), 32)
    span_id = values.identifier(_either(span, "spanId", "span_id"), 16)
    if trace_id is None or span_id is None:
        raise values.OddRecordError("the span has no trace id or no span id")
    start = values.nanoseconds(_either(span, "startTimeUnixNano", "start_time_unix_nano"))
    end = values.nanoseconds(_either(span, "endTimeUnixNano", "end_time_unix_nano"))
    status = span.get("status") or {}
    attributes, dropped = values.pairs(span.get("attributes")), 0
    if not keep_content:
        attributes, dropped = values.without_content(attributes)
    flag = "no end time" if end is None else "end before start" if start is not None and end < start else None
    return {
        "trace_id": trace_id,
        "span_id": span_id,
        "parent_span_id": values.identifier(_either(span, "parentSpanId", "parent_span_id"), 16),
        "name": str(span.get("name") or ""),
        "kind": values.enum(span.get("kind"), values.KINDS, "SPAN_KIND_"),
        "status": values.enum(status.get("code"), values.STATUSES, "STATUS_CODE_"),
        "status_message": str(status["message"]) if status.get("message") else None,
        "start_ns": start,
        "end_ns": end,
        "attributes": values.as_json(attributes),
        "events": _sub_records(span.get("events"), keep_content),
        "links": _sub_records(span.get("links"), keep_content),
        "flag": flag,
    }, dropped


def _document(document: dict[str, Any], position: int, rows: _Rows, keep_content: bool) -> None:
    """Every span of one document into `rows`; a span that is none into its refusals."""
    for group in _either(document, "resourceSpans", "resource_spans") or ():
        resource = values.pairs((group.get("resource") or {}).get("attributes"))
        shared = {
            "resource": values.as_json(resource),
            "clock": _clock(resource),
            "service": resource.get("service.name"),
        }
        for scoped in _either(group, "scopeSpans", "scope_spans") or ():
            scope = (scoped.get("scope") or {}).get("name") or None
            for span in scoped.get("spans") or ():
                rows.records += 1
                try:
                    own, dropped = _span(span, keep_content)
                except (values.OddRecordError, AttributeError, TypeError, RecursionError) as fault:
                    reason = (
                        str(fault)
                        if isinstance(fault, values.OddRecordError)
                        else "the span is not of the form OTLP gives it"
                    )
                    rows.refusals.append((f"line {position}", reason, shown(values.as_json(span))))
                    continue
                rows.dropped += dropped
                for name, value in (own | shared | {"scope": scope, "position": position}).items():
                    rows.columns[name].append(value if value is None or name in _NUMBERS else str(value))


def _loaded(line: str) -> Any:
    """The JSON value of a line; half a character, which JSON can escape and no text can hold, becomes "?"."""
    document = json.loads(line)
    if "\\ud" in line or "\\uD" in line:
        document = json.loads(values.as_json(document).encode("utf-8", "replace"))
    return document


def _take(line: str, position: int, torn: bool, rows: _Rows, keep_content: bool) -> None:
    try:
        document = _loaded(line)
        if not isinstance(document, dict) or _either(document, "resourceSpans", "resource_spans") is None:
            raise values.OddRecordError("not a document of spans")
        _document(document, position, rows, keep_content)
    except ValueError as fault:
        rows.records += 1
        odd = str(fault) if isinstance(fault, values.OddRecordError) else "not valid JSON"
        reason = "torn last line: the file ends inside it" if torn and odd == "not valid JSON" else odd
        rows.refusals.append((f"line {position}", reason, shown(line)))
    except (AttributeError, TypeError, RecursionError):
        rows.records += 1
        rows.refusals.append((f"line {position}", "the document is not of the form OTLP gives it", shown(line)))


class _Otlp:
    name = "otlp"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A first line that opens with resourceSpans."""
        return _START.match(head) is not None and b"\n" not in head.lstrip()[: head.lstrip().find(b'"')]

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `span`: times in ns as written, attributes as JSON with their types."""
        for block in lines(path):
            yield self._frames(block, options)

    def _frames(self, block: Lines, options: Options) -> Frames:
        rows = _Rows()
        for position, line in zip(block.table["position"].to_pylist(), block.table["line"].to_pylist(), strict=True):
            _take(line, position, position == block.torn_position, rows, options.keep_content)
        rows.records += len(block.broken)
        rows.refusals += [(f"line {position}", "not UTF-8", shown(raw)) for position, raw in block.broken]
        return Frames(
            frames=(Frame("span", rows.table(options)), *refused(options.label, rows.refusals)),
            records=rows.records,
            bytes_read=block.bytes_read,
        )


SOURCE = _Otlp()
