"""Lines of OTLP/JSON as whole columns: what SQL cannot judge of them, and what it leaves for the reader of records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.base import Columns
from analyzer.sources.otlp import canonical, staged
from analyzer.sources.otlp.json_files import text_into
from analyzer.sources.otlp.json_spans import resource_attributes, scope_columns, span_into
from analyzer.sources.otlp.shapes import Envelope, Shapes
from analyzer.sources.span_rows import ODD_FORMS
from analyzer.sources.span_values import loaded

if TYPE_CHECKING:
    import pyarrow as pa

    from analyzer.sources.base import Options
    from analyzer.sources.opening import Lines
    from analyzer.sources.span_rows import SpanRows


class LineColumns:
    """Makes `Columns` of blocks of lines. What they leave goes into `rows`, record by record."""

    def __init__(self, options: Options, rows: SpanRows) -> None:
        self._options, self._rows = options, rows
        self._stage = canonical.stage(options.max_depth)
        self._select = staged.taken(options.run, options.label)
        self._left = canonical.left(options.max_depth)

    @staticmethod
    def suit(options: Options) -> bool:
        """Whether lines may be read as whole columns at all."""
        return not options.careful and options.max_depth >= canonical.LEAST_DEPTH

    def of(self, block: Lines) -> Columns:
        """The lines of a block that are text."""
        shapes = Shapes(self._rows.redact, self._envelope)

        def take(counts: dict[str, int], left: pa.Table) -> None:
            self._rows.count(**counts)
            self._take(block, left, shapes)

        return Columns(
            "span",
            block.table,
            self._stage,
            staged.SHAPES,
            shapes.judge,
            self._select,
            staged.COUNTS,
            self._left,
            take,
        )

    def _take(self, block: Lines, left: pa.Table, shapes: Shapes) -> None:
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

    def _envelope(self, resource: str, scope: str) -> Envelope | None:
        try:
            group = {"resource": loaded(resource)} if resource else {}
            scoped = {"scope": loaded(scope)} if scope else {}
            known = self._rows.resource_if_whole(resource_attributes(group))
            return None if known is None else (known, scope_columns(scoped))
        except ODD_FORMS:
            return None


def _texts(block: Lines, positions: set[int]) -> dict[int, str]:
    if not positions:
        return {}
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = block.table.filter(pc.is_in(block.table["position"], pa.array(sorted(positions), pa.int64())))
    return dict(zip(kept["position"].to_pylist(), kept["line"].to_pylist(), strict=True))
