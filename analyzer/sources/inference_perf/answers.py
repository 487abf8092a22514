"""When an answer's messages came, and what they carried, from what inference-perf keeps of a stream."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from analyzer.sources.exact import a_list, an_object, count, measured
from analyzer.sources.message_kinds import kind_of
from analyzer.sources.request_rows import EMPTY_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analyzer.sources.request_rows import Chunk

_END = "[DONE]"
_BEGIN = 2000
# Not matched inside of generated text, in which quotes are escaped.
_REASONED = re.compile(r'"reasoning(?:_content)?"\s*:\s*"[^"]')
_FINISHED = re.compile(r'"finish_reason"\s*:\s*"([^"]{1,40})"')
_ID = re.compile(r'"id"\s*:\s*"([^"\\]{1,200})"')
_Stamped = list[tuple[int, str | None]]


@dataclass(slots=True)
class Heard:
    """The boundaries of an answer in ns and its messages; `fault` says why some are missing.

    `stream`: its messages, or that there were none with content, were observed.
    """

    times: dict[str, int] = field(default_factory=dict)
    chunks: list[Chunk] = field(default_factory=list)
    fault: str | None = None
    stream: bool = False


def usage_of(told: dict[str, Any]) -> dict[str, Any]:
    """The server's counts of tokens under OpenAI's names, whichever of the two spellings it has."""
    usage = an_object(told.get("server_usage"))
    return {
        "input_tokens": count(usage.get("prompt_tokens", usage.get("input_tokens"))),
        "output_tokens": count(usage.get("completion_tokens", usage.get("output_tokens"))),
        "cached_tokens": count(an_object(usage.get("prompt_tokens_details")).get("cached_tokens")),
        "reasoning_tokens": count(an_object(usage.get("completion_tokens_details")).get("reasoning_tokens")),
    }


def messages(text: str) -> Iterator[dict[str, Any]]:
    """The messages of a stream's raw text that are objects."""
    for line in text.splitlines():
        if line.startswith("data:"):
            found = _loaded(line.removeprefix("data:"))
            if isinstance(found, dict):
                yield found


def response_id(told: dict[str, Any], text: str) -> str | None:
    """The id that the server gave to its answer."""
    bodies = a_list(told.get("response_chunks"))
    begin = str(bodies[0]) if bodies else text[:_BEGIN]
    found = _ID.search(begin) if bodies or begin.startswith("data:") or '"choices"' in begin else None
    return found[1] if found else None


def stop_reason(text: str) -> str | None:
    """Why the answer ended, as its last message that says so has it."""
    reasons = _FINISHED.findall(text)
    return reasons[-1] if reasons else None


def stream_fault(text: str) -> str | None:
    """What is wrong with a stream that the tool took for a whole one: error, truncated; None for nothing."""
    if '"error"' in text and any(message.get("error") for message in messages(text)):
        return "error"
    if text.startswith("data:") and '"choices"' in text and _END not in text and not _FINISHED.search(text):
        return "truncated"
    return None


def has_content(text: str) -> bool:
    """Whether a stream's raw text had come to content."""
    return any(kind_of(message) in ("text", "reasoning", "tool") for message in messages(text))


def heard(told: dict[str, Any], text: str) -> Heard:
    """What the client saw of an answer; `told` is what the tool keeps of it, `text` the stream as it came, if kept."""
    stamped = _stamped(told, text)
    if stamped is None:
        return Heard(fault="untold")
    content = [(ns, kind) for ns, kind in stamped if kind not in EMPTY_KINDS]
    streamed = "chunk_times" in told or bool(stamped)
    if not content:
        came = streamed and (has_content(text) or usage_of(told)["output_tokens"])
        chunks: list[Chunk] = [(ns, kind, None) for ns, kind in stamped]
        return Heard(chunks=chunks, fault="unstamped") if came else Heard(chunks=chunks, stream=streamed)
    times = {"first_content": content[0][0], "last_content": content[-1][0]}
    if answer := [ns for ns, kind in content if kind == "text"]:
        times["first_answer"] = answer[0]
    if _reasoning_has_no_times(told, text, stamped):
        del times["first_content"]
        return Heard(times, fault="reasoning")
    tokens = _tokens(told)
    return Heard(times, [(ns, kind, tokens.get(ns)) for ns, kind in stamped], stream=True)


def _loaded(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def _times(found: Any) -> list[int]:
    return [ns for seconds in a_list(found) if (ns := measured(seconds)) is not None]


def _stamped(told: dict[str, Any], text: str) -> _Stamped | None:
    """Messages in the order of their times; None where times are told and not what they are times of."""
    chunks, tokens = _times(told.get("chunk_times")), _times(told.get("output_token_times"))
    reasoning: _Stamped = [(ns, "reasoning") for ns in _times(told.get("reasoning_chunk_times"))]
    if chunks or reasoning:
        found = [*reasoning, *zip(chunks, _kinds(told, chunks, tokens), strict=True)]
        return sorted(found, key=lambda stamped: stamped[0])
    if not tokens:
        return []
    if (kinds := _aligned(text, len(tokens))) is not None:
        return [(ns, kind) for ns, kind in zip(tokens, kinds, strict=True) if kind != _END]
    # As many times as tokens are times of tokens. The oldest versions stamp every line of the stream instead.
    return [(ns, None) for ns in sorted(set(tokens))] if len(tokens) == count(told.get("output_tokens")) else None


def _kinds(told: dict[str, Any], chunks: list[int], tokens: list[int]) -> list[str | None]:
    bodies = a_list(told.get("response_chunks"))
    if len(bodies) == len(chunks):
        return [kind_of(_loaded(body)) for body in bodies]
    # Without their bodies: those in which the tool found tokens; they are answer where reasoning has times of its own.
    kind, of_tokens = ("text" if "reasoning_chunk_times" in told else None), set(tokens)
    return [kind if not of_tokens or ns in of_tokens else "empty" for ns in chunks]


def _aligned(text: str, stamps: int) -> list[str | None] | None:
    """What each stamp is of, where the raw text has as many messages, or lines, as there are stamps."""
    by_message = text.split("\n\n")[: text.count("\n\n")]
    end = next((place for place, message in enumerate(by_message, 1) if _END in message), len(by_message))
    for parts in (by_message[:end], text.splitlines()):
        if len(parts) == stamps:
            return [_END if _END in part else _part_kind(part) for part in parts]
    return None


def _part_kind(part: str) -> str | None:
    for message in messages(part):
        return kind_of(message)
    return "empty"


def _reasoning_has_no_times(told: dict[str, Any], text: str, stamped: _Stamped) -> bool:
    """Whether the client saw reasoning before the answer of which the tool kept no times."""
    if any(kind == "reasoning" for _, kind in stamped) or "reasoning_chunk_times" in told:
        return False
    return bool(_REASONED.search(text) if text else usage_of(told)["reasoning_tokens"])


def _tokens(told: dict[str, Any]) -> dict[int, int]:
    """Tokens by time, as the tool counted them: only where no count of the server's stands beside and they add up."""
    tokens = _times(told.get("output_token_times"))
    if usage_of(told)["output_tokens"] is not None or len(tokens) != count(told.get("output_tokens")):
        return {}
    return dict(Counter(tokens))
