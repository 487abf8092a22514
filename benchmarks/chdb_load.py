"""The same spans into ClickHouse in process (chdb): prints seconds and counts as JSON. `ingest.py` starts it.

Needs chdb and the standard library only. The table has the columns, the partition and the order of the OpenTelemetry
collector's exporter for ClickHouse, but neither its skip indexes nor its codecs, and no second table by trace: each
of these would cost the peer time. Attributes become maps of text, as there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from string import Template

TABLE = """
CREATE TABLE otel_traces (
  Timestamp DateTime64(9), TraceId String, SpanId String, ParentSpanId String, TraceState String,
  SpanName LowCardinality(String), SpanKind LowCardinality(String), ServiceName LowCardinality(String),
  ResourceAttributes Map(LowCardinality(String), String), ScopeName String, ScopeVersion String,
  SpanAttributes Map(LowCardinality(String), String), Duration UInt64,
  StatusCode LowCardinality(String), StatusMessage String,
  Events Nested (Timestamp DateTime64(9), Name LowCardinality(String), Attributes Map(LowCardinality(String), String)),
  Links Nested (TraceId String, SpanId String, TraceState String, Attributes Map(LowCardinality(String), String))
) ENGINE = MergeTree PARTITION BY toDate(Timestamp) ORDER BY (ServiceName, SpanName, toDateTime(Timestamp))
"""
# What a JSON value is called tells its type; absent ones are empty, so that putting all of them together is the value.
JSON_TYPES = {
    "pair": "Array(Tuple(key String, value Tuple(stringValue String, intValue String, doubleValue String,"
    " boolValue String, arrayValue String)))",
    "groups": "Array(Tuple(resource Tuple(attributes $pair), scopeSpans Array(Tuple(scope Tuple(name String,"
    " version String), spans Array(Tuple(traceId String, spanId String, traceState String, parentSpanId String,"
    " name String, kind UInt8, startTimeUnixNano Int64, endTimeUnixNano Int64, attributes $pair,"
    " events Array(Tuple(timeUnixNano Int64, name String, attributes $pair)),"
    " links Array(Tuple(traceId String, spanId String, traceState String, attributes $pair)),"
    " status Tuple(code UInt8, message String)))))))",
}
PROTOBUF_TYPES = {
    "pair": "Array(Tuple(key String, value Tuple(string_value Nullable(String), bool_value Nullable(Bool),"
    " int_value Nullable(Int64), double_value Nullable(Float64),"
    " array_value Tuple(values Array(Tuple(string_value String))))))",
    "groups": "Array(Tuple(resource Tuple(attributes $pair), scope_spans Array(Tuple(scope Tuple(name String,"
    " version String), spans Array(Tuple(trace_id String, span_id String, trace_state String, parent_span_id String,"
    " name String, kind UInt32, start_time_unix_nano Int64, end_time_unix_nano Int64, attributes $pair,"
    " events Array(Tuple(time_unix_nano Int64, name String, attributes $pair)),"
    " links Array(Tuple(trace_id String, span_id String, trace_state String, attributes $pair)),"
    " status Tuple(message String, code UInt32)))))))",
}
# OTLP's messages without the fields that the table has no column for, and without values inside values.
SCHEMA = """
syntax = "proto3";
message Leaf { string string_value = 1; }
message Leaves { repeated Leaf values = 1; }
message Value {
  oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4;
                Leaves array_value = 5; }
}
message Pair { string key = 1; Value value = 2; }
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated Pair attributes = 3; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated Pair attributes = 4; }
message Status { string message = 2; uint32 code = 3; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5;
  uint32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated Pair attributes = 9;
  repeated Event events = 11; repeated Link links = 13; Status status = 15;
}
message Scope { string name = 1; string version = 2; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Resource { repeated Pair attributes = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message TracesData { repeated ResourceSpans resource_spans = 1; }
"""
NAMES = {
    "json": {
        "value": "concat(v.stringValue, v.intValue, v.doubleValue, v.boolValue, v.arrayValue)",
        "id": "$x", "scopes": "r.scopeSpans", "trace": "traceId", "span": "spanId", "parent": "s.parentSpanId",
        "state": "traceState", "start": "s.startTimeUnixNano", "end": "s.endTimeUnixNano", "at": "timeUnixNano",
    },
    "protobuf": {
        "value": "coalesce(v.string_value, toString(v.int_value), toString(v.double_value), toString(v.bool_value),"
        " arrayStringConcat(v.array_value.values.string_value, ','))",
        "id": "lower(hex($x))", "scopes": "r.scope_spans", "trace": "trace_id", "span": "span_id",
        "parent": "s.parent_span_id", "state": "trace_state", "start": "s.start_time_unix_nano",
        "end": "s.end_time_unix_nano", "at": "time_unix_nano",
    },
}  # fmt: skip
# Ways to read a form; which of them is the quickest depends on the size.
WAYS = {
    "json": {
        "JSONAsString and JSONExtract": "SELECT arrayJoin(JSONExtract(json, 'resourceSpans', '$groups')) AS r"
        " FROM file('$file', JSONAsString, 'json String')",
        "JSONEachRow": "SELECT arrayJoin(resourceSpans) AS r FROM file('$file', JSONEachRow, 'resourceSpans $groups')",
    },
    "protobuf": {
        "Protobuf": "SELECT arrayJoin(resource_spans) AS r FROM file('$file', Protobuf, 'resource_spans $groups')",
    },
}
CHECK = "SELECT count() AS spans, uniqExact(TraceId) AS traces, sum(Duration) AS duration_ns FROM otel_traces"


def _insert(form: str, way: str, file: Path, schema: Path) -> str:
    names, types = NAMES[form], JSON_TYPES if form == "json" else PROTOBUF_TYPES
    groups = Template(types["groups"]).substitute(pair=types["pair"])
    source = Template(WAYS[form][way]).substitute(groups=groups, file=str(file).replace("'", "\\'"))

    def attributes(column: str) -> str:
        values = f"arrayMap(v -> {names['value']}, {column}.value)"
        return f"CAST(mapFromArrays({column}.key, {values}), 'Map(LowCardinality(String), String)')"

    def identifier(column: str) -> str:
        return Template(names["id"]).substitute(x=column)

    links = [f"arrayMap(x -> {identifier(f'x.{names[which]}')}, s.links)" for which in ("trace", "span")]
    settings = f" SETTINGS format_schema = '{schema}:TracesData'" if form == "protobuf" else ""
    return f"""
INSERT INTO otel_traces SELECT
  fromUnixTimestamp64Nano({names["start"]}), {identifier(f"s.{names['trace']}")}, {identifier(f"s.{names['span']}")},
  {identifier(names["parent"])}, s.{names["state"]}, s.name,
  ['Unspecified', 'Internal', 'Server', 'Client', 'Producer', 'Consumer'][s.kind + 1],
  told['service.name'], told, c.scope.name, c.scope.version, {attributes("s.attributes")},
  toUInt64({names["end"]} - {names["start"]}), ['Unset', 'Ok', 'Error'][s.status.code + 1], s.status.message,
  arrayMap(x -> fromUnixTimestamp64Nano(x.{names["at"]}), s.events), s.events.name,
  arrayMap(x -> {attributes("x.attributes")}, s.events),
  {links[0]}, {links[1]}, s.links.{names["state"]}, arrayMap(x -> {attributes("x.attributes")}, s.links)
FROM (
  SELECT told, c, arrayJoin(c.spans) AS s
  FROM (SELECT {attributes("r.resource.attributes")} AS told, arrayJoin({names["scopes"]}) AS c FROM ({source}))
){settings}"""


def main(form: str, way: str, file: str, folder: str) -> None:
    """Load a file into a new table in a folder; the clock runs for the INSERT alone."""
    start = time.perf_counter()
    import chdb  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from chdb.session import Session  # type: ignore[import-not-found, import-untyped, unused-ignore]

    schema = Path(folder) / "otlp.proto"
    schema.write_text(SCHEMA, encoding="utf-8")
    session = Session(str(Path(folder) / "clickhouse"))
    session.query(TABLE)
    ready = time.perf_counter()
    session.query(_insert(form, way, Path(file), schema))
    loaded = time.perf_counter()
    found = json.loads(session.query(CHECK, "JSONEachRow").bytes())
    engine = session.query("SELECT version()", "TabSeparated").bytes().decode().strip()
    session.close()
    told = {
        **{name: int(value) for name, value in found.items()},
        "import_s": ready - start,
        "load_s": loaded - ready,
        "version": f"chdb {chdb.__version__} (ClickHouse {engine})",
    }
    json.dump(told, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
