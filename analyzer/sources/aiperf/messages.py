"""What a message of a stream carries, as SQL: content and its kind, or none, in the forms of OpenAI and Anthropic."""

from __future__ import annotations

import json

from analyzer.sources.quoting import sql_text

_USAGE = {
    "prompt_tokens": "BIGINT", "completion_tokens": "BIGINT", "input_tokens": "BIGINT", "output_tokens": "BIGINT",
    "cache_read_input_tokens": "BIGINT",
    "prompt_tokens_details": {"cached_tokens": "BIGINT"}, "input_tokens_details": {"cached_tokens": "BIGINT"},
    "completion_tokens_details": {"reasoning_tokens": "BIGINT"},
    "output_tokens_details": {"reasoning_tokens": "BIGINT"},
}  # fmt: skip
_CALL = {"name": "VARCHAR", "arguments": "VARCHAR"}
_DELTA = {
    "role": "VARCHAR", "content": "VARCHAR", "reasoning_content": "VARCHAR", "reasoning": "VARCHAR",
    "refusal": "VARCHAR", "tool_calls": [{"function": _CALL}], "function_call": _CALL,
}  # fmt: skip
_MESSAGE = {
    "id": "VARCHAR", "type": "VARCHAR", "delta": "JSON", "error": "JSON", "usage": _USAGE,
    "choices": [{"delta": _DELTA, "text": "VARCHAR", "finish_reason": "VARCHAR"}],
    "response": {"id": "VARCHAR", "usage": _USAGE}, "message": {"id": "VARCHAR", "usage": _USAGE},
}  # fmt: skip

PARSED = f"from_json(valid, {sql_text(json.dumps(_MESSAGE))})"
"""The fields of `valid`, the JSON of a message, that matter here."""


def _some(*paths: str) -> str:
    """Whether one of the texts stands in any choice and is not empty."""
    texts = " OR ".join(f"c.{path} <> ''" for path in paths)
    return f"len(list_filter(m.choices, lambda c: {texts})) > 0"


_TOOL = (
    "len(list_filter(flatten(list_transform(m.choices, lambda c: c.delta.tool_calls)),"
    " lambda t: t.function.name <> '' OR t.function.arguments <> '')) > 0"
)
_TEXT_DELTA = "json_extract_string(m.delta, '$')"


def _anthropic(kind: str, field: str) -> str:
    said = f"json_extract_string(m.delta, '$.{field}')"
    return f"m.type = 'content_block_delta' AND json_extract_string(m.delta, '$.type') = '{kind}' AND {said} <> ''"


KIND = f"""CASE
    WHEN body IS NULL OR body = '' THEN 'empty'
    WHEN trim(body) = '[DONE]' THEN 'done'
    WHEN valid IS NULL OR json_type(valid) <> 'OBJECT' THEN 'unknown'
    WHEN {_some("delta.content", "delta.refusal", "text")} THEN 'text'
    WHEN {_TOOL} OR {_some("delta.function_call.name", "delta.function_call.arguments")} THEN 'tool'
    WHEN {_some("delta.reasoning_content", "delta.reasoning")} THEN 'reasoning'
    WHEN {_some("finish_reason")} THEN 'finish'
    WHEN {_some("delta.role")} THEN 'role'
    WHEN len(m.choices) > 0 THEN 'empty'
    WHEN m.type IN ('response.output_text.delta', 'response.refusal.delta') AND {_TEXT_DELTA} <> '' THEN 'text'
    WHEN m.type IN ('response.reasoning_text.delta', 'response.reasoning_summary_text.delta') AND {_TEXT_DELTA} <> ''
      THEN 'reasoning'
    WHEN m.type = 'response.function_call_arguments.delta' AND {_TEXT_DELTA} <> '' THEN 'tool'
    WHEN m.type IN ('response.completed', 'response.incomplete', 'response.failed') THEN 'finish'
    WHEN m.type = 'response.created' THEN 'role'
    WHEN starts_with(m.type, 'response.') THEN 'empty'
    WHEN {_anthropic("text_delta", "text")} THEN 'text'
    WHEN {_anthropic("thinking_delta", "thinking")} THEN 'reasoning'
    WHEN {_anthropic("input_json_delta", "partial_json")} THEN 'tool'
    WHEN m.type IN ('message_delta', 'message_stop') THEN 'finish'
    WHEN m.type = 'message_start' THEN 'role'
    WHEN m.type IN ('content_block_start', 'content_block_delta', 'content_block_stop', 'ping', 'error') THEN 'empty'
    WHEN m.error IS NOT NULL THEN 'empty'
    WHEN m.usage IS NOT NULL THEN 'usage'
    WHEN m.choices IS NOT NULL THEN 'empty'
    ELSE 'unknown' END"""
"""What a message is, from `body`, `valid` and its fields `m`: unknown where it has no form that is known here."""

RESPONSE_ID = "coalesce(m.id, m.response.id, m.message.id)"


def _usage(*paths: str) -> str:
    return (
        "coalesce(" + ", ".join(f"m.{place}usage.{p}" for place in ("", "response.", "message.") for p in paths) + ")"
    )


COUNTS = {
    "input_tokens": _usage("prompt_tokens", "input_tokens"),
    "output_tokens": _usage("completion_tokens", "output_tokens"),
    "reasoning_tokens": _usage("completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens"),
    "cached_tokens": _usage(
        "prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens"
    ),
}
"""The server's counts in a message, NULL where it has none."""
