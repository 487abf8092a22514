"""Tags by which OpenTelemetry says what a span of another format has no place for."""

from __future__ import annotations

from typing import Any

from analyzer.sources.span_values import as_text, optional_count

_SCOPE = ("otel.scope.name", "otel.library.name")
_SCOPE_VERSION = ("otel.scope.version", "otel.library.version")
_DROPPED = {
    "dropped_attributes": "otel.dropped_attributes_count",
    "dropped_events": "otel.dropped_events_count",
    "dropped_links": "otel.dropped_links_count",
}
# The columns of kind and status are read by each format for itself.
MOVED = {
    "span.kind", "otel.status_code", "otel.status_description", *_SCOPE, *_SCOPE_VERSION, *_DROPPED.values(),
}  # fmt: skip


def columns(tags: dict[str, Any]) -> dict[str, Any]:
    """The columns of scope and of what the SDK has dropped."""
    return {
        "scope": _first(tags, _SCOPE),
        "scope_version": _first(tags, _SCOPE_VERSION),
        **{column: optional_count(tags.get(tag)) for column, tag in _DROPPED.items()},
    }


def _first(tags: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((as_text(tags[key]) for key in keys if tags.get(key)), None)
