"""How fast files become a store: ingest and derive, beside plain JSON parsing of the same file in the same run.

Each round runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE_NS = 1_767_225_600_000_000_000
GAP_NS = 5_000_000
SPANS_A_LINE = 100
STEPS = ("json.loads", "ingest", "derive")


def event_lines(requests: int) -> Iterator[str]:
    """An event log: one request in twenty is refused, as many are cancelled, the others have four lines."""
    for i in range(requests):
        same = {"request": f"r-{i}", "clock": "client-1", "side": "client", "tenant": f"tenant-{i % 7}"}
        tokens, sent = 8 + i * 31 % 200, BASE_NS + i * GAP_NS
        first = sent + 80_000_000 + i * 7919 % 400_000_000
        last = first + tokens * 20_000_000
        events: list[tuple[str, int, dict[str, Any]]] = [("sent", sent, {"input_tokens": 32 + i * 17 % 2000})]
        if i % 20 == 0:
            events.append(("rejected", sent + 3_000_000, {"status_code": 429}))
        elif i % 20 == 1:
            events.append(("done", first - 1_000_000, {"outcome": "cancelled"}))
        else:
            end = {"outcome": "ok", "output_tokens": tokens}
            events += [
                ("first_content", first, {"tokens": 1}),
                ("last_content", last, {}),
                ("done", last + 900_000, end),
            ]
        for event, ns, facts in events:
            yield json.dumps(same | {"event": event, "ns": str(ns)} | facts)


def _attributes(values: dict[str, str | int | float]) -> list[dict[str, Any]]:
    typed = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return [{"key": k, "value": {typed[type(v)]: str(v) if isinstance(v, int) else v}} for k, v in values.items()]


def _engine_span(i: int) -> dict[str, Any]:
    queue, prefill, tokens, start = i * 7919 % 400 / 1e3, 0.08, 8 + i * 31 % 200, BASE_NS + i * GAP_NS
    decode = tokens * 0.02
    facts: dict[str, str | int | float] = {
        "gen_ai.request.id": f"chatcmpl-r-{i}", "gen_ai.response.model": "bench", "tenant": f"tenant-{i % 7}",
        "gen_ai.request.max_tokens": tokens, "gen_ai.request.temperature": 1.0, "gen_ai.request.top_p": 1.0,
        "gen_ai.request.n": 1, "gen_ai.usage.prompt_tokens": 32 + i, "gen_ai.usage.completion_tokens": tokens,
        "gen_ai.latency.time_in_queue": queue, "gen_ai.latency.time_in_model_prefill": prefill,
        "gen_ai.latency.time_to_first_token": queue + prefill, "gen_ai.latency.time_in_model_decode": decode,
        "gen_ai.latency.time_in_model_inference": prefill + decode, "gen_ai.latency.e2e": queue + prefill + decode,
    }  # fmt: skip
    return {
        "traceId": f"{i + 1:032x}", "spanId": f"{i + 1:016x}", "name": "llm_request", "kind": 2,
        "startTimeUnixNano": str(start), "endTimeUnixNano": str(start + round((queue + prefill + decode) * 1e9)),
        "attributes": _attributes(facts), "status": {},
    }  # fmt: skip


def otlp_lines(requests: int) -> Iterator[str]:
    """OTLP/JSON lines as an exporter batches them: one vLLM request span a request, fifteen attributes each."""
    host = {"attributes": _attributes({"service.name": "vllm-server", "host.name": "node-a"})}
    for at in range(0, requests, SPANS_A_LINE):
        spans = [_engine_span(i) for i in range(at, min(at + SPANS_A_LINE, requests))]
        scopes = [{"scope": {"name": "vllm.tracing.otel"}, "spans": spans}]
        yield json.dumps({"resourceSpans": [{"resource": host, "scopeSpans": scopes}]}, separators=(",", ":"))


FORMATS = {"events": event_lines, "otlp": otlp_lines}


def measure(path: Path) -> dict[str, float]:
    """Seconds of json.loads over the lines, of ingest and of derive; requests in the store; peak memory in bytes."""
    import polars, pyarrow, scipy.stats  # noqa: E401, F401, ICN001, I001 (before the clock starts)
    from analyzer import ingest
    from analyzer.store import Store

    start = time.perf_counter()
    with path.open("rb") as lines:
        assert all(json.loads(line) for line in lines)
    parsed = time.perf_counter()
    with Store(path.with_suffix(".duckdb"), create=True) as store:
        ingest.ingest_files(store, ingest.find([str(path)])[0])
        ingest.apply_defaults(store)
        appended = time.perf_counter()
        store.derive()
        derived = time.perf_counter()
        requests = store.fetch("SELECT count(*) AS n FROM request")[0]["n"]
    unit = 1 if sys.platform == "darwin" else 1024  # bytes on macOS, KiB elsewhere
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    times = (parsed - start, appended - parsed, derived - appended)
    return dict(zip(STEPS, times, strict=True)) | {"requests": requests, "peak_bytes": peak}


def rounds(name: str, requests: int, repeats: int) -> list[dict[str, Any]]:
    """One row per step of one format: medians of several rounds, each in a new process and a new folder."""
    seen = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.jsonl"
            path.write_text("".join(line + "\n" for line in FORMATS[name](requests)), encoding="utf-8")
            size = path.stat().st_size
            with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
                seen.append(fresh.submit(measure, path).result())
    middle = {key: statistics.median(one[key] for one in seen) for key in seen[0]}
    if middle["requests"] != requests:
        sys.exit(f"{name}: {middle['requests']} of {requests} requests arrived, so there is nothing to compare")
    return [
        {"format": name, "step": step, "s": middle[step], "requests/s": requests / middle[step],
         "MB/s": size / 1e6 / middle[step], "x json.loads": middle[step] / middle["json.loads"],
         "peak MiB": middle["peak_bytes"] / 2**20}
        for step in STEPS
    ]  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """Rows in columns; peak memory is that of the three steps together."""
    texts = [list(rows[0])] + [[f"{v:,.2f}" if isinstance(v, float) else v for v in row.values()] for row in rows]
    return "\n".join("".join(f"{text:>17}" for text in line) for line in texts)


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=20_000, help="requests in each file (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds whose median counts (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    wanted = parser.parse_args()
    rows = [row for name in FORMATS for row in rounds(name, wanted.requests, wanted.repeats)]
    print(json.dumps(rows, indent=2) if wanted.json else table(rows))


if __name__ == "__main__":
    main()
