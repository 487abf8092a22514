"""What spans look like: resources, scopes, and the attributes of each sort of span, without times, ids and values.

What a shape says of its attributes is all that a writer needs, so JSON and protobuf are written from one description.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from queueing import DEADLINE_NS, LONGEST_OUTPUT, WORKERS

MODEL = "Qwen/Qwen2.5-7B-Instruct"
_LOCAL, _REMOTE = 0x101, 0x301  # flags: sampled, and whether the parent is in another process


class Kind(Enum):
    """Types of an attribute's value; ID is text that never needs an escape."""

    TEXT = "string_value"
    ID = "id_value"
    INT = "int_value"
    DOUBLE = "double_value"
    BOOL = "bool_value"
    TEXTS = "array_value"


class Field(NamedTuple):
    """An attribute; one with a constant has that value on every span of its shape."""

    key: str
    kind: Kind
    constant: Any = None


class Scope(NamedTuple):
    """An instrumentation scope."""

    name: str
    version: str
    schema_url: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Resource:
    """Who exports; equal only to itself."""

    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """What spans of one sort have in common; equal only to itself. Failed ones have one event, an exception."""

    scope: Scope
    name: str
    kind: int
    fields: tuple[Field, ...]
    flags: int = _LOCAL
    root: bool = False
    failed: bool = False


EXCEPTION = tuple(Field(f"exception.{name}", Kind.TEXT) for name in ("type", "message", "stacktrace"))


def _text(key: str, constant: str | None = None) -> Field:
    return Field(key, Kind.TEXT, constant)


def _id(key: str) -> Field:
    return Field(key, Kind.ID)


def _int(key: str, constant: int | None = None) -> Field:
    return Field(key, Kind.INT, constant)


def _double(key: str, constant: float | None = None) -> Field:
    return Field(key, Kind.DOUBLE, constant)


def _bool(key: str, constant: bool | None = None) -> Field:
    return Field(key, Kind.BOOL, constant)


def _resource(service: str, host: str, version: str, language: str) -> Resource:
    return Resource(
        (
            _text("service.name", service), _text("service.version", version), _text("host.name", host),
            _text("telemetry.sdk.language", language), _text("telemetry.sdk.name", "opentelemetry"),
        )
    )  # fmt: skip


CLIENT_HOST, GATEWAY_HOST = "app-1", "gw-1"
ENGINE_HOSTS = tuple(f"gpu-{worker + 1}" for worker in range(WORKERS))
CLIENT = _resource("chat-app", CLIENT_HOST, "4.2.0", "python")
GATEWAY = _resource("llm-gateway", GATEWAY_HOST, "1.9.3", "go")
ENGINES = tuple(_resource("vllm-server", host, "0.11.2", "python") for host in ENGINE_HOSTS)

_OPENAI = Scope("opentelemetry.instrumentation.genai.openai", "1.3b0", "https://opentelemetry.io/schemas/1.41.0")
_HTTP = Scope("go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp", "0.63.0")
_ROUTER = Scope("llm-gateway/router", "1.9.3")
_VLLM = Scope("vllm.llm_engine", "")
_EXECUTOR = Scope("engine.executor", "0.11.2")

_CALL = (
    _text("gen_ai.operation.name", "chat"), _text("gen_ai.request.model", MODEL), _bool("gen_ai.request.stream", True),
    _double("gen_ai.request.temperature", 0.7), _id("x_request_id"), _text("tenant"), _text("app.feature"),
    _int("app.tries"),
)  # fmt: skip
CALL_OK = Shape(
    _OPENAI, f"chat {MODEL}", 3,
    (
        *_CALL, _id("gen_ai.response.id"), Field("gen_ai.response.finish_reasons", Kind.TEXTS),
        _int("gen_ai.usage.input_tokens"), _int("gen_ai.usage.output_tokens"),
        _double("gen_ai.response.time_to_first_chunk"),
    ),
    root=True,
)  # fmt: skip
CALL_FAILED = Shape(_OPENAI, f"chat {MODEL}", 3, (*_CALL, _text("error.type")), root=True, failed=True)

_SERVED = (
    _text("http.request.method", "POST"), _text("http.route", "/v1/chat/completions"),
    _id("client.address"), _int("client.port"), _text("user_agent.original"), _int("http.response.status_code"),
    _id("x_request_id"), _text("tenant"), _double("deadline_ms", DEADLINE_NS / 1e6),
    _int("bytes_in"), _int("bytes_out"),
)  # fmt: skip
SERVED_OK = Shape(_HTTP, "POST /v1/chat/completions", 2, _SERVED, _REMOTE)
SERVED_FAILED = Shape(_HTTP, "POST /v1/chat/completions", 2, (*_SERVED, _text("error.type")), _REMOTE, failed=True)

ADMITTED = Shape(
    _ROUTER, "admit", 1,
    (
        _text("policy", "fcfs"), _int("waiting"), _int("running"), _text("worker"), _int("replicas", WORKERS),
        _double("score"), _bool("sticky"), _int("input"), _int("budget"), _text("class", "chat"), _int("priority", 1),
        _text("zone", "a"),
    ),
)  # fmt: skip
UPSTREAM = Shape(
    _HTTP, "POST", 3,
    (
        _text("server.address"), _int("server.port", 8000), _int("http.response.status_code"), _text("peer"),
        _int("resent"), _int("bytes_in"), _bool("reused", True), _text("pool", "decode"), _text("zone", "a"),
        _bool("tls", False), _text("proto", "h1"),
    ),
)  # fmt: skip
ENGINE = Shape(
    _VLLM, "llm_request", 2,
    (
        _id("gen_ai.request.id"), _int("gen_ai.request.n", 1), _int("gen_ai.request.max_tokens", LONGEST_OUTPUT),
        _double("gen_ai.request.temperature", 0.7), _double("gen_ai.request.top_p", 1.0),
        _int("gen_ai.usage.prompt_tokens"), _int("gen_ai.usage.completion_tokens"),
        _double("gen_ai.latency.time_to_first_token"), _double("gen_ai.latency.e2e"),
        _double("gen_ai.latency.time_in_queue"), _double("gen_ai.latency.time_in_model_prefill"),
        _double("gen_ai.latency.time_in_model_decode"), _double("gen_ai.latency.time_in_model_inference"),
    ),
    _REMOTE,
)  # fmt: skip
EXECUTED = Shape(
    _EXECUTOR, "execute", 1,
    (
        _int("steps"), _int("chunks"), _int("blocks"), _int("block_size", 16), _int("preempted", 0),
        _double("kv_usage"), _text("dtype", "bf16"), _text("device"), _int("tp", 1), _int("batch"),
        _int("batch_tokens"), _bool("graph", True), _text("kernel", "flash"), _int("rank", 0),
    ),
)  # fmt: skip
