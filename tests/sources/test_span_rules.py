"""Spans as engines and gateways write them, and the boundaries that the built-in rules read from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import BASE_NS, rows, span, store
from running import analyze, refusal, well

from analyzer.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

TRACE = "0af7651916cd43dd8448eb211c80319c"
SERVER, INTERNAL = 2, 1
LATENCY = "gen_ai.latency."


def told(made: Any) -> dict[str, tuple[Any, ...]]:
    """Boundary of the one attempt -> (evidence, ms), or (bounded, low ms, high ms)."""
    found = {}
    for boundary, evidence, low, high in rows(
        made,
        f"SELECT boundary, evidence, (low_ns - {BASE_NS}) / 1e6, (high_ns - {BASE_NS}) / 1e6 FROM boundary",
    ):
        found[boundary] = (evidence, low) if low == high else (evidence, low, high)
    return found


def latency(**seconds: float) -> dict[str, float]:
    """Attributes `gen_ai.latency.*` of a span."""
    return {LATENCY + name: value for name, value in seconds.items()}


def engine(scope: str, *, name: str = "llm_request", kind: int = SERVER, **more: Any) -> Any:
    """An engine's span from 0 to 1,000 ms."""
    return span(TRACE, 1, service="engine", scope=scope, kind=kind, name=name, start=0, end=1000, **more)


CASES: dict[str, tuple[list[Any], dict[str, tuple[Any, ...]]]] = {
    "vLLM V1 bounds the queue by its slack": (
        [engine("vllm.tracing.otel", attributes=latency(
            time_to_first_token=0.4, e2e=0.99, time_in_queue=0.1, time_in_model_prefill=0.25, time_in_model_decode=0.58,
        ))],
        {
            "arrived": ("measured", 0), "admitted": ("bounded", 0, 50), "started": ("bounded", 100, 150),
            "first_token": ("derived", 400), "last_token": ("derived", 980), "done": ("measured", 1000),
        },
    ),
    "vLLM V0 counts the queue from the arrival": (
        [engine("vllm.engine.llm_engine", attributes=latency(
            time_to_first_token=0.4, e2e=0.99, time_in_queue=0.1, time_in_scheduler=0.01, time_in_model_forward=0.5,
        ))],
        {
            "arrived": ("measured", 0), "admitted": ("measured", 0), "started": ("derived", 100),
            "first_token": ("derived", 400), "done": ("measured", 1000),
        },
    ),
    "TensorRT-LLM counts the queue from the arrival": (
        [engine("tensorrt_llm.llmapi", attributes=latency(time_to_first_token=0.4, e2e=0.9, time_in_queue=0.1))],
        {
            "arrived": ("measured", 0), "admitted": ("measured", 0), "started": ("derived", 100),
            "first_token": ("derived", 400), "last_token": ("derived", 900), "done": ("measured", 1000),
        },
    ),
    "TensorRT-LLM writes -1 for what is missing": (
        [engine("tensorrt_llm.llmapi", attributes=latency(time_to_first_token=-1, e2e=0.9, time_in_queue=-1))],
        {
            "arrived": ("measured", 0), "admitted": ("measured", 0), "last_token": ("derived", 900),
            "done": ("measured", 1000),
        },
    ),
    "SGLang's prefill holds the queue and only bounds the first step": (
        [engine("sglang.srt.observability.trace", name="Req 12ab", attributes={"rid": "12ab"} | latency(
            time_to_first_token=0.4, e2e=0.9, time_in_model_prefill=0.35, time_in_model_decode=0.5,
        ))],
        {
            "arrived": ("measured", 0), "started": ("bounded", 50, 400), "first_token": ("derived", 400),
            "last_token": ("derived", 900), "done": ("measured", 1000),
        },
    ),
    "SGLang with prefill and decode apart has a KV transfer": (
        [
            engine("sglang.srt.observability.trace", name="Req 12ab", attributes={"rid": "12ab"} | latency(
                time_to_first_token=0.4, e2e=0.9, time_in_model_decode=0.5)),
            span(TRACE, 2, service="engine", scope="sglang.srt.observability.trace", kind=INTERNAL, parent=1,
                 name="prefill_waiting", start=20, end=120),
            span(TRACE, 3, service="engine", scope="sglang.srt.observability.trace", kind=INTERNAL, parent=1,
                 name="prefill_transfer_kv_cache", start=250, end=300),
        ],
        {
            "arrived": ("measured", 0), "admitted": ("measured", 20), "started": ("measured", 120),
            "prefill_done": ("measured", 250), "decode_started": ("measured", 300), "first_token": ("derived", 400),
            "last_token": ("derived", 900), "done": ("measured", 1000),
        },
    ),
    "Triton's times are the events of its spans": (
        [
            engine("triton-server", name="InferRequest", events={"HTTP_RECV_START": 2, "HTTP_SEND_END": 990}),
            span(TRACE, 2, service="engine", scope="triton-server", kind=INTERNAL, parent=1, name="llama",
                 start=5, end=980, attributes={"triton.model_name": "llama"}, events={"QUEUE_START": 6}),
            span(TRACE, 3, service="engine", scope="triton-server", kind=INTERNAL, parent=2, name="compute",
                 start=100, end=970, events={"COMPUTE_START": 106}),
        ],
        {
            "arrived": ("measured", 2), "admitted": ("measured", 6), "started": ("measured", 106),
            "done": ("measured", 990),
        },
    ),
    "TGI's durations are texts of any unit, and no first token is made up": (
        [engine("text_generation_router", name="generate_stream", attributes={
            "validation_time": "1.5ms", "queue_time": "52.5µs", "inference_time": "0.9s", "total_time": "1s",
            "time_per_token": "20ms",
        })],
        {
            "arrived": ("measured", 0), "admitted": ("derived", 1.5), "started": ("derived", 1.5525),
            "last_token": ("derived", 901.5525), "done": ("measured", 1000),
        },
    ),
    "Dynamo's frontend counts its first token from its own start": (
        [engine("dynamo", name="http-request", attributes={
            "ttft_ms": "321.5", "x_request_id": "r-1", "uri": "/v1/chat/completions", "model": "m"})],
        {"arrived": ("measured", 0), "first_content": ("derived", 321.5), "done": ("measured", 1000)},
    ),
    "llm-d's true_ttft_ms is no first token": (
        [
            engine("llm-d", name="llm_d.pd_proxy.request", attributes={
                "llm_d.pd_proxy.request_id": "r-1", "llm_d.pd_proxy.true_ttft_ms": 300}),
            span(TRACE, 2, service="engine", scope="llm-d", kind=INTERNAL, parent=1, name="llm_d.pd_proxy.prefill",
                 start=10, end=280),
            span(TRACE, 3, service="engine", scope="llm-d", kind=INTERNAL, parent=1, name="llm_d.pd_proxy.decode",
                 start=300, end=990),
        ],
        {
            "arrived": ("measured", 0), "prefill_done": ("measured", 280), "decode_started": ("measured", 300),
            "done": ("measured", 1000),
        },
    ),
    "llm-d's gateway lets a request through when its orchestration ends": (
        [
            span(TRACE, 1, service="epp", scope="llm-d-inference-scheduler", kind=SERVER, name="gateway.request", start=0, end=1000),
            span(TRACE, 2, service="epp", scope="llm-d-inference-scheduler", kind=SERVER, parent=1,
                 name="gateway.request_orchestration", start=1, end=120, attributes={"target_model": "m"}),
        ],
        {"arrived": ("measured", 0), "admitted": ("measured", 120), "done": ("measured", 1000)},
    ),
    "Envoy's first-token event is stamped at the end and not read": (
        [engine("envoyproxy/ai-gateway", name="ChatCompletion", kind=INTERNAL,
                attributes={"llm.model_name": "m", "openinference.span.kind": "LLM"},
                events={"First Token Stream Event": 999})],
        {"arrived": ("measured", 0), "done": ("measured", 1000)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_boundaries_are_those_that_the_writer_of_the_span_documents(name: str, tmp_path: Path) -> None:
    spans, expected = CASES[name]
    assert told(store(tmp_path, spans=spans)) == expected


def test_the_kv_transfer_is_a_stage_of_its_own_and_no_part_of_prefill(tmp_path: Path) -> None:
    spans, _ = CASES["SGLang with prefill and decode apart has a KV transfer"]
    made = store(tmp_path, spans=spans)
    query = "SELECT stage, low_ms, high_ms FROM stage WHERE stage IN ('queue', 'prefill', 'kv_transfer', 'decode') ORDER BY stage"
    assert rows(made, query) == [
        ("decode", 500.0, 500.0), ("kv_transfer", 50.0, 50.0), ("prefill", 130.0, 130.0), ("queue", 100.0, 100.0),
    ]  # fmt: skip


OURS = """
[[rule]]
name = "our gateway"
kind = ["server"]
scope = ["acme.gateway*"]
span = ["infer *"]
has = ["acme.wait_us"]
looks = "gateway"
[rule.facts]
request_id = ["acme.request"]
[rule.durations]
wait = { key = "acme.wait_us", unit = "us" }
[rule.boundaries]
arrived = "start"
admitted = "start + wait"
done = "end"
"""


def ours(folder: Path) -> None:
    """Spans that only a rule of their user's own knows, and a rule file."""
    document = span(
        TRACE, 1, service="gw", scope="acme.gateway.http", kind=SERVER, name="infer chat", start=0, end=50,
        attributes={"acme.wait_us": 1500, "acme.request": "r-1"},
    )  # fmt: skip
    (folder / "spans.jsonl").write_text(json.dumps(document) + "\n", encoding="utf-8")
    (folder / "ours.toml").write_text(OURS, encoding="utf-8")


def asked(folder: Path, query: str) -> list[dict[str, str]]:
    return well("sql", query, cwd=folder).rows


def test_a_rule_file_of_a_users_own_reads_spans_that_no_built_in_rule_knows(tmp_path: Path) -> None:
    ours(tmp_path)
    query = "SELECT request_id, edge_low_ms AS edge FROM attempt_metric"
    assert well("ingest", "spans.jsonl", cwd=tmp_path).rows[0]["set_aside"] == "1"
    assert asked(tmp_path, query) == []
    # Spans that are in the store already are read again.
    well("ingest", "spans.jsonl", "--rules", "ours.toml", cwd=tmp_path)
    assert asked(tmp_path, query) == [{"request_id": "r-1", "edge": "1.5"}]
    assert asked(tmp_path, "SELECT name, origin FROM span_rule WHERE rule = 1") == [
        {"name": "our gateway", "origin": "ours.toml"}
    ]
    # The store keeps them, until they are given up.
    well("ingest", "spans.jsonl", cwd=tmp_path)
    assert len(asked(tmp_path, query)) == 1
    well("ingest", "spans.jsonl", "--built-in-rules", cwd=tmp_path)
    assert asked(tmp_path, query) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing", "ours.toml is no TOML"),
        ("", "the file holds no [[rule]]"),
        ("[[rule]]\nlooks = 'engine'\n", "a rule has no name"),
        ("[[rule]]\nname = 'a'\nlooks = 'engine'\n", "rule 'a' fits every span"),
        ("[[rule]]\nname = 'a'\nspan = 'x'\nlooks = 'machine'\n", "looks is 'machine', which is none of engine,"),
        ("[[rule]]\nname = 'a'\nspan = 'x'\nlooks = 'engine'\nunit = 's'\n", "has the unknown key unit"),
        ("[[rule]]\nname = 'a'\nspan = 'x'\nlooks = 'engine'\nfacts = 3\n", "facts must be a table"),
        (OURS.replace("us", "hours"), "duration wait is 'hours', which is none of s, ms, us, ns, text"),
        (OURS.replace("+ wait", "+ wiat"), "boundary admitted is 'wiat', which is none of start, end, wait"),
        (OURS.replace("admitted", "begun"), "boundary begun is 'begun', which is none of scheduled,"),
        (OURS.replace('"end"', '"event "'), "boundary done names no event"),
        (OURS.replace("request_id", "ident"), "fact is 'ident', which is none of request_id,"),
    ],
)
def test_a_wrong_rule_file_is_refused_in_one_sentence_and_changes_nothing(text: str, said: str, tmp_path: Path) -> None:
    ours(tmp_path)
    (tmp_path / "ours.toml").write_text(text, encoding="utf-8")
    assert said in refusal(analyze("ingest", "spans.jsonl", "--rules", "ours.toml", cwd=tmp_path), ExitCode.USAGE)
    assert not (tmp_path / "analyze.duckdb").exists()
