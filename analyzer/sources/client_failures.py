"""How a request failed, from the text that a load generator on aiohttp keeps of it: a reason phrase, or a traceback."""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import NamedTuple

from analyzer.sources.endings import by_status
from analyzer.vocabulary import Outcome

# Phrases that Python's own table has under other words, or had before.
_OTHER_WORDS = {
    "payload too large": 413,
    "content too large": 413,
    "uri too long": 414,
    "unprocessable content": 422,
    "client closed request": 499,
}
_STATUS = {status.phrase.lower(): status.value for status in HTTPStatus} | _OTHER_WORDS
_TRACEBACK = "Traceback (most recent call last):"
_RAISED = re.compile(r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*)(?::|\s*$)", re.MULTILINE)
_BROKE_OFF = {"ClientPayloadError", "TransferEncodingError", "ContentLengthError", "IncompleteReadError"}
_CONNECTION_LOST = {
    "ServerDisconnectedError",
    "ClientOSError",
    "ClientConnectionError",
    "ClientConnectionResetError",
    "ConnectionResetError",
    "BrokenPipeError",
}


class Failure(NamedTuple):
    """How a request ended: outcome, kind of error in a word or two, HTTP status where the text says it."""

    outcome: str
    error_type: str
    status_code: int | None = None


NO_CONTENT = Failure(Outcome.ERROR, "no content")


def failure(text: str, *, begun: bool) -> Failure:
    """What a text that is not empty says of a request; `begun`: part of the answer had come."""
    if _TRACEBACK in text:
        return _raised(text.rsplit(_TRACEBACK, 1)[1], begun)
    phrase = text.split(":", 1)[0].strip()
    if (status := _STATUS.get(phrase.lower())) is not None:
        return Failure(by_status(status), phrase, status)
    if text.lstrip().startswith("{"):
        return Failure(Outcome.ERROR, "error frame")
    if text.startswith("Never received a"):
        return NO_CONTENT
    if text.startswith("Stream ended without a terminal event"):
        return Failure(Outcome.TRUNCATED, "no terminal event")
    return Failure(Outcome.ERROR, "unknown")


def _raised(frames: str, begun: bool) -> Failure:
    """By the exception's class: its message may quote the request, and is left."""
    found = _RAISED.search(frames)
    name = found.group(1).rsplit(".", 1)[-1] if found else "unknown"
    if name in _BROKE_OFF or (begun and name in _CONNECTION_LOST):
        return Failure(Outcome.TRUNCATED, name)
    if "Timeout" in name:
        return Failure(Outcome.TIMEOUT, name)
    return Failure(Outcome.CANCELLED if name == "CancelledError" else Outcome.ERROR, name)
