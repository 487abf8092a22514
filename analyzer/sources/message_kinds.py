"""What a message of an answer's stream carries: content, or its role, end or usage."""

from __future__ import annotations

from typing import Any

from analyzer.sources.exact import a_list, an_object

_ANTHROPIC = {
    "message_start": "role", "message_delta": "finish", "message_stop": "finish",
    "text_delta": "text", "thinking_delta": "reasoning", "input_json_delta": "tool",
}  # fmt: skip
_ANTHROPIC_TEXT = {"text_delta": "text", "thinking_delta": "thinking", "input_json_delta": "partial_json"}
CONTENT = ("text", "reasoning", "tool")


def kind_of(message: Any) -> str | None:
    """text, reasoning or tool where a message carries such; role, finish, usage or empty where it carries none.

    The forms of OpenAI's chat and completions and of Anthropic's messages are known; of any other nothing is.
    """
    message = an_object(message)
    if choices := a_list(message.get("choices")):
        return _of_choice(an_object(choices[0]))
    if isinstance(message.get("type"), str):
        return _of_event(message)
    if message.get("usage"):
        return "usage"
    return "empty" if "choices" in message else None


def _of_choice(choice: dict[str, Any]) -> str:
    delta = an_object(choice.get("delta"))
    if choice.get("text") or delta.get("content") or delta.get("refusal"):
        return "text"
    if delta.get("reasoning_content") or delta.get("reasoning"):
        return "reasoning"
    if delta.get("tool_calls") or delta.get("function_call"):
        return "tool"
    if choice.get("finish_reason"):
        return "finish"
    return "role" if delta.get("role") else "empty"


def _of_event(message: dict[str, Any]) -> str:
    delta = an_object(message.get("delta"))
    what = str(delta.get("type") if message["type"] == "content_block_delta" else message["type"])
    kind = _ANTHROPIC.get(what, "empty")
    return kind if kind not in CONTENT or delta.get(_ANTHROPIC_TEXT[what]) else "empty"
