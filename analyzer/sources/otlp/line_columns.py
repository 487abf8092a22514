"""Lines of OTLP/JSON as whole columns: what SQL cannot judge of them, and what it leaves for the reader of records."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import Columns
from analyzer.sources.otlp import canonical
from analyzer.sources.otlp.json_files import text_into
from analyzer.sources.otlp.json_spans import resource_attributes, scope_columns, span_into
from analyzer.sources.span_rows import ODD_FORMS, Resource
from analyzer.sources.span_values import loaded

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines
    from analyzer.sources.span_rows import SpanRows

_TOLD = ("resource", "scope", "keys", "resource_attributes", "clock", "service", "scope_name", "scope_version")
_DECIDED = ("envelope_odd", "kept")

Envelope = tuple[Resource, dict[str, str | None]]


class LineColumns:
    """Makes `Columns` of blocks of lines. What they leave goes into `rows`, record by record."""

    def __init__(self, options: Options, rows: SpanRows) -> None:
        self._options, self._rows = options, rows
        self._stage = canonical.stage(options.max_depth)
        self._select = canonical.taken(options.run, options.label)
        self._left = canonical.left(options.max_depth)

    @staticmethod
    def suit(options: Options) -> bool:
        """Whether lines may be read as whole columns at all."""
        return not options.careful and options.max_depth >= canonical.LEAST_DEPTH

    def of(self, block: Lines) -> Columns:
        """The lines of a block that are text."""
        shapes = _Shapes(self._rows)

        def take(count: int, left: pa.Table) -> None:
            self._rows.count(count)
            self._take(block, left, shapes)

        return Columns("span", block.table, self._stage, canonical.SHAPES, shapes.judge, self._select, self._left, take)

    def _take(self, block: Lines, left: pa.Table, shapes: _Shapes) -> None:
        if not left.num_rows:
            return
        whole = _texts(
            block, {row["position"] for row in left.select(["position", "text"]).to_pylist() if row["text"] is None}
        )
        for row in left.to_pylist():
            position = row["position"]
            place = f"line {position}"
            if row["text"] is None:
                torn = position == block.torn_position
                for _ in text_into(whole[position], position, place, self._rows, torn=torn):
                    pass
            else:
                resource, scope = shapes.envelope(row["resource"], row["scope"])
                span_into(loaded(row["text"]), resource, scope, position, place, self._rows)


def _texts(block: Lines, positions: set[int]) -> dict[int, str]:
    if not positions:
        return {}
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = block.table.filter(pc.is_in(block.table["position"], pa.array(sorted(positions), pa.int64())))
    return dict(zip(kept["position"].to_pylist(), kept["line"].to_pylist(), strict=True))


class _Shapes:
    """Judges the kinds of spans that a block holds, of which there are few."""

    def __init__(self, rows: SpanRows) -> None:
        self._rows = rows
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
            "kept": self._kept(json.loads(keys)),
            "resource_attributes": known.attributes,
            "clock": known.clock,
            "service": known.service,
            "scope_name": scoped["scope"],
            "scope_version": scoped["scope_version"],
        }

    def _read(self, resource: str, scope: str) -> Envelope | None:
        try:
            group = {"resource": loaded(resource)} if resource else {}
            scoped = {"scope": loaded(scope)} if scope else {}
            known = self._rows.resource_if_whole(resource_attributes(group))
            return None if known is None else (known, scope_columns(scoped))
        except ODD_FORMS:
            return None

    def _kept(self, keys: list[list[str]]) -> bool:
        return all(len(listed) == len(set(listed)) and all(map(self._rows.redact.keeps, listed)) for listed in keys)
