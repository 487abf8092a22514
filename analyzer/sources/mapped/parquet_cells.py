"""Parquet as cells of text, batch by batch; times and durations keep the unit that the file itself gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer.errors import SourceError, UsageFault
from analyzer.sources.mapped.casting import Stored
from analyzer.sources.mapped.cells import Block, Opened, lacking, plain_cells
from analyzer.sources.mapped.model import ISO, TIMES
from analyzer.sources.mapped.values import words
from analyzer.sources.opening import in_pieces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

    from analyzer.sources.mapped.model import Column, Mapping

_ROWS = 32_768

Steps = tuple[str, ...]


def open_parquet(path: Path, mapping: Mapping) -> Opened:
    """A Parquet file under a mapping. UsageFault when it lacks a column, or has it in a type that is no value."""
    file = opened(path)
    ways = {name: steps(name, file.schema_arrow) for name in mapping.needed}
    absent = [name for name, must in mapping.needed.items() if must and ways[name] is None]
    if absent:
        raise lacking(path, absent, (".".join(way) for way in leaves(file.schema_arrow)))
    kinds = {name: _kind(file.schema_arrow, way) for name, way in ways.items() if way}
    stored = {}
    for name, kind in kinds.items():
        if _is_nested(kind):
            raise UsageFault(f"{path}: column {words(name)} holds {kind}, not values", "name what is inside, with dots")
        if told := _stored(kind):
            stored[name] = told
    for column in mapping.columns:
        if kind := kinds.get(column.column):
            _check(path, mapping, column, kind, stored.get(column.column))
    return Opened(_blocks(path, file, ways), lambda _: plain_cells(len(ways)), "row", stored)


def opened(path: Path) -> Any:
    """The file, its end read. SourceError when it is no Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as fault:
        hint = "copy it again, whole and unpacked"
        raise SourceError(f"{path} cannot be read as Parquet: {_line(fault)}", hint) from fault


def leaves(schema: Any, above: Steps = ()) -> Iterator[Steps]:
    """The way to every column that is not made of others."""
    import pyarrow as pa

    for place in range(len(schema)):
        field = schema.field(place)
        if pa.types.is_struct(field.type):
            yield from leaves(pa.schema(list(field.type)), (*above, field.name))
        else:
            yield (*above, field.name)


def steps(name: str, schema: pa.Schema) -> Steps | None:
    """The way to a column: one of this very name, else a step into a struct for each part between dots."""
    found = set(leaves(schema))
    tops = set(schema.names)
    if name in tops:
        return (name,)
    way = tuple(name.split("."))
    return way if any(leaf[: len(way)] == way for leaf in found) else None


def _kind(schema: pa.Schema, way: Steps) -> pa.DataType:
    import pyarrow as pa

    kind = schema.field(way[0]).type
    for key in way[1:]:
        kind = kind.field(key).type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _is_nested(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _stored(kind: pa.DataType) -> Stored | None:
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return Stored(kind.unit, zoned=kind.tz is not None)
    return Stored(kind.unit) if pa.types.is_duration(kind) else None


def _check(path: Path, mapping: Mapping, column: Column, kind: pa.DataType, stored: Stored | None) -> None:
    """UsageFault where the file's own type contradicts the mapping."""
    import pyarrow as pa

    what = f"{path}: column {words(column.column)} holds {kind}"
    if column.target not in TIMES:
        if stored:
            raise UsageFault(f"{what}, and {column.target} is no time", "name another column")
        return
    if pa.types.is_timestamp(kind):
        if column.unit != ISO or column.add_to:
            raise UsageFault(f"{what}, times with a unit of their own", 'say unit = "iso", without add_to')
        if stored and not stored.zoned and not mapping.zone:
            raise UsageFault(f"{what}, which names no zone", "say source.zone")
    elif stored and column.unit != stored.unit:
        raise UsageFault(f"{what}, durations in {stored.unit}", f'say unit = "{stored.unit}"')


def _blocks(path: Path, file: Any, ways: dict[str, Steps | None]) -> Iterator[Block]:
    import pyarrow as pa

    size, total = path.stat().st_size, max(file.metadata.num_rows, 1)
    wanted = list(dict.fromkeys(".".join(way) for way in ways.values() if way))
    done = 0
    try:
        with file:
            # Without any column of the mapping rows are counted all the same.
            for batch in file.iter_batches(batch_size=_ROWS, columns=wanted or None):
                first, done = done + 1, done + batch.num_rows
                positions = pa.array(range(first, done + 1), pa.int64())
                nothing = pa.nulls(batch.num_rows, pa.string())
                cells = {
                    f"c{place}": as_text(_taken(batch, way)) if way else nothing
                    for place, way in enumerate(ways.values())
                }
                yield Block(in_pieces(pa.table({"position": positions, **cells})), size * done // total)
    except (pa.ArrowException, OSError) as fault:
        raise SourceError(f"{path} is not whole: {_line(fault)}", "copy it again") from fault


def _taken(batch: pa.RecordBatch, way: Steps) -> pa.Array:
    import pyarrow.compute as pc

    found = batch.column(way[0])
    for key in way[1:]:
        found = pc.struct_field(found, key)
    return found


def as_text(column: pa.Array) -> pa.Array:
    """Values as text that loses nothing: times and durations as whole numbers of their unit."""
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        return as_text(column.dictionary_decode())
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        column = column.cast(pa.int64())
    if pa.types.is_decimal(kind):
        return pa.array([None if value is None else f"{value:f}" for value in column.to_pylist()], pa.string())
    return column.cast(pa.string())


def _line(fault: BaseException) -> str:
    return (str(fault).splitlines() or [type(fault).__name__])[0]
