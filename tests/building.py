"""Small stores from a few lines of text: given rows, a query, expected rows."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer import ingest, manifest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

BASE_NS = 1_767_225_600_000_000_000  # 2026-01-01T00:00:00Z

Line = dict[str, Any]


def _value(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return json.loads(text)
    except ValueError:
        return text


def lines(text: str, **same: Any) -> list[Line]:
    """Event lines from `request event ms [key=value ...]`, one a line; side client and clock c unless said."""
    found = []
    for row in text.strip().splitlines():
        request, event, at, *facts = row.split()
        line: Line = {"request": request, "event": event, "side": "client", "clock": "c", **same}
        line |= {key: _value(value) for key, _, value in (fact.partition("=") for fact in facts)}
        found.append(line | {"ns": str(BASE_NS + round(float(at) * 1e6))})
    return found


def write(path: Path, rows: Iterable[Line]) -> Path:
    """An event log of these lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def declare(folder: Path, raw: Iterable[str], *, name: str = "r", **measurement: Any) -> Path:
    """A manifest beside the raw files: `measurement` as given, everything else unknown."""
    clocks = measurement.pop("clocks", None)
    workload = measurement.pop("workload", {})
    document = manifest.skeleton({"name": name, "artifact.raw": [{"path": path} for path in raw]})
    document["measurement"] |= measurement
    document["workload"] |= workload
    if clocks:
        document["artifact"]["clocks"] = clocks
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@cache
def _empty_store() -> bytes:
    """A store with every view and no rows: making the views takes longer than filling a small store."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "empty.duckdb"
        with Store(path, create=True) as made:
            made.derive()
        return path.read_bytes()


def put_empty_store(folder: Path) -> None:
    """Lay a store with every view and no rows where a command looks for one, if none is there."""
    path = folder / "analyze.duckdb"
    if not path.exists():
        path.write_bytes(_empty_store())


def store(folder: Path, rows: Iterable[Line] = (), *, spans: Iterable[Line] = (), **measurement: Any) -> Store:
    """A derived store of one run `r` from event lines and OTLP documents, counted as `measurement` declares."""
    raw = []
    if rows := list(rows):
        raw.append(write(folder / "events.jsonl", rows).name)
    if documents := list(spans):
        raw.append(write(folder / "spans.jsonl", documents).name)
    declared = manifest.load(declare(folder, raw, **measurement))
    files, faults = ingest.find([str(folder)])
    assert faults == []
    (folder / "test.duckdb").write_bytes(_empty_store())
    made = Store(folder / "test.duckdb")
    ingest.ingest_files(made, [file for file in files if file.path.suffix == ".jsonl"])
    ingest.apply_manifest(made, declared)
    made.derive()
    return made


def rows(made: Store, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query."""
    return [tuple(row.values()) for row in made.fetch(query)]


TOTAL = "load_point = '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'"


def slo(metric: str, ms: float, *, target: float = 0.95, name: str = "p", **more: Any) -> dict[str, Any]:
    """One promise with one condition."""
    return {"name": name, "good": [{"metric": metric, "op": "<=", "ms": ms}], "target": target, **more}


def span(
    trace: str, number: int, *, service: str, scope: str, kind: int, start: float, end: float, **more: Any
) -> Line:
    """One OTLP document with one span; times in ms, `attributes` and `events` (name: time) dictionaries, `host` its clock."""
    typed = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    attributes = [
        {"key": key, "value": {typed[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in more.get("attributes", {}).items()
    ]
    resource = [{"key": "service.name", "value": {"stringValue": service}}]
    if host := more.get("host"):
        resource.append({"key": "host.name", "value": {"stringValue": host}})
    body = {
        "traceId": trace, "spanId": f"{number:016x}", "name": more.get("name", "span"), "kind": kind,
        "startTimeUnixNano": str(BASE_NS + round(start * 1e6)), "endTimeUnixNano": str(BASE_NS + round(end * 1e6)),
        "attributes": attributes, "status": more.get("status", {}),
    }  # fmt: skip
    if events := more.get("events"):
        body["events"] = [{"name": name, "timeUnixNano": str(BASE_NS + round(at * 1e6))} for name, at in events.items()]
    if parent := more.get("parent"):
        body["parentSpanId"] = f"{parent:016x}"
    return {
        "resourceSpans": [
            {"resource": {"attributes": resource}, "scopeSpans": [{"scope": {"name": scope}, "spans": [body]}]}
        ]
    }


def engine_span(
    trace: str,
    number: int,
    *,
    start: float,
    ttft: float,
    queue: float,
    prefill: float,
    decode: float,
    tokens: int,
    **more: Any,
) -> Line:
    """A vLLM request span; times in ms."""
    attributes = {
        "gen_ai.latency.time_to_first_token": ttft / 1e3, "gen_ai.latency.time_in_queue": queue / 1e3,
        "gen_ai.latency.time_in_model_prefill": prefill / 1e3, "gen_ai.latency.time_in_model_decode": decode / 1e3,
        "gen_ai.latency.e2e": (ttft + decode) / 1e3, "gen_ai.usage.prompt_tokens": 10, "gen_ai.usage.completion_tokens": tokens,
        **more.pop("attributes", {}),
    }  # fmt: skip
    return span(
        trace, number, service="vllm", scope="vllm.tracing.otel", kind=2, name="llm_request",
        start=start, end=start + ttft + decode, attributes=attributes, **more,
    )  # fmt: skip
