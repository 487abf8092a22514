"""Figures that a tool's own file states of a run, as rows of `tool_figure`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.sources.base import Frame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analyzer.sources.base import Options


class Figure(NamedTuple):
    """One figure: metric and statistic in the words of as_printed; kind is printed, or setting for what was told."""

    metric: str
    statistic: str
    value: float | int | str | None
    unit: str | None = None
    kind: str = "printed"
    load_point: str | None = None


def figures(tool: str, version: str | None, found: Iterable[Figure], options: Options) -> tuple[Frame, ...]:
    """A frame of the figures that have a value, none when there are none."""
    import pyarrow as pa

    listed = [figure for figure in found if figure.value is not None]
    if not listed:
        return ()

    def texts(values: Iterable[Any]) -> pa.Array:
        return pa.array(values, pa.string())

    def number(value: Any) -> float | None:
        return None if isinstance(value, str) else float(value)

    table = pa.table(
        {
            "run": texts([options.run] * len(listed)),
            "tool": texts([tool] * len(listed)),
            "version": texts([version] * len(listed)),
            "load_point": texts([one.load_point for one in listed]),
            "kind": texts([one.kind for one in listed]),
            "metric": texts([one.metric for one in listed]),
            "statistic": texts([one.statistic for one in listed]),
            "value": pa.array([number(one.value) for one in listed], pa.float64()),
            "text": texts([one.value if isinstance(one.value, str) else None for one in listed]),
            "unit": texts([one.unit for one in listed]),
            "source_file": texts([options.label] * len(listed)),
        }
    )
    return (Frame("tool_figure", table),)
