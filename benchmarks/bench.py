"""How fast files become a store: ingest and derive, beside plain JSON parsing of the same file in the same run.

Each case runs in a process of its own, so that its peak memory is its own. `--json` prints for machines.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BASE_NS = 1_767_225_600_000_000_000
GAP_NS = 5_000_000
SPANS_A_LINE = 100
MIB = 1024 * 1024
STEPS = ("json.loads", "ingest", "derive")


def event_lines(requests: int) -> Iterator[str]:
    """An event log: four lines a request, one in ten of them cancelled, one in twenty refused."""
    for i in range(requests):
        same = {
            "request": f"r-{i}",
            "clock": "client-1",
            "side": "client",
            "tenant": f"tenant-{i % 7}",
            "streamed": True,
        }
        sent = BASE_NS + i * GAP_NS
        first = sent + 80_000_000 + i * 7919 % 400_000_000
        tokens = 8 + i * 31 % 200
        last = first + tokens * 20_000_000
        yield json.dumps(same | {"event": "sent", "ns": str(sent), "input_tokens": 32 + i * 17 % 2000})
        if i % 20 == 0:
            yield json.dumps(same | {"event": "rejected", "ns": str(sent + 3_000_000), "status_code": 429})
        elif i % 10 == 1:
            yield json.dumps(same | {"event": "done", "ns": str(first - 1_000_000), "outcome": "cancelled"})
        else:
            yield json.dumps(same | {"event": "first_content", "ns": str(first), "tokens": 1})
            yield json.dumps(same | {"event": "last_content", "ns": str(last)})
            yield json.dumps(
                same | {"event": "done", "ns": str(last + 900_000), "outcome": "ok", "output_tokens": tokens}
            )


def _attributes(values: dict[str, str | int | float]) -> list[dict[str, Any]]:
    typed = {str: "stringValue", int: "intValue", float: "doubleValue"}
    return [
        {"key": key, "value": {typed[type(value)]: str(value) if isinstance(value, int) else value}}
        for key, value in values.items()
    ]


def _engine_span(i: int) -> dict[str, Any]:
    queue, prefill, tokens = i * 7919 % 400 / 1e3, 0.08, 8 + i * 31 % 200
    decode = tokens * 0.02
    start = BASE_NS + i * GAP_NS
    facts: dict[str, str | int | float] = {
        "gen_ai.request.id": f"chatcmpl-r-{i}", "gen_ai.response.model": "bench", "tenant": f"tenant-{i % 7}",
        "gen_ai.request.max_tokens": tokens, "gen_ai.request.temperature": 1.0, "gen_ai.request.top_p": 1.0,
        "gen_ai.request.n": 1, "gen_ai.usage.prompt_tokens": 32 + i * 17 % 2000, "gen_ai.usage.completion_tokens": tokens,
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
    resource_facts = {"attributes": _attributes({"service.name": "vllm-server", "host.name": "node-a"})}
    for at in range(0, requests, SPANS_A_LINE):
        spans = [_engine_span(i) for i in range(at, min(at + SPANS_A_LINE, requests))]
        scope = {"scope": {"name": "vllm.tracing.otel"}, "spans": spans}
        yield json.dumps(
            {"resourceSpans": [{"resource": resource_facts, "scopeSpans": [scope]}]}, separators=(",", ":")
        )


FORMATS: dict[str, Callable[[int], Iterator[str]]] = {"events": event_lines, "otlp": otlp_lines}


def measure(path: Path) -> dict[str, float]:
    """Seconds of json.loads over the lines, of ingest and of derive; requests in the store; peak memory in bytes."""
    from analyzer import ingest
    from analyzer.store import Store

    start = time.perf_counter()
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            json.loads(line)
    parsed = time.perf_counter()
    with Store(path.with_suffix(".duckdb"), create=True) as store:
        opened = time.perf_counter()
        files, _ = ingest.find([str(path)])
        ingest.ingest_files(store, files)
        ingest.apply_defaults(store)
        appended = time.perf_counter()
        store.derive()
        derived = time.perf_counter()
        requests = store.fetch("SELECT count(*) AS n FROM request")[0]["n"]
    # Linux counts in KiB, macOS in bytes.
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    times = (parsed - start, appended - opened, derived - appended)
    return dict(zip(STEPS, times, strict=True)) | {"requests": requests, "peak_bytes": peak}


def rounds(name: str, requests: int, repeats: int) -> list[dict[str, Any]]:
    """One row per step of one format: medians of several rounds, each in a new process and a new folder."""
    seen = []
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{name}.jsonl"
            path.write_text("".join(line + "\n" for line in FORMATS[name](requests)), encoding="utf-8")
            size = path.stat().st_size
            done = subprocess.run([sys.executable, __file__, "--measure", path], check=True, capture_output=True)
            seen.append(json.loads(done.stdout))
    middle = {key: statistics.median(one[key] for one in seen) for key in seen[0]}
    if middle["requests"] != requests:
        sys.exit(f"{name}: {middle['requests']} of {requests} requests arrived, so there is nothing to compare")
    return [
        {
            "format": name, "step": step, "s": middle[step], "requests_per_s": requests / middle[step],
            "mb_per_s": size / 1e6 / middle[step], "times_json_loads": middle[step] / middle["json.loads"],
            "peak_mib": middle["peak_bytes"] / MIB,
        }
        for step in STEPS
    ]  # fmt: skip


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--requests", type=int, default=20_000, help="requests in each file (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="rounds whose median counts (default %(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.measure:
        print(json.dumps(measure(wanted.measure)))
        return
    rows = [row for name in FORMATS for row in rounds(name, wanted.requests, wanted.repeats)]
    if wanted.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{wanted.requests:,} requests, median of {wanted.repeats}; peak memory is that of the three steps together")
    print("".join(f"{heading:>18}" for heading in rows[0]))
    for row in rows:
        print("".join(f"{value:>18,.2f}" if isinstance(value, float) else f"{value:>18}" for value in row.values()))


if __name__ == "__main__":
    main()
