"""OTLP's JSON values as plain ones: ids, integers beyond 2^53, doubles, nested attributes, enums by number or name."""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from typing import Any

KINDS = ("unspecified", "internal", "server", "client", "producer", "consumer")
STATUSES = ("unset", "ok", "error")
_HEX = re.compile(r"[0-9a-fA-F]+")
_MAX_NS = 2**63 - 1
_REQUEST_ID = re.compile(r"'x-request-id': '([^']{1,200})'")

# Prompts, answers, headers and stack traces: dropped at ingest unless they are asked for.
_CONTENT = re.compile(
    r"gen_ai\.(input|output)\.messages|gen_ai\.(prompt|completion)(\..*)?|gen_ai\.system_instructions|gen_ai\.content\..*"
    r"|gen_ai\.output\.text|gen_ai\.tool\.(call\.arguments|call\.result|definitions)|llm\.(input|output)_messages.*|llm\.prompts.*"
    r"|llm\.completions.*|llm\.(openai|anthropic|[a-z]+)\.(messages|prompt|input).*|input\.value|output\.value|traceloop\.entity\.(input|output)"
    r"|http\.(request|response)\.header\..*|metadata\.requester_(metadata|custom_headers)|exception\.stacktrace|code\.stacktrace"
    r"|messages|prompt|completion|hidden_params"
)


class OddRecordError(ValueError):
    """A record that cannot be a span; the message says why."""


def identifier(value: Any, digits: int) -> str | None:
    """A trace id (32 digits) or span id (16) as lower-case hex; None when missing or all zero."""
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise OddRecordError(f"an id must be text, found {type(value).__name__}")
    if len(value) == digits and _HEX.fullmatch(value):
        text = value.lower()
    elif value.endswith("=") and len(value) == {32: 24, 16: 12}[digits]:
        try:
            raw = base64.b64decode(value, validate=True)
        except (binascii.Error, ValueError) as fault:
            raise OddRecordError(f"{value[:40]!r} is no id") from fault
        text = raw.hex()
    else:
        raise OddRecordError(f"{value[:40]!r} is no id of {digits} hex digits")
    if len(text) != digits:
        raise OddRecordError(f"{value[:40]!r} is no id of {digits} hex digits")
    return None if set(text) == {"0"} else text


def nanoseconds(value: Any) -> int | None:
    """Unix nanoseconds from a number or digits; None when missing or 0."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise OddRecordError(f"a time must be whole nanoseconds, found {value!r:.40}")
    try:
        ns = int(value)
    except ValueError as fault:
        raise OddRecordError(f"a time must be whole nanoseconds, found {value!r:.40}") from fault
    if not 0 <= ns <= _MAX_NS:
        raise OddRecordError(f"time {ns} ns is out of range")
    return ns or None


def enum(value: Any, names: tuple[str, ...], prefix: str) -> str:
    """An enum by number or by name; an unknown one keeps its number as text."""
    if value is None or value == "":
        return names[0]
    if isinstance(value, str) and value.upper().startswith(prefix):
        name = value[len(prefix) :].lower()
        return name if name in names else value
    try:
        number = int(value)
    except (TypeError, ValueError):
        return str(value)
    return names[number] if 0 <= number < len(names) else str(number)


def any_value(value: Any) -> Any:
    """An AnyValue as a JSON value of the same type; NaN and infinities as text, bytes as base64 text."""
    if not isinstance(value, dict) or not value:
        return None
    (kind, raw), *_ = value.items()
    if kind == "intValue":
        try:
            return int(raw)
        except (TypeError, ValueError, OverflowError):
            return str(raw)
    if kind == "doubleValue":
        return _double(raw)
    if kind == "arrayValue":
        return [any_value(item) for item in (raw or {}).get("values", ())]
    if kind == "kvlistValue":
        return pairs((raw or {}).get("values", ()))
    return raw


def _double(raw: Any) -> Any:
    try:
        number = float(raw)
    except (TypeError, ValueError):
        return None
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def pairs(items: Any) -> dict[str, Any]:
    """A list of KeyValues as an object; of a key that stands twice the first counts."""
    found: dict[str, Any] = {}
    for item in items or ():
        if isinstance(item, dict) and isinstance(item.get("key"), str):
            found.setdefault(item["key"], any_value(item.get("value")))
    return found


def without_content(attributes: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Attributes without prompts, answers, headers and stack traces, and how many were dropped.

    The request id that a gateway wrote among the headers is kept, as x_request_id: it joins, and tells nothing.
    """
    kept = {key: value for key, value in attributes.items() if not _CONTENT.fullmatch(key)}
    headers = attributes.get("metadata.requester_metadata")
    if isinstance(headers, str) and (match := _REQUEST_ID.search(headers)):
        kept.setdefault("x_request_id", match.group(1))
    return kept, len(attributes) - len(kept)


def as_json(value: Any) -> str:
    """Compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
