"""Rows of the table span under construction, with what is refused and set aside beside them."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import MEGABYTE, Frame, Frames
from analyzer.sources.redacting import Redaction
from analyzer.sources.refusing import outline, refused, shown
from analyzer.sources.span_values import OddRecordError, as_json, as_text, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from analyzer.sources.base import Options

_TEXT = (
    "trace_id", "span_id", "parent_span_id", "name", "kind", "service", "scope", "status", "status_message",
    "attributes", "resource", "events", "links", "trace_state", "scope_version", "clock", "flag",
)  # fmt: skip
_NUMBERS = (
    "start_ns", "end_ns", "flags", "dropped_attributes", "dropped_events", "dropped_links", "position",
)  # fmt: skip
_JSON = ("attributes", "resource", "events", "links")
_CLOCK_KEYS = ("host.name", "host.id", "k8s.node.name", "service.instance.id", "service.name")
_MOST_ROWS = 20_000
_MOST_CHARACTERS = 64 * MEGABYTE
_OUT_OF_RANGE = "time out of range"
_WITH_CONTENT = {"attributes", "resource", "events", "links", "tags", "logs", "annotations", "status"}
# JSON as the database writes it, so that a span reads the same whichever way it was read.
_AS_WRITTEN = "SELECT * REPLACE (" + ", ".join(f"json({name}) AS {name}" for name in _JSON) + ") FROM input"
ODD_FORM = "the span is not of the form its format gives it"
# What reading a value of an unexpected form raises.
ODD_FORMS = (AttributeError, TypeError, KeyError, IndexError, ValueError, OverflowError, RecursionError)


def clock_of(resource: dict[str, Any]) -> str:
    """The clock domain: the host if it is named, else the process, else the service, else what else tells it apart."""
    for key in _CLOCK_KEYS:
        value = as_text(resource.get(key))
        # The SDKs' default name is everybody's: two processes that bear it share no clock by it.
        if value and not (key == "service.name" and value.startswith("unknown_service")):
            return value
    return "unnamed " + hashlib.sha256(as_json(sorted(resource.items())).encode()).hexdigest()[:8]


def flag_of(start: int | None, end: int | None, *, out_of_range: bool = False, also: str | None = None) -> str | None:
    """What is odd about a span's times, in words."""
    odd = []
    if out_of_range:
        odd.append(_OUT_OF_RANGE)
    elif start is None:
        odd.append("no start time")
    if end is None and not out_of_range:
        odd.append("no end time")
    if start is not None and end is not None and end < start:
        odd.append("end before start")
    if also:
        odd.append(also)
    return "; ".join(odd) or None


@dataclass(frozen=True, slots=True)
class Resource:
    """What spans of one process share: attributes as JSON, clock domain, service."""

    attributes: str
    clock: str
    service: str | None


class SpanRows:
    """Span columns of one piece of a file. `flush` gives them and begins anew."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.redact = Redaction.of(options)
        self._aside: Counter[str] = Counter()
        self._notes: list[str] = []
        self._begin()

    def _begin(self) -> None:
        self._columns: dict[str, list[Any]] = {name: [] for name in (*_TEXT, *_NUMBERS)}
        self._refusals: list[tuple[str, str, str]] = []
        self._set_aside = self._dropped = self._characters = self._taken = 0

    @property
    def full(self) -> bool:
        """Whether it is time to flush."""
        return (
            len(self._columns["position"]) + len(self._refusals) >= _MOST_ROWS or self._characters >= _MOST_CHARACTERS
        )

    def resource(self, attributes: dict[str, Any]) -> Resource:
        """A resource without what is left out."""
        kept, dropped = self.redact(attributes)
        self._dropped += dropped
        return Resource(as_json(kept), clock_of(kept), as_text(kept.get("service.name")) or None)

    def resource_if_whole(self, attributes: dict[str, Any]) -> Resource | None:
        """A resource of which nothing is left out; None for another one."""
        dropped = self._dropped
        resource = self.resource(attributes)
        left_out, self._dropped = self._dropped > dropped, dropped
        return None if left_out else resource

    def count(self, taken: int) -> None:
        """Spans that are in the store already."""
        self._taken += taken

    def add(
        self,
        span: dict[str, Any],
        attributes: dict[str, Any],
        events: list[dict[str, Any]],
        links: list[dict[str, Any]],
        resource: Resource,
        position: int,
    ) -> None:
        """One span: its own columns, and what of its attributes may be kept."""
        kept, dropped = self.redact(attributes)
        row = {
            **span,
            "attributes": as_json(kept),
            "events": self._cleaned(events),
            "links": self._cleaned(links),
            "resource": resource.attributes,
            "clock": resource.clock,
            "service": resource.service,
            "position": position,
        }
        for name, column in self._columns.items():
            value = row.get(name)
            column.append(value)
            if isinstance(value, str):
                self._characters += len(value)
        self._dropped += dropped

    def _cleaned(self, items: list[dict[str, Any]]) -> str | None:
        if not items:
            return None
        cleaned = []
        for item in items:
            kept, dropped = self.redact(item["attributes"])
            self._dropped += dropped
            cleaned.append({**item, "attributes": kept})
        return as_json(cleaned)

    def refuse(self, place: str, reason: str, sample: Any) -> None:
        """A record that cannot be taken: what it was as text or bytes, or, where it could be read, as a value."""
        self._refusals.append((place, reason, self._sample(sample)))

    def _sample(self, sample: Any) -> str:
        """The beginning of a record, without its content unless that is kept."""
        if isinstance(sample, (str, bytes)):
            return shown(sample) if self.options.keep_content else outline(sample)
        if isinstance(sample, dict):
            # What can be told of a span without its attributes.
            sample = {
                key: value
                for key, value in sample.items()
                if not isinstance(value, (dict, list)) and key not in _WITH_CONTENT
            }
        elif isinstance(sample, list):
            return f"a list of {len(sample)}"
        return shown(as_json(plain(sample)))

    def refuse_odd(self, place: str, fault: Exception, sample: Any) -> None:
        """A record whose reading raised one of ODD_FORMS."""
        self.refuse(place, str(fault) if isinstance(fault, OddRecordError) else ODD_FORM, sample)

    def set_aside(self, what: str, count: int = 1) -> None:
        """Records of a kind that has no table."""
        self._set_aside += count
        self._aside[what] += count

    def note(self, sentence: str) -> None:
        """What is to be said of the file."""
        self._notes.append(sentence)

    def flush_full(self, bytes_read: int) -> Iterator[Frames]:
        """What has come together, if it is time to flush."""
        if self.full:
            yield self.flush(bytes_read)

    def flush(self, bytes_read: int, *, last: bool = False) -> Frames:
        """What has come together since the last flush; with `last`, also what is to be said of the file."""
        if last and self._aside:
            listed = " and ".join(f"{count} {what}" for what, count in sorted(self._aside.items()))
            self._notes.append(f"set aside: {listed}, of which only spans are read")
        count = len(self._columns["position"])
        frames = (
            *((Frame("span", self._table(count), _AS_WRITTEN),) if count else ()),
            *refused(self.options.label, self._refusals),
        )
        piece = Frames(
            frames,
            records=count + self._taken + len(self._refusals) + self._set_aside,
            set_aside=self._set_aside,
            dropped=self._dropped,
            bytes_read=bytes_read,
            notes=tuple(self._notes) if last else (),
        )
        self._begin()
        return piece

    def _table(self, count: int) -> pa.Table:
        import pyarrow as pa

        arrays = {name: pa.array(self._columns[name], pa.string()) for name in _TEXT}
        arrays |= {name: pa.array(self._columns[name], pa.int64()) for name in _NUMBERS}
        arrays["run"] = pa.array([self.options.run] * count, pa.string())
        arrays["source_file"] = pa.array([self.options.label] * count, pa.string())
        return pa.table(arrays)
