"""Failures as clients on aiohttp keep them: reason phrases, tracebacks, and a tool's own sentences."""

from __future__ import annotations

import pytest

from analyzer.sources.client_failures import failure

FRAMES = 'Traceback (most recent call last):\n  File "/opt/x/client.py", line 7, in post\n    await it\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Too Many Requests", ("rejected", "Too Many Requests", 429)),
        ("Service Unavailable", ("rejected", "Service Unavailable", 503)),
        ("Gateway Timeout", ("timeout", "Gateway Timeout", 504)),
        ("Internal Server Error", ("error", "Internal Server Error", 500)),
        ('Bad Request: {"error": {"message": "the prompt was: secret"}}', ("error", "Bad Request", 400)),
        ("Unprocessable Content", ("error", "Unprocessable Content", 422)),
        ('{"code": 500, "message": "secret"}', ("error", "error frame", None)),
        ("Never received a valid chunk to calculate TTFT.This response", ("error", "no content", None)),
        ("Stream ended without a terminal event.This response", ("truncated", "no terminal event", None)),
        (f"{FRAMES}TimeoutError\n", ("timeout", "TimeoutError", None)),
        (f"{FRAMES}aiohttp.client_exceptions.SocketTimeoutError: late\n", ("timeout", "SocketTimeoutError", None)),
        (f"{FRAMES}aiohttp.client_exceptions.ClientPayloadError: cut\n", ("truncated", "ClientPayloadError", None)),
        (f"{FRAMES}KeyError: 'choices'\n", ("error", "KeyError", None)),
        (f"{FRAMES}something else\n", ("error", "unknown", None)),
        ("cannot say: secret", ("error", "unknown", None)),
    ],
)
def test_a_text_becomes_an_outcome_and_a_short_word(text: str, expected: tuple[str, str, int | None]) -> None:
    assert failure(text, begun=False) == expected


def test_of_chained_exceptions_the_last_is_the_one_that_was_raised() -> None:
    chained = f"{FRAMES}ConnectionResetError: reset\n\nThe above exception was the direct cause:\n\n{FRAMES}x.ClientOSError: y\n"
    assert failure(chained, begun=False) == ("error", "ClientOSError", None)


def test_a_lost_connection_breaks_an_answer_off_only_when_part_of_it_had_come() -> None:
    lost = f"{FRAMES}aiohttp.client_exceptions.ServerDisconnectedError: Server disconnected\n"
    assert failure(lost, begun=False).outcome == "error"
    assert failure(lost, begun=True).outcome == "truncated"
