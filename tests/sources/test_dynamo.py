"""NVIDIA Dynamo's request traces: what its frontend measured, whether a session was told or not."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError
from analyzer.sources import recognise
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

RECEIVED = 1_777_312_800_000


def read(path: Path, folder: Path) -> Store:
    files, _ = ingest.find([str(path)])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


def bare(
    number: int, *, kind: str = "request_end", schema: str = "dynamo.request.trace.v1", end: int = 1000, **request: Any
) -> dict[str, Any]:
    """A row without a session, as the frontend writes it; a field that is None is left out."""
    told = {
        "request_id": f"id-{number}", "request_received_ms": RECEIVED + number, "output_tokens": 16,
        "replay": {"trace_block_size": 64, "input_length": 128, "input_sequence_hashes": [14_879_255_164_371_896_291]},
        **request,
    }  # fmt: skip
    row = {"schema": schema, "event_type": kind, "event_time_unix_ms": RECEIVED + number + end}
    return {**row, "request": {key: value for key, value in told.items() if value is not None}}


def session(number: int, finish: str | None = "stop", backend: str | None = "eos", **request: Any) -> dict[str, Any]:
    """A row with a session: every measurement."""
    told = {
        "x_request_id": f"call-{number}", "model": "m", "input_tokens": 130, "cached_tokens": 64,
        "prefill_wait_time_ms": 1.0, "prefill_time_ms": 20.0, "ttft_ms": 21.123456789, "total_time_ms": 100.25, "avg_itl_ms": 26.0,
        "worker": {"prefill_worker_id": 7_587_890_123_456_789_012, "decode_worker_id": 18_446_744_073_709_551_615, "decode_dp_rank": 0},
        "finish_reason_metadata": {key: value for key, value in (("finish_reason", finish), ("backend_finish_reason", backend)) if value},
        **request,
    }  # fmt: skip
    return {**bare(number, **told), "event_source": "dynamo", "agent_context": {"session_id": "s"}}


def wrapped(*found: dict[str, Any]) -> str:
    """Lines as the file sinks write them."""
    return "".join(json.dumps({"timestamp": place, "event": row}) + "\n" for place, row in enumerate(found))


def written(folder: Path, text: str) -> Store:
    path = folder / "request-trace.000000.jsonl.gz"
    path.write_bytes(gzip.compress(text.encode()))
    return read(path, folder)


def test_a_row_of_a_session_has_arrival_first_content_and_end(tmp_path: Path) -> None:
    made = written(tmp_path, wrapped(session(5)))
    arrived = (RECEIVED + 5) * 10**6
    assert rows(
        made,
        "SELECT request_id, gateway_arrived_ns, gateway_first_content_ns, gateway_done_ns, outcome, model, worker FROM attempt",
    ) == [("call-5", arrived, arrived + 21_123_457, arrived + 100_250_000, "ok", "m", "18446744073709551615")]
    assert rows(made, "SELECT input_tokens, output_tokens, cached_tokens, stop_reason FROM attempt") == [
        (130, 16, 64, "stop")
    ]
    assert rows(made, "SELECT ttft_gateway_ms, e2e_gateway_ms, ttft_ms FROM request_metric") == [
        (21.123457, 100.25, None)
    ]
    assert rows(made, "SELECT source, tool, records, kept, set_aside, refused, note FROM source_file") == [
        ("dynamo", "dynamo", 1, 1, 0, 0, None)
    ]


def test_a_row_without_a_session_has_no_first_content_and_no_outcome(tmp_path: Path) -> None:
    made = written(tmp_path, wrapped(bare(0), bare(1, end=0)))
    found = rows(
        made,
        "SELECT request_id, gateway_done_ns - gateway_arrived_ns, gateway_first_content_ns, outcome, input_tokens, output_tokens FROM attempt ORDER BY 1",
    )
    # An end at the very arrival is where none was measured.
    assert found == [("id-0", 10**9, None, "unresolved", 128, 16), ("id-1", None, None, "unresolved", 128, 16)]
    assert rows(made, "SELECT DISTINCT ttft_gateway_why FROM request_metric") == [("not recorded",)]
    assert rows(made, "SELECT note FROM source_file") == [
        ("2 rows say no finish reason: how these ended is not recorded",)
    ]


@pytest.mark.parametrize(
    ("finish", "backend", "outcome"),
    [
        ("length", "length", ("ok", None, "length")),
        ("tool_calls", "stop", ("ok", None, "tool_calls")),
        ("content_filter", "content_filter", ("ok", None, "content_filter")),
        # A cancelled answer is told to the client as stopped.
        ("stop", "cancelled", ("cancelled", None, "stop")),
        (None, "error: CUDA error at 0x7f", ("error", "backend error", None)),
        (None, None, ("unresolved", None, None)),
        ("a reason that is none", None, ("unresolved", None, None)),
    ],
)
def test_an_outcome_is_what_the_finish_says(
    tmp_path: Path, finish: str | None, backend: str | None, outcome: tuple[Any, ...]
) -> None:
    made = written(tmp_path, wrapped(session(0, finish, backend)))
    assert rows(made, "SELECT outcome, error_type, stop_reason FROM attempt") == [outcome]


def test_rows_of_tools_and_payloads_are_set_aside_and_leave_nothing(tmp_path: Path) -> None:
    payload = {
        **bare(1, kind="request_payload"),
        "payload": {"request_id": "id-1", "request": {"messages": ["a secret"]}},
    }
    del payload["request"]
    tool = {
        "schema": "dynamo.request.trace.v1",
        "event_type": "tool_end",
        "event_time_unix_ms": RECEIVED,
        "tool": {"tool_call_id": "a secret"},
    }
    made = written(tmp_path, wrapped(payload, session(2), tool))
    assert rows(made, "SELECT records, kept, set_aside, refused FROM source_file") == [(3, 1, 2, 0)]
    assert b"a secret" not in (tmp_path / "s.duckdb").read_bytes()
    assert rows(made, "SELECT count(*) FROM refused") == [(0,)]


def test_a_callers_id_that_two_rows_bear_stands_for_neither(tmp_path: Path) -> None:
    made = written(tmp_path, wrapped(session(0, x_request_id="same"), session(1, x_request_id="same"), session(2)))
    assert rows(made, "SELECT request_id FROM request ORDER BY 1") == [("call-2",), ("id-0",), ("id-1",)]
    assert rows(made, "SELECT note FROM source_file") == [
        ("2 rows share the caller's request id with another row: Dynamo's own id stands for it",)
    ]


def test_bare_rows_and_rows_of_the_older_schema_are_read(tmp_path: Path) -> None:
    text = json.dumps(session(0)) + "\n" + json.dumps({**session(1), "schema": "dynamo.agent.trace.v1"}) + "\n"
    made = written(tmp_path, text)
    assert rows(made, "SELECT request_id FROM request ORDER BY 1") == [("call-0",), ("call-1",)]


def test_a_line_that_is_no_row_is_refused_with_its_number(tmp_path: Path) -> None:
    found = [
        session(0), session(1, ttft_ms=-1.0), session(2, total_time_ms="soon"), session(3, request_received_ms=None),
        session(4, request_received_ms=10**19), session(5, output_tokens=2.5), session(6, request_id=None),
        {**session(7), "schema": "dynamo.request.trace.v9"}, {**session(8), "event_type": "request_begin"},
        session(9, ttft_ms=1e300), session(10, request_id=7),
    ]  # fmt: skip
    made = written(tmp_path, wrapped(*found) + '["a secret"]\na secret\n{"timestamp":1,"event":{"schema":"dynamo.req')
    assert rows(made, "SELECT position, reason FROM refused ORDER BY regexp_extract(position, '[0-9]+')::INT") == [
        ("line 2", "ttft_ms is not a duration"),
        ("line 3", "total_ms is not a duration"),
        ("line 4", "received_ms is missing: the row says no arrival"),
        ("line 5", "received_ms is not a count"),
        ("line 6", "output_tokens is not a count"),
        ("line 7", "request_id is missing: the row says no request"),
        ("line 8", "its schema is not one that is known"),
        ("line 9", "its event type is not one that is known"),
        ("line 10", "ttft_ms is not a duration"),
        ("line 11", "request_id is not a text"),
        ("line 12", "not a JSON object"),
        ("line 13", "not valid JSON"),
        ("line 14", "torn last line: the file ends inside it"),
    ]
    assert rows(made, "SELECT count(*) FROM refused WHERE sample LIKE '%secret%' OR sample LIKE '%call-%'") == [(0,)]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(14, 1, 13)]


def test_a_count_of_0_beside_a_first_token_is_not_recorded(tmp_path: Path) -> None:
    made = written(tmp_path, wrapped(session(0, output_tokens=0), bare(1, output_tokens=0)))
    assert rows(made, "SELECT request_id, output_tokens FROM attempt ORDER BY 1") == [("call-0", None), ("id-1", 0)]


def test_a_client_that_kept_the_answers_id_meets_its_row(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "trace.jsonl").write_text(wrapped(bare(0), session(1)))
    sent = {"event": "sent", "ms": RECEIVED, "clock": "c", "side": "client"}
    lines = [{"request": "mine", "response_id": "chatcmpl-id-0", **sent}, {"request": "call-1", **sent}]
    (folder / "client.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = read(folder, tmp_path)
    assert rows(made, "SELECT request_id, sides, output_tokens FROM request ORDER BY 1") == [
        ("call-1", "client,gateway", 16), ("mine", "client,gateway", 16),
    ]  # fmt: skip


def test_another_schema_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(wrapped({**session(0), "schema": "dynamo.request.trace.v2"}))
    assert recognise(path) is None
    files, _ = ingest.find([str(path)])
    with pytest.raises(SourceError, match=r"its rows are of Dynamo's schema dynamo\.request\.trace\.v2; known are"):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)
