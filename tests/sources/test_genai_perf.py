"""GenAI-Perf's export: its own example, splintered and doubled events, and the forms of Triton."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from aiperf_files import START, read
from building import rows

from analyzer.errors import SourceError
from analyzer.sources import explain, recognise

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store


def event(finish: str | None = None, **delta: Any) -> str:
    body = {
        "id": "abc",
        "object": "chat.completion.chunk",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return f"data: {json.dumps(body)}\n\n"


DONE = "data: [DONE]\n\n"
PAYLOAD = json.dumps({"messages": [{"role": "user", "content": "SECRETPROMPT"}], "model": "llama-2-7b", "stream": True})


def request(*answers: tuple[int, Any], at: int = START, payload: str = PAYLOAD, **inputs: Any) -> dict[str, Any]:
    """A request at a time; answers are (ms after it, the response's text or outputs)."""
    outputs = [{"response": answer} if isinstance(answer, str) else answer for _, answer in answers]
    return {
        "timestamp": at, "request_inputs": inputs or {"payload": payload},
        "response_timestamps": [at + ms * 1_000_000 for ms, _ in answers], "response_outputs": outputs,
    }  # fmt: skip


def export(*requests: Any, mode: str = "concurrency", value: Any = 10) -> dict[str, Any]:
    experiment = {"experiment": {"mode": mode, "value": value}, "requests": list(requests), "window_boundaries": [1, 2]}
    return {"experiments": [experiment], "version": "1.2", "service_kind": "openai", "endpoint": "v1/chat/completions"}


def given(folder: Path, *requests: Any, **how: Any) -> Store:
    path = folder / "profile_export.json"
    path.write_text(json.dumps(export(*requests, **how)), encoding="utf-8")
    return read(path, folder=folder)


def heard(store: Store) -> list[tuple[Any, ...]]:
    return rows(
        store, f"SELECT (time_ns - {START}) // 1000000, carries, kind, tokens FROM message ORDER BY time_ns, position"
    )


TIMES = f"SELECT {', '.join(f'(client_{name}_ns - {START}) // 1000000' for name in ('sent', 'first_content', 'last_content', 'done'))}, outcome FROM attempt"


def test_its_own_example_gives_its_own_times(tmp_path: Path) -> None:
    # The tool's parser is tested with these two: first tokens after 4 and 5, latencies of 11 and 13.
    said = (event(role="assistant"), event(content="I"), event(content=" like"), event(content=" dogs"), event(), DONE)
    store = given(
        tmp_path,
        request(*zip((2, 4, 7, 11, 12, 13), said, strict=True)),
        request(*zip((2, 5, 9, 13, 16, 17), said, strict=True), at=START + 1_000_000),
    )
    found = rows(store, "SELECT ttft_ms, request_id, ntpot_why FROM request_metric ORDER BY 1")
    assert [ttft for ttft, *_ in found] == [4.0, 5.0]
    assert sorted(
        rows(
            store,
            "SELECT (client_last_content_ns - client_sent_ns) / 1e6, (client_done_ns - client_sent_ns) / 1e6 FROM attempt",
        )
    ) == [(11.0, 13.0), (13.0, 17.0)]
    assert rows(store, "SELECT DISTINCT load_point, model, streamed, outcome FROM attempt") == [
        ("concurrency 10", "llama-2-7b", True, "ok")
    ]
    assert rows(store, "SELECT source, tool, records, kept, refused FROM source_file") == [
        ("genai_perf", "perf_analyzer 1.2", 2, 2, 0)
    ]


def test_a_splintered_event_is_one_and_has_the_time_where_it_began(tmp_path: Path) -> None:
    whole = event(content="hello")
    store = given(
        tmp_path,
        request(
            (1, event(role="assistant")),
            (5, whole[:40]),
            (6, whole[40:70]),
            (8, whole[70:] + event(content="!")),
            (9, DONE),
        ),
    )
    assert heard(store) == [(1, "chunk", "role", None), (5, "content", "text", None), (8, "content", "text", None)]
    assert rows(store, TIMES) == [(0, 5, 8, 9, "ok")]


def test_events_that_came_together_are_several(tmp_path: Path) -> None:
    store = given(
        tmp_path,
        request((3, event(role="assistant") + event(content="a") + event(content="b")), (7, event("stop") + DONE)),
    )
    assert heard(store) == [
        (3, "chunk", "role", None),
        (3, "content", "text", None),
        (3, "content", "text", None),
        (7, "chunk", "finish", None),
    ]


def test_empty_chunks_and_comments_are_no_content(tmp_path: Path) -> None:
    store = given(
        tmp_path, request((1, ": ping\n\n"), (2, event(content="")), (4, event(content="a")), (5, event()), (6, DONE))
    )
    assert heard(store) == [
        (1, "chunk", "empty", None),
        (2, "chunk", "empty", None),
        (4, "content", "text", None),
        (5, "chunk", "empty", None),
    ]
    assert rows(store, TIMES) == [(0, 4, 4, 6, "ok")]


def test_the_servers_counts_are_taken_from_the_last_usage(tmp_path: Path) -> None:
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2, "completion_tokens_details": {"reasoning_tokens": 1}}}\n\n'
    store = given(
        tmp_path, request((1, event(reasoning_content="h")), (2, event("stop", content="a")), (3, usage), (4, DONE))
    )
    assert [kind for _, _, kind, _ in heard(store)] == ["reasoning", "text", "usage"]
    assert rows(store, "SELECT client_input_tokens, client_output_tokens, reasoning_tokens FROM attempt") == [(5, 2, 1)]


def test_a_stream_without_its_terminal_event_broke_off(tmp_path: Path) -> None:
    assert rows(given(tmp_path, request((1, event(content="a")))), TIMES) == [(0, 1, 1, None, "truncated")]


def test_an_error_in_the_stream_is_an_error(tmp_path: Path) -> None:
    store = given(tmp_path, request((1, event(content="a")), (2, 'data: {"error": {"message": "SECRET"}}\n\n')))
    assert rows(store, "SELECT outcome, error_type, client_done_ns FROM attempt") == [
        ("error", "error in the stream", None)
    ]


def test_a_request_without_any_answer_is_unresolved(tmp_path: Path) -> None:
    assert rows(given(tmp_path, request()), TIMES) == [(0, None, None, None, "unresolved")]


def test_an_answer_in_one_piece_was_not_streamed(tmp_path: Path) -> None:
    answer = json.dumps(
        {
            "object": "chat.completion",
            "choices": [{"message": {"content": "a"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": 1},
        }
    )
    store = given(tmp_path, request((9, answer)))
    assert rows(store, TIMES) == [(0, None, None, 9, "ok")]
    assert rows(store, "SELECT streamed, client_output_tokens FROM attempt") == [(False, 1)]


def test_an_embedding_is_an_answer_in_one_piece(tmp_path: Path) -> None:
    store = given(tmp_path, request((9, '{"object": "list", "data": [], "usage": {"prompt_tokens": 3}}')))
    assert rows(store, TIMES) == [(0, None, None, 9, "ok")]


def test_tritons_texts_and_token_ids(tmp_path: Path) -> None:
    texts = request(
        (1, {"text_output": "a"}), (2, {"text_output": "b"}), (3, {"text_output": ""}), text_input="SECRETPROMPT"
    )
    ids = request(
        (5, {"output_ids": 7}), (6, {"output_ids": [8, 9]}), (7, {"output_ids": ""}), input_ids=[1, 2, 3, 4], at=START
    )
    store = given(tmp_path, texts, ids, mode="request_rate", value=2.5)
    assert heard(store) == [
        (1, "content", "text", None), (2, "content", "text", None), (3, "chunk", "empty", None),
        (5, "content", "text", 1), (6, "content", "text", 2), (7, "chunk", "empty", None),
    ]  # fmt: skip
    assert rows(store, "SELECT client_input_tokens, client_output_tokens, first_chunk_tokens, load_point FROM attempt ORDER BY client_first_content_ns") == [
        (None, None, None, "2.5/s"), (4, 3, 1, "2.5/s"),
    ]  # fmt: skip


def test_tritons_generate_endpoint_ends_without_a_terminal_event(tmp_path: Path) -> None:
    store = given(tmp_path, request((1, 'data: {"text_output": "a"}\n\n'), (2, 'data: {"text_output": "b"}\n\n')))
    assert rows(store, TIMES) == [(0, 1, 2, 2, "ok")]


def test_a_request_that_cannot_be_taken_is_refused_with_its_reason(tmp_path: Path) -> None:
    good = request((1, event(content="a")), (2, DONE))
    bad = [
        5, [], good | {"timestamp": None}, good | {"timestamp": 10**25}, good | {"response_timestamps": [1]},
        good | {"response_timestamps": [START, "soon"]}, request((1, "data: {SECRETANSWER")), request((1, 'data: {"novel": 1}\n\n')),
        request((1, {"novel_output": 1})), request((1, {"response": 5})),
    ]  # fmt: skip
    store = given(tmp_path, good, *bad)
    told = "no time at which the request was sent"
    unequal, form = "not as many times as responses", "a response has no form that is known here"
    assert [reason for (reason,) in rows(store, "SELECT reason FROM refused ORDER BY CAST(split_part(position, ' ', 2) AS INTEGER)")] == [
        told, told, told, told, unequal, unequal, form, form, form, form,
    ]  # fmt: skip
    assert rows(store, "SELECT records, kept, refused FROM source_file") == [(11, 1, 10)]
    store.close()
    assert b"SECRET" not in (tmp_path / "s.duckdb").read_bytes()


def test_a_torn_export_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "profile_export.json"
    text = json.dumps(export(request((1, event(content="a")), (2, DONE))))
    path.write_text(text[: len(text) - 80], encoding="utf-8")
    with pytest.raises(SourceError, match="is not whole JSON"):
        read(path, folder=tmp_path)


def test_a_summary_is_none_of_requests(tmp_path: Path) -> None:
    path = tmp_path / "profile_export_genai_perf.json"
    path.write_text(
        json.dumps({"request_throughput": {"unit": "requests/sec", "avg": 1}, "input_config": {"perf_analyzer": {}}})
    )
    assert recognise(path) is None
    assert "profile_export.json" in str(explain(path))
