"""What a source gives of a file, without a store: rows as dictionaries, refusals, and the counts of the ledger."""

from __future__ import annotations

import io
import json
import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from opentelemetry.proto.trace.v1.trace_pb2 import TracesData

from analyzer.ingest.reading import add_frame
from analyzer.resources import text as resource_text
from analyzer.sources import Columns, Options, Source, recognise
from analyzer.sources.otlp import SOURCE as OTLP
from analyzer.sources.otlp.messages import message_into
from analyzer.sources.span_rows import SpanRows
from analyzer.store import Append, FileRecord

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from analyzer.sources import Frames

START, END = 1_796_069_035_919_617_536, 1_796_069_035_972_662_081
TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"


@dataclass(slots=True)
class Taken:
    """Everything that a file gave."""

    spans: list[dict[str, Any]] = field(default_factory=list)
    refused: list[tuple[str, str, str]] = field(default_factory=list)
    records: int = 0
    set_aside: int = 0
    dropped: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def reasons(self) -> list[str]:
        """Why records were refused, in order."""
        return [reason for _, reason, _ in self.refused]

    @property
    def accounted(self) -> bool:
        """Records in = kept + set aside + refused."""
        return self.records == len(self.spans) + self.set_aside + len(self.refused)

    @property
    def content(self) -> list[dict[str, Any]]:
        """The spans without the file and place that they were read from, in an order of their own."""
        bare = [{k: v for k, v in row.items() if k not in ("source_file", "position")} for row in self.spans]
        return sorted(bare, key=lambda row: json.dumps(row, sort_keys=True))

    def one(self) -> dict[str, Any]:
        """The only span, with its JSON columns as values."""
        assert (len(self.spans), self.refused) == (1, [])
        return self.all()[0]

    def all(self) -> list[dict[str, Any]]:
        """The spans with their JSON columns as values."""
        decoded = ("attributes", "resource", "events", "links")
        return [
            {key: json.loads(value) if key in decoded and value else value for key, value in row.items()}
            for row in self.spans
        ]


def collect(frames: Iterable[Frames]) -> Taken:
    """Put the pieces of a file together."""
    taken = Taken()
    for piece in frames:
        taken.records += piece.records
        taken.set_aside += piece.set_aside
        taken.dropped += piece.dropped
        taken.notes += piece.notes
        for frame in piece.frames:
            if isinstance(frame, Columns):
                taken.spans += _as_columns(frame)
            elif frame.table == "span":
                taken.spans += frame.rows.to_pylist()
            else:
                rows = frame.rows.to_pylist()
                taken.refused += [(row["position"], row["reason"], row["sample"]) for row in rows]
    return taken


def _as_columns(columns: Columns) -> list[dict[str, Any]]:
    """The rows that a store would make of whole columns."""
    with duckdb.connect() as con:
        con.execute(resource_text("schemas", "store.sql"))
        add_frame(Append(con, FileRecord("given", None, 0, "", "")), columns)
        rows: list[dict[str, Any]] = pa.table(con.sql("SELECT * FROM span ORDER BY position")).to_pylist()
        return rows


def read(path: Path, source: Source | None = None, **options: Any) -> Taken:
    """Read a file by this source, else by the one that knows it."""
    reader = source or recognise(path)
    assert reader is not None, path.name
    return collect(reader.read(path, Options(path.name, **options)))


def given(folder: Path, content: str | bytes | dict[str, Any], source: Source | None = OTLP, **options: Any) -> Taken:
    """Read text, bytes or a document as a file."""
    path = folder / "given"
    if isinstance(content, dict):
        content = json.dumps(content)
    path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    return read(path, source, **options)


def span(**fields: Any) -> dict[str, Any]:
    """A span of OTLP/JSON; a field that is None is left out."""
    whole = {
        "traceId": TRACE, "spanId": SPAN, "name": "s", "kind": 2,
        "startTimeUnixNano": str(START), "endTimeUnixNano": str(END), **fields,
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value is not None}


def document(*spans: Any, resource: dict[str, Any] | None = None, scope: str = "x") -> dict[str, Any]:
    """A document of these spans under one resource and scope."""
    scoped = {"scope": {"name": scope}, "spans": list(spans)}
    return {"resourceSpans": [{"resource": resource or {}, "scopeSpans": [scoped]}]}


def attributes(**values: Any) -> list[dict[str, Any]]:
    """KeyValues of AnyValues as they are given."""
    return [{"key": key, "value": value} for key, value in values.items()]


def message(*ids: tuple[str, str], name: str = "s") -> bytes:
    """A protobuf message of one resource with spans of these ids."""
    data = TracesData()
    scoped = data.resource_spans.add().scope_spans.add()
    for trace_id, span_id in ids:
        made = scoped.spans.add(trace_id=bytes.fromhex(trace_id), span_id=bytes.fromhex(span_id), name=name)
        made.start_time_unix_nano, made.end_time_unix_nano = START, END
    return bytes(data.SerializeToString())


def prefixed(*bodies: bytes) -> bytes:
    """Messages each after its length of four bytes."""
    return b"".join(struct.pack(">I", len(body)) + body for body in bodies)


def of_message(body: bytes) -> Taken:
    """Read a bare message."""
    rows = SpanRows(Options("message"))
    for _ in message_into(io.BytesIO(body), rows.options, rows):
        pass
    return collect([rows.flush(len(body), last=True)])
