"""What SQL cannot judge of spans that are read as whole columns: resources, scopes, and which attributes are kept."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analyzer.sources.span_rows import Resource
from analyzer.sources.span_values import as_json

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from analyzer.sources.redacting import Redaction

_TOLD = (
    "resource", "scope", "keys", "resource_attributes", "clock", "service", "scope_name", "scope_version", "patch",
    "event_patch",
)  # fmt: skip
_DECIDED = ("envelope_odd", "kept")

Envelope = tuple[Resource, dict[str, str | None]]


class Shapes:
    """Judges the kinds of spans that a block holds, of which there are few."""

    def __init__(self, redact: Redaction, read: Callable[[str, str], Envelope | None]) -> None:
        """`read` gives what a resource and a scope, by what they are called in the columns, say of their spans."""
        self._redact, self._read = redact, read
        self._envelopes: dict[tuple[str, str], Envelope | None] = {}

    def envelope(self, resource: str, scope: str) -> Envelope:
        """What spans of this resource and scope, which were judged to be even, have in common."""
        found = self._envelopes[resource, scope]
        if found is None:
            raise KeyError((resource, scope))
        return found

    def judge(self, shapes: pa.Table) -> pa.Table:
        """Each kind with what its resource and scope say, and whether its attributes are all to be kept.

        `envelope_odd` where the resource is no plain one, or has attributes that are to be left out and counted.
        """
        import pyarrow as pa

        judged = [self._judged(**shape) for shape in shapes.to_pylist()]
        fields = [(name, pa.string()) for name in _TOLD] + [(name, pa.bool_()) for name in _DECIDED]
        fields.append(("dropped", pa.int64()))
        return pa.Table.from_pylist(judged, schema=pa.schema(fields))

    def _judged(self, resource: str, scope: str, keys: str) -> dict[str, Any]:
        if (resource, scope) not in self._envelopes:
            self._envelopes[resource, scope] = self._read(resource, scope)
        envelope = self._envelopes[resource, scope]
        shape = {"resource": resource, "scope": scope, "keys": keys}
        if envelope is None:
            return {**shape, "envelope_odd": True, "kept": False}
        known, scoped = envelope
        return {
            **shape,
            "envelope_odd": False,
            **self._told(json.loads(keys)),
            "resource_attributes": known.attributes,
            "clock": known.clock,
            "service": known.service,
            "scope_name": scoped["scope"],
            "scope_version": scoped["scope_version"],
        }

    def _told(self, keys: list[list[str]]) -> dict[str, Any]:
        """Whether spans of these keys can be kept, and what is left out of them and of their events."""
        redact = self._redact
        if any(len(listed) != len(set(listed)) or redact.asks_for_values(listed) for listed in keys):
            return {"kept": False}
        own, *events = map(redact.left_out, keys)
        of_events = {key: None for listed in events for key in listed}
        return {
            "kept": True,
            "dropped": len(own) + sum(map(len, events)),
            "patch": as_json(dict.fromkeys(own)) if own else None,
            "event_patch": as_json({"attributes": of_events}) if of_events else None,
        }
