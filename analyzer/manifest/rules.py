"""What a schema cannot say: names that must differ, intervals that must not be empty or overlap."""

from __future__ import annotations

from itertools import pairwise, permutations
from typing import TYPE_CHECKING, Any

from analyzer.manifest.times import offset_to_ns, to_ns

if TYPE_CHECKING:
    from collections.abc import Iterator


def broken(document: dict[str, Any]) -> list[str]:
    """Say every rule that a document of the right shape breaks."""
    measurement = document["measurement"]
    return [
        *_name(document["name"]),
        *_window(measurement["window"]),
        *_load_points(measurement.get("load_points", [])),
        *_bins(measurement.get("length_bins", {})),
        *_slos(measurement["slo"]),
        *_lengths(document["workload"]),
        *_clocks(document["artifact"].get("clocks", [])),
    ]


def _name(name: str) -> Iterator[str]:
    if name != name.strip() or not name.isprintable():
        yield "name has blanks around it or characters that do not print"


def _window(window: dict[str, Any]) -> Iterator[str]:
    yield from _interval("measurement.window", window)[1]


def _load_points(points: Any) -> Iterator[str]:
    if not isinstance(points, list):
        return
    yield from _doubled("measurement.load_points", [point["name"] for point in points])
    placed = []
    for i, point in enumerate(points):
        ends, wrong = _interval(f"measurement.load_points[{i}]", point)
        yield from wrong
        if not wrong:
            placed.append((ends["start"], ends["end"], point["name"]))
    for (_, end, name), (start, _, later) in pairwise(sorted(placed)):
        # Each request belongs to one load point.
        if start < end:
            yield f"measurement.load_points: {name} and {later} overlap"


def _interval(where: str, holder: dict[str, Any]) -> tuple[dict[str, int], list[str]]:
    ends, wrong = {}, []
    for key in ("start", "end"):
        value = holder.get(key)
        if isinstance(value, str):
            try:
                ends[key] = to_ns(value)
            except ValueError as fault:
                wrong.append(f'{where}.{key} "{value}" {fault}')
    if len(ends) == len(("start", "end")) and ends["start"] >= ends["end"]:
        wrong.append(f"{where}.end is not after its start")
    return ends, wrong


def _bins(bins: dict[str, Any]) -> Iterator[str]:
    for key, edges in bins.items():
        if isinstance(edges, list) and any(low >= high for low, high in pairwise(edges)):
            yield f"measurement.length_bins.{key} is {edges}, and edges must increase"


def _slos(slos: Any) -> Iterator[str]:
    if isinstance(slos, list):
        yield from _doubled("measurement.slo", [slo["name"] for slo in slos])


def _doubled(where: str, names: list[str]) -> Iterator[str]:
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        yield f'{where} has two entries named "{name}"; give each its own name'


def _lengths(workload: dict[str, Any]) -> Iterator[str]:
    for key in ("input_tokens", "output_tokens"):
        known = [workload[key].get(level) for level in ("p50", "p95", "max")]
        levels = [level for level in known if isinstance(level, (int, float))]
        if levels != sorted(levels):
            yield f"workload.{key} has quantiles that fall: p50, p95 and max must not decrease"


def _clocks(relations: list[dict[str, Any]]) -> Iterator[str]:
    known: dict[tuple[str, str], tuple[int, int]] = {}
    for i, relation in enumerate(relations):
        offset, error = offset_to_ns(relation.get("offset_ms", 0), relation.get("error_ms", 0))
        for a, b in permutations(relation["clocks"], 2):
            signed = offset if a == relation["clocks"][0] else -offset
            if known.setdefault((a, b), (signed, error)) != (signed, error):
                yield f'artifact.clocks[{i}] relates "{a}" and "{b}" otherwise than an earlier entry'
                break
