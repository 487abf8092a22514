"""What a message of a stream carries is one rule, told in SQL for lines and in Python for documents."""

from __future__ import annotations

import json
from typing import Any

import duckdb
import pytest

from analyzer.sources.aiperf.messages import KIND, PARSED
from analyzer.sources.message_kinds import kind_of

CHAT: list[tuple[dict[str, Any], str]] = [
    ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, "role"),
    ({"choices": [{"delta": {"role": "assistant", "content": "Hi"}}]}, "text"),
    ({"choices": [{"delta": {"content": "Hi"}, "finish_reason": "stop"}]}, "text"),
    ({"choices": [{"delta": {"reasoning_content": "hm"}}]}, "reasoning"),
    ({"choices": [{"delta": {"reasoning": "hm"}}]}, "reasoning"),
    ({"choices": [{"delta": {"refusal": "no"}}]}, "text"),
    ({"choices": [{"delta": {"tool_calls": [{"function": {"name": "f", "arguments": ""}}]}}]}, "tool"),
    ({"choices": [{"delta": {"function_call": {"name": "f"}}}]}, "tool"),
    ({"choices": [{"delta": {}, "finish_reason": "length"}]}, "finish"),
    ({"choices": [{"delta": {"content": ""}}]}, "empty"),
    ({"choices": [{"text": "Hi", "finish_reason": None}]}, "text"),
    ({"choices": [{"text": "", "finish_reason": "stop"}]}, "finish"),
    ({"choices": [], "usage": {"completion_tokens": 3}}, "usage"),
    ({"choices": []}, "empty"),
    ({"type": "message_start", "message": {"id": "m"}}, "role"),
    ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "Hi"}}, "text"),
    ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": ""}}, "empty"),
    ({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}, "reasoning"),
    ({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{"}}, "tool"),
    ({"type": "ping"}, "empty"),
    ({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}, "finish"),
]


@pytest.mark.parametrize(("message", "kind"), CHAT, ids=[json.dumps(message)[:60] for message, _ in CHAT])
def test_both_tell_the_same_kind(message: dict[str, Any], kind: str) -> None:
    with duckdb.connect() as con:
        (found,) = con.execute(
            f"SELECT {KIND} FROM (SELECT body, valid, {PARSED} AS m FROM (SELECT $body AS body, $body AS valid))",
            {"body": json.dumps(message)},
        ).fetchall()
    assert (found[0], kind_of(message)) == (kind, kind)
