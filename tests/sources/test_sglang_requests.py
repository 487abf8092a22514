"""SGLang's own log of its requests: the engine's side, with the boundaries that its clocks show and no others."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any

import pytest
from bench_files import mutated, saved, stored
from building import rows

from analyzer import sources

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

PROMPT = "tell me a secret about elephants"


def line(number: int = 1, /, **changes: Any) -> dict[str, Any]:
    """A line as 0.5.23 writes it with --enable-metrics; what is None is left out."""
    asked = {
        "rid": f"r{number}",
        "text": PROMPT,
        "sampling_params": {"max_new_tokens": 8},
        "stream": True,
        **changes.pop("asked", {}),
    }
    whole = {
        "request_parameters": json.dumps(asked), "id": f"r{number}", "finish_reason": {"type": "length", "length": 8},
        "prompt_tokens": 40, "weight_version": "default", "num_retractions": 0,
        "forward_entry_time": 1787481184.0325177, "prefill_finished_time": 1787481184.082342, "queue_time": 0.012,
        "reasoning_tokens": 0, "completion_tokens": 8, "cached_tokens": 4, "cached_tokens_details": {"device": 4, "host": 0},
        "dp_rank": None, "e2e_latency": 0.24213981700004297, "request_received_ts": 1787481184.0125177,
        "first_token_latency": 0.07500004, "api_server_dispatch_finish_ts": 1787481184.0142,
        "response_sent_to_client_ts": 1787481184.088, "request_finished_ts": 1787481184.2546575, "decode_throughput": 42.0,
        **changes,
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value is not None}


def log(folder: Path, *lines: Any) -> Store:
    return stored(folder, saved(folder, *lines, name="sglang-request-metrics-20260823_13.log"))


def boundaries(made: Store, position: int = 1) -> dict[str, int]:
    return {
        row["event"]: row["time_ns"]
        for row in made.fetch("SELECT event, time_ns FROM event WHERE position = ?", [position])
    }


def test_a_line_shows_the_engine_s_boundaries_to_the_nanosecond(tmp_path: Path) -> None:
    made = log(tmp_path, line())
    assert boundaries(made) == {
        "arrived": 1787481184_012517700,
        "admitted": 1787481184_020517700,
        "started": 1787481184_032517700,
        "first_token": 1787481184_087517740,
        "last_token": 1787481184_254657500,
        "done": 1787481184_254657500,
    }
    found = rows(made, "SELECT side, clock, clock_kind, request_id, response_id, outcome FROM observation")
    assert found == [("engine", "sglang", "wall", "r1", "r1", "ok")]


def test_its_stages_are_those_of_the_engine(tmp_path: Path) -> None:
    made = log(tmp_path, line())
    found = dict(rows(made, "SELECT stage, round(duration_ms, 6) FROM stage"))
    assert found == {"edge": 8.0, "queue": 12.0, "prefill": pytest.approx(55.00004), "decode": pytest.approx(167.13976)}
    assert rows(
        made, "SELECT round(ttft_engine_ms, 6), round(e2e_engine_ms, 6), round(tpot_engine_ms, 6) FROM attempt_metric"
    ) == [(75.00004, 242.1398, round(167.13976 / 7, 6))]


def test_counts_and_facts_are_the_engine_s(tmp_path: Path) -> None:
    made = log(tmp_path, line(dp_rank=3, weight_version="step 7", completion_tokens=8, reasoning_tokens=2))
    assert rows(made, "SELECT input_tokens, output_tokens, reasoning_tokens, cached_tokens, worker, revision, stop_reason, streamed, token_basis FROM attempt") == [
        (40, 8, 2, 4, "dp 3", "step 7", "length", True, "engine")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("reason", "tokens", "expected"),
    [
        ({"type": "stop", "matched": 2}, 8, ("ok", None, None)),
        ("stop", 8, ("ok", None, None)),
        ({"type": "abort", "message": "The request queue is full.", "status_code": 503}, 0, ("rejected", "abort", 503)),
        ({"type": "abort", "message": "Retracted. Retry later.", "status_code": 503}, 5, ("error", "abort", 503)),
        (
            {"type": "abort", "message": "Request waiting timeout reached.", "status_code": 503},
            0,
            ("timeout", "abort", 503),
        ),
        (
            {"type": "abort", "message": "Aborted", "status_code": None, "err_type": None},
            3,
            ("cancelled", "abort", None),
        ),
        (
            {"type": "abort", "message": PROMPT, "status_code": 400, "err_type": "BadRequestError"},
            0,
            ("error", "BadRequestError", 400),
        ),
        ({"type": "abort", "message": "x", "status_code": 500, "err_type": PROMPT}, 0, ("error", "abort", 500)),
    ],
)
def test_the_finish_reason_is_the_outcome(tmp_path: Path, reason: Any, tokens: int, expected: tuple[Any, ...]) -> None:
    made = log(tmp_path, line(finish_reason=reason, completion_tokens=tokens))
    assert rows(made, "SELECT outcome, error_type, status_code FROM attempt") == [expected]
    assert ("last_token" in boundaries(made)) == (expected[0] == "ok")
    assert PROMPT not in json.dumps(made.fetch("SELECT * FROM event"), default=str)


def test_without_metrics_a_line_tells_how_long_and_not_when(tmp_path: Path) -> None:
    bare: dict[str, Any] = dict.fromkeys(("forward_entry_time", "prefill_finished_time", "queue_time", "request_received_ts", "first_token_latency",
                          "api_server_dispatch_finish_ts", "request_finished_ts", "decode_throughput"))  # fmt: skip
    made = log(tmp_path, line(**bare))
    assert boundaries(made) == {"arrived": 0, "last_token": 242_139_817, "done": 242_139_817}
    assert rows(made, "SELECT engine_clock_kind FROM attempt") == [("duration",)]
    assert rows(made, "SELECT basis FROM run_window") == [("none: no request has a time that places it",)]


def test_the_stamp_of_the_first_message_is_not_taken_for_the_end(tmp_path: Path) -> None:
    made = log(tmp_path, line(request_finished_ts=None))
    assert boundaries(made)["done"] == 1787481184_012517700 + 242_139_817


def test_a_retracted_request_has_no_moment_of_admission(tmp_path: Path) -> None:
    made = log(tmp_path, line(1, num_retractions=2, queue_time=1.5), line(2, queue_time=-2.99))
    assert "admitted" not in boundaries(made, 1)
    assert "admitted" not in boundaries(made, 2)
    assert rows(made, "SELECT note FROM source_file") == [
        ("1 requests were retracted: when they waited again is not told, nor when they were admitted",)
    ]


def test_an_older_line_tells_its_first_token_by_the_scheduler_s_stamp(tmp_path: Path) -> None:
    old: dict[str, Any] = {"prefill_finished_ts": 1787481184.082342, "decode_finished_ts": 1787481184.25}
    made = log(tmp_path, line(first_token_latency=None, prefill_finished_time=None, num_retractions=None, **old))
    found = boundaries(made)
    assert (found["first_token"], found["last_token"]) == (1787481184_082342000, 1787481184_250000000)
    assert "admitted" not in found


def test_the_engine_s_view_joins_the_client_s_by_id_and_by_trace(tmp_path: Path) -> None:
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    engine = saved(
        tmp_path,
        line(1),
        line(2, asked={"external_trace_header": {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}}),
        name="engine.log",
    )
    events = [
        {
            "request": "mine",
            "response_id": "r1",
            "event": "sent",
            "ns": "1787481184000000000",
            "clock": "c",
            "side": "client",
        },
        {
            "request": "other",
            "trace_id": trace,
            "event": "sent",
            "ns": "1787481184000000000",
            "clock": "c",
            "side": "client",
        },
    ]
    made = stored(tmp_path, engine, saved(tmp_path, *events, name="client.jsonl"))
    assert rows(made, "SELECT request_id, sides FROM attempt ORDER BY 1") == [
        ("mine", "client,engine"),
        ("other", "client,engine"),
    ]


def test_no_prompt_reaches_the_store_not_even_of_a_line_that_is_refused(tmp_path: Path) -> None:
    text = json.dumps(line())
    made = log(
        tmp_path,
        line(),
        text[:60],
        json.dumps({"request_parameters": json.dumps({"text": PROMPT})}),
        "[1]",
        text[: len(text) // 2],
    )
    assert rows(made, "SELECT records FROM source_file") == [(5,)]
    assert rows(made, "SELECT position, reason FROM refused ORDER BY 1") == [
        ("line 2", "not valid JSON"),
        ("line 3", "it tells neither when the request came nor how long it took"),
        ("line 4", "not a JSON object"),
        ("line 5", "torn last line: the file ends inside it"),
    ]
    everything = json.dumps(
        [made.fetch(f"SELECT * FROM {table}") for table in ("event", "refused", "source_file")], default=str
    )
    assert PROMPT not in everything
    assert "elephants" not in everything


def test_odd_values_are_none_and_no_traceback(tmp_path: Path) -> None:
    odd = line(
        prompt_tokens=-1,
        completion_tokens="8",
        cached_tokens=10**30,
        queue_time="x",
        forward_entry_time=1e300,
        first_token_latency=-0.5,
        request_parameters="not json",
    )
    made = log(tmp_path, odd)
    assert rows(made, "SELECT input_tokens, output_tokens, cached_tokens, streamed FROM attempt") == [
        (None, None, None, None)
    ]
    assert boundaries(made).keys() == {"arrived", "first_token", "done"}


def test_a_first_line_longer_than_what_is_looked_at_is_known_all_the_same(tmp_path: Path) -> None:
    made = log(tmp_path, line(asked={"text": PROMPT * 4000}), line(2))
    assert rows(made, "SELECT source, tool, records FROM source_file") == [("sglang_requests", "SGLang request log", 2)]


def test_another_log_with_such_a_key_is_not_taken(tmp_path: Path) -> None:
    other = {"request_parameters": json.dumps({"bucketName": "b"}), "event_name": "GetBucketTagging"}
    assert sources.recognise(saved(tmp_path, other, other)) is None


def test_whatever_bytes_a_line_holds_it_is_taken_or_refused(tmp_path: Path) -> None:
    rng = random.Random(5)  # noqa: S311 (the same cases every time)
    odd = [mutated(json.dumps(line(number)).encode(), rng).replace(b"\n", b" ") for number in range(2, 800)]
    file = tmp_path / "sglang-request-metrics-20260823_13.log"
    file.write_bytes(b"\n".join([json.dumps(line()).encode(), *odd]))
    made = stored(tmp_path, file)
    kept, refused = rows(made, "SELECT (SELECT count(DISTINCT position) FROM event), (SELECT count(*) FROM refused)")[0]
    assert rows(made, "SELECT records FROM source_file") == [(kept + refused,)]
    assert kept > 200
    assert refused > 200
