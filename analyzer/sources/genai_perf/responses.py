"""Responses as Perf Analyzer exports them: server-sent events as text, or Triton's outputs by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = ("data:", "event:", "id:", "retry:", ":")
_LISTS = {"data", "rankings"}  # answers of embedding and ranking endpoints


class Message(NamedTuple):
    """What one response carries: kind as in a chunk, `whole` for an answer in one piece, `done` for [DONE]."""

    kind: str | None
    tokens: int | None = None
    usage: dict[str, Any] | None = None
    finished: bool = False


class UnknownFormError(ValueError):
    """A response that has no form that is known here."""


def events(outputs: list[str], times: list[int]) -> Iterator[tuple[int, str]]:
    """Server-sent events with their times, from responses in the order in which they came.

    A response may hold several events. What does not begin as an event is the rest of the one before, and an event has
    the time of the response in which it begins, as GenAI-Perf has it.
    """
    whole: list[tuple[int, str]] = []
    for time_ns, text in zip(times, outputs, strict=True):
        rest = text
        if whole and not text.startswith(_FIELDS) and not _is_json(text):
            at = text.find("data: ")
            before, rest = (text, "") if at < 0 else (text[:at], text[at:])
            whole[-1] = (whole[-1][0], whole[-1][1] + before)
        if rest:
            whole.append((time_ns, rest))
    for time_ns, text in whole:
        for event in text.replace("\r\n", "\n").strip().split("\n\n"):
            yield time_ns, event


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _event(text: str) -> Message:
    """What one event says. UnknownFormError when it is no form that is known."""
    fields = text.split("\n")
    data = "\n".join(field[len("data:") :].strip() for field in fields if field.startswith("data:"))
    if not data:
        if text and not text.startswith(_FIELDS):
            data = text
        else:
            return Message("error" if any(field.startswith("event: error") for field in fields) else "empty")
    if data.strip() == "[DONE]":
        return Message("done", finished=True)
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as fault:
        raise UnknownFormError from fault
    if not isinstance(message, dict):
        raise UnknownFormError
    return _of_json(message)


def _of_json(message: dict[str, Any]) -> Message:
    usage = message.get("usage") if isinstance(message.get("usage"), dict) else None
    if message.get("error"):
        return Message("error")
    if isinstance(text := message.get("text_output"), str):
        # Triton's generate endpoint has no terminal event.
        return Message("text" if text else "empty", finished=True)
    choices = [choice for choice in message.get("choices") or () if isinstance(choice, dict)]
    if any(isinstance(choice.get("message"), dict) for choice in choices) or _LISTS & message.keys():
        return Message("whole", usage=usage, finished=True)
    if "choices" not in message and usage is None:
        raise UnknownFormError
    finished = any(choice.get("finish_reason") for choice in choices)
    return Message(_kind(choices, finished, usage), usage=usage, finished=finished)


def _kind(choices: list[dict[str, Any]], finished: bool, usage: dict[str, Any] | None) -> str:
    """What the choices of one message of a stream carry."""
    deltas = [choice["delta"] for choice in choices if isinstance(choice.get("delta"), dict)]
    if any(choice.get("text") for choice in choices) or any(delta.get("content") for delta in deltas):
        return "text"
    if any(delta.get("tool_calls") for delta in deltas):
        return "tool"
    if any(delta.get("reasoning_content") or delta.get("reasoning") for delta in deltas):
        return "reasoning"
    if finished:
        return "finish"
    if any(delta.get("role") for delta in deltas):
        return "role"
    return "usage" if usage and not choices else "empty"


def messages(request: dict[str, Any], times: list[int]) -> Iterator[tuple[int, Message]]:
    """The messages of a request's responses. UnknownFormError when one has no form that is known."""
    outputs = request["response_outputs"]
    if any("response" in output for output in outputs):
        texts = [output.get("response") or "" for output in outputs]
        if not all(isinstance(text, str) for text in texts):
            raise UnknownFormError
        for time_ns, text in events(texts, times):
            yield time_ns, _event(text)
        return
    for time_ns, output in zip(times, outputs, strict=True):
        if "output_ids" in output:
            ids = output["output_ids"]
            count = len(ids) if isinstance(ids, list) else int(isinstance(ids, int))
            yield time_ns, Message("text" if count else "empty", count or None)
        elif isinstance(output.get("text_output"), str):
            yield time_ns, Message("text" if output["text_output"] else "empty")
        elif output:
            raise UnknownFormError
        else:
            yield time_ns, Message("empty")
