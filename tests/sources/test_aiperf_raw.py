"""AIPerf's export of every message, alone and beside the export of requests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from aiperf_files import START, read, told
from building import rows

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

PERF = 5_000_000_000


@pytest.fixture(scope="module")
def conc16(shared_data: Path) -> Path:
    return shared_data / "made" / "aiperf" / "conc16"


@pytest.fixture(scope="module")
def both(conc16: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(
        conc16 / "profile_export.jsonl", conc16 / "profile_export_raw.jsonl", folder=tmp_path_factory.mktemp("both")
    )


def chat(**delta: Any) -> str:
    finish = delta.pop("finish_reason", None)
    return json.dumps({"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})


def message(at_ms: float, *values: str, name: str = "data") -> dict[str, Any]:
    return {"perf_ns": PERF + round(at_ms * 1e6), "packets": [{"name": name, "value": value} for value in values]}


def a_row(*responses: Any, **parts: Any) -> dict[str, Any]:
    metadata = {
        "x_request_id": "r1", "credit_issued_ns": START - 1_000_000, "request_start_ns": START, "turn_index": 0,
        "request_end_ns": START + 50_000_000, "worker_id": "w", "record_processor_id": "p", "was_cancelled": False,
        "benchmark_phase": "profiling", "phase_name": "profiling", "phase_kind": "profiling", **parts.pop("metadata", {}),
    }  # fmt: skip
    return {
        "metadata": metadata,
        "start_perf_ns": PERF,
        "status": 200,
        "responses": list(responses),
        "payload": {"model": "m"},
        **parts,
    }


def given(folder: Path, *lines: Any) -> Store:
    path = folder / "profile_export_raw.jsonl"
    path.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")
    return read(path, folder=folder)


def heard(store: Store) -> list[tuple[Any, ...]]:
    return rows(store, f"SELECT (time_ns - {START}) / 1e6, carries, kind FROM message ORDER BY time_ns, position")


def kinds(folder: Path, *values: str) -> list[str]:
    store = given(folder, a_row(*(message(1 + place, value) for place, value in enumerate(values))))
    return [kind for _, _, kind in heard(store)]


@pytest.mark.shared
def test_alone_it_tells_the_same_outcomes(conc16: Path, tmp_path: Path) -> None:
    store = read(conc16 / "profile_export_raw.jsonl", folder=tmp_path)
    found = rows(store, "SELECT phase, outcome, count(*) FROM request GROUP BY ALL ORDER BY ALL")
    assert found == [
        ("measured", "cancelled", 17), ("measured", "error", 1), ("measured", "ok", 209), ("measured", "rejected", 3),
        ("measured", "timeout", 2), ("measured", "truncated", 8), ("warmup", "ok", 5),
    ]  # fmt: skip
    assert rows(store, "SELECT source, tool, records, kept, refused FROM source_file") == [
        ("aiperf_raw", "aiperf 0.13.0", 245, 245, 0)
    ]


@pytest.mark.shared
def test_messages_without_content_are_told_apart(both: Store, conc16: Path) -> None:
    expected = {"text": 0, "role": 0, "finish": 0, "usage": 0}
    for row in told(conc16 / "profile_export_raw.jsonl"):
        for response in row["responses"]:
            value = response["packets"][0]["value"]
            if value == "[DONE]":
                continue
            choices = json.loads(value)["choices"]
            delta = choices[0]["delta"] if choices else {}
            expected[
                "usage" if not choices else "text" if delta.get("content") else "role" if "role" in delta else "finish"
            ] += 1
    assert expected == {"text": 6727, "role": 218, "finish": 214, "usage": 214}
    assert dict(rows(both, "SELECT kind, count(*) FROM message GROUP BY 1")) == expected


@pytest.mark.shared
def test_both_files_tell_of_the_same_requests_and_agree(both: Store) -> None:
    assert rows(both, "SELECT source, records, kept FROM source_file ORDER BY 1") == [
        ("aiperf", 245, 245),
        ("aiperf_raw", 245, 245),
    ]
    assert rows(both, "SELECT count(*), sum(attempts) FROM request") == [(245, 245)]
    assert rows(both, "SELECT count(*) FROM attempt WHERE fact_conflicts > 0 OR views > 1") == [(0,)]
    assert (
        rows(
            both,
            "SELECT audit, subject FROM audit WHERE audit IN ('repeated boundary', 'fact conflict', 'out of order')",
        )
        == []
    )
    assert rows(both, "SELECT DISTINCT source_file LIKE '%raw.jsonl' FROM message") == [(True,)]


@pytest.mark.shared
def test_ends_that_only_the_http_trace_tells_are_taken_from_beside(conc16: Path, tmp_path: Path) -> None:
    store = read(conc16 / "profile_export_raw.jsonl", folder=tmp_path)
    trace = {r["metadata"]["x_request_id"]: r["trace_data"] for r in told(conc16 / "profile_export.jsonl")}
    found = rows(store, "SELECT request_id, client_sent_ns, client_done_ns FROM attempt WHERE outcome = 'cancelled'")
    assert len(found) == 17
    assert all(
        (sent, done) == (trace[r]["request_send_start_ns"], trace[r]["error_timestamp_ns"]) for r, sent, done in found
    )
    found = rows(store, "SELECT request_id, client_done_ns FROM attempt WHERE status_code IN (429, 500)")
    assert len(found) == 4
    assert all(done == trace[r]["response_receive_end_ns"] for r, done in found)


@pytest.mark.shared
def test_without_the_other_file_the_send_of_a_cancelled_request_is_reckoned(conc16: Path, tmp_path: Path) -> None:
    alone = tmp_path / "profile_export_raw.jsonl"
    alone.write_bytes((conc16 / "profile_export_raw.jsonl").read_bytes())
    store = read(alone, folder=tmp_path)
    trace = {r["metadata"]["x_request_id"]: r["trace_data"] for r in told(conc16 / "profile_export.jsonl")}
    found = rows(store, "SELECT request_id, client_sent_ns, client_done_ns FROM attempt WHERE outcome = 'cancelled'")
    assert len(found) == 17
    # Within 6 ms of what the trace says, where the stamp was 150 ms off.
    assert all(abs(sent - trace[r]["request_send_start_ns"]) < 6_000_000 for r, sent, _ in found)
    assert rows(store, "SELECT count(*) FROM attempt WHERE status_code IN (429, 500) AND client_done_ns IS NULL") == [
        (4,)
    ]
    (note,) = rows(store, "SELECT detail FROM audit WHERE audit = 'source note'")
    assert "17 requests were stamped" in note[0]
    assert "4 failed requests have no end" in note[0]


def test_a_message_lies_where_the_counter_puts_it(tmp_path: Path) -> None:
    usage = json.dumps(
        {
            "choices": [],
            "usage": {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
        }
    )
    store = given(
        tmp_path,
        a_row(
            message(5, chat(role="assistant", content="")), message(20.5, chat(content="a")), message(30, chat(content="b")),
            message(30, chat(finish_reason="stop")), message(31, usage), message(50, "[DONE]"),
        ),
    )  # fmt: skip
    assert heard(store) == [
        (5.0, "chunk", "role"), (20.5, "content", "text"), (30.0, "content", "text"), (30.0, "chunk", "finish"), (31.0, "chunk", "usage"),
    ]  # fmt: skip
    found = rows(
        store,
        "SELECT client_first_content_ns, client_last_content_ns, client_done_ns, client_input_tokens, client_output_tokens, cached_tokens, model FROM attempt",
    )
    assert found == [(START + 20_500_000, START + 30_000_000, START + 50_000_000, 9, 2, 4, "m")]


def test_reasoning_comes_before_the_answer(tmp_path: Path) -> None:
    store = given(
        tmp_path,
        a_row(
            message(1, chat(reasoning_content="h")),
            message(2, chat(reasoning="m")),
            message(3, chat(content="so")),
            message(4, "[DONE]"),
        ),
    )
    assert [kind for _, _, kind in heard(store)] == ["reasoning", "reasoning", "text"]
    assert rows(store, "SELECT client_first_content_ns, client_first_answer_ns FROM attempt") == [
        (START + 1_000_000, START + 3_000_000)
    ]


def test_a_call_of_a_tool_is_content(tmp_path: Path) -> None:
    call = {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": ""}}]}
    assert kinds(tmp_path, chat(**call), chat(tool_calls=[{"index": 0, "function": {"arguments": ""}}])) == [
        "tool",
        "empty",
    ]


def test_a_text_completion_is_content(tmp_path: Path) -> None:
    assert kinds(tmp_path, '{"choices":[{"text":"a"}]}', '{"choices":[{"text":"","finish_reason":"length"}]}') == [
        "text",
        "finish",
    ]


def test_messages_of_the_responses_api(tmp_path: Path) -> None:
    values = [
        '{"type":"response.created","response":{"id":"resp_1"}}', '{"type":"response.reasoning_text.delta","delta":"h"}',
        '{"type":"response.output_text.delta","delta":"a"}', '{"type":"response.output_text.done","text":"a"}',
        '{"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":5,"output_tokens":2,"output_tokens_details":{"reasoning_tokens":1}}}}',
    ]  # fmt: skip
    assert kinds(tmp_path, *values) == ["role", "reasoning", "text", "empty", "finish"]


def test_messages_of_anthropic(tmp_path: Path) -> None:
    values = [
        '{"type":"message_start","message":{"id":"msg_1","usage":{"input_tokens":5,"output_tokens":1}}}', '{"type":"ping"}',
        '{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"h"}}',
        '{"type":"content_block_delta","delta":{"type":"text_delta","text":"a"}}',
        '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}', '{"type":"message_stop"}',
    ]  # fmt: skip
    assert kinds(tmp_path, *values) == ["role", "empty", "reasoning", "text", "finish", "finish"]


def test_messages_of_an_unknown_form_tell_nothing_of_content(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(message(1, '{"novel":"hello"}'), message(2, chat(content="a")), message(3, "[DONE]")))
    assert heard(store) == []
    assert rows(store, "SELECT client_first_content_ns, client_done_ns, outcome FROM attempt") == [
        (None, START + 50_000_000, "ok")
    ]
    assert rows(store, "SELECT detail FROM audit WHERE audit = 'source note'") == [
        ("1 requests have messages of a form that is not known here: when their content came is not told",)
    ]


def test_a_comment_is_a_message_without_content(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(message(1, "ping", name="comment"), message(2, chat(content="a"))))
    assert [kind for _, _, kind in heard(store)] == ["empty", "text"]


def test_an_answer_in_one_piece_was_not_streamed(tmp_path: Path) -> None:
    text = json.dumps(
        {"id": "x", "choices": [{"message": {"content": "hi"}}], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    )
    store = given(tmp_path, a_row({"perf_ns": PERF + 50_000_000, "text": text, "content_type": "application/json"}))
    assert rows(
        store,
        "SELECT a.streamed, a.client_first_content_ns, a.client_done_ns, a.client_output_tokens, o.response_id FROM attempt AS a JOIN observation AS o USING (request_id)",
    ) == [(False, None, START + 50_000_000, 1, "x")]


def test_an_id_that_several_answers_bear_is_not_taken(tmp_path: Path) -> None:
    store = given(
        tmp_path,
        a_row(message(1, chat(content="a"))),
        a_row(message(1, chat(content="a")), metadata={"x_request_id": "r2"}),
    )
    assert rows(store, "SELECT count(*), count(response_id) FROM observation") == [(2, 0)]


def test_no_word_of_a_prompt_or_an_answer_reaches_the_store(tmp_path: Path) -> None:
    payload = {"model": "m", "messages": [{"role": "user", "content": "SECRETPROMPT"}]}
    headers = {"Authorization": "SECRETKEY", "User-Agent": "aiperf/0.13.0"}
    good = a_row(message(1, chat(content="SECRETANSWER")), payload=payload, request_headers=headers)
    bad = a_row(message(1, chat(content="SECRETANSWER")), payload=payload, start_perf_ns="SECRETSTART")
    given(tmp_path, good, bad).close()
    assert b"SECRET" not in (tmp_path / "s.duckdb").read_bytes()


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"start_perf_ns": None}, "start_perf_ns is missing"),
    ({"start_perf_ns": 10**30}, "start_perf_ns is not a count of nanoseconds"),
    ({"responses": None}, "responses is missing"),
]


def test_a_line_that_cannot_be_taken_is_refused_with_its_reason(tmp_path: Path) -> None:
    store = given(tmp_path, a_row(message(1, chat(content="a"))), *(a_row() | change for change, _ in REFUSED))
    assert rows(store, "SELECT reason FROM refused ORDER BY position") == [(reason,) for _, reason in REFUSED]
    assert rows(store, "SELECT records, kept, refused FROM source_file") == [(4, 1, 3)]


def test_a_counter_out_of_range_does_no_harm(tmp_path: Path) -> None:
    store = given(tmp_path, a_row({"perf_ns": 10**30, "packets": []}, {"perf_ns": 9 * 10**18, "packets": []}))
    assert rows(store, "SELECT outcome, client_first_content_ns FROM attempt") == [("ok", None)]
