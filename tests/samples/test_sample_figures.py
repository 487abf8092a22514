"""The figures that the samples' READMEs give, counted by plain Python from the files."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Rows = list[dict[str, Any]]
    Reader = Callable[[str], Rows]

VLLM_START_UP = 12


def nearest_rank(values: list[float], percent: int) -> float:
    """Return the smallest value with at least `percent` % of all at or below it."""
    return sorted(values)[ceil(percent * len(values) / 100) - 1]


def named(requests: Rows, part: str) -> Rows:
    return [seen for seen in requests if part in seen["request"]]


@pytest.fixture
def three(read_requests: Reader) -> Rows:
    return read_requests("three-services/client.events.jsonl")


@pytest.fixture
def direct(read_requests: Reader) -> Rows:
    return read_requests("vllm-direct/client.events.jsonl")


def test_three_services_has_36_requests_of_three_tenants(three: Rows) -> None:
    assert len(three) == 36
    assert Counter(seen["outcome"] for seen in three) == {"ok": 31, "cancelled": 5}
    assert Counter(seen["tenant"] for seen in three) == {"acme": 10, "globex": 10, "initech": 16}
    assert {(seen["clock"], seen["side"], seen["streamed"]) for seen in three} == {("client-1", "client", True)}


def test_three_services_cancels_came_after_250_ms_and_before_any_content(three: Rows) -> None:
    cancelled = [seen for seen in three if seen["outcome"] == "cancelled"]
    assert all(250 <= seen["done_ms"] < 253 for seen in cancelled)
    assert not any("first_content_ms" in seen or "output_tokens" in seen for seen in cancelled)


def test_three_services_promise_is_29_kept_2_broken_5_undecided(three: Rows) -> None:
    ok = [seen for seen in three if seen["outcome"] == "ok"]
    good = [seen for seen in ok if seen["first_content_ms"] <= 400 and seen["done_ms"] <= 2000]
    assert (len(good), len(ok) - len(good)) == (29, 2)


def test_three_services_lengths_fall_on_both_sides_of_their_bins(three: Rows, read_spans: Reader) -> None:
    usage = [
        (
            int(span["attributes"]["gen_ai.usage.prompt_tokens"]),
            int(span["attributes"]["gen_ai.usage.completion_tokens"]),
        )
        for span in read_spans("three-services/traces.otlp.jsonl")
        if span["name"] == "llm_request"
    ]
    assert Counter((read < 256, written < 16) for read, written in usage) == {
        (True, True): 10,
        (True, False): 15,
        (False, True): 4,
        (False, False): 7,
    }
    assert {seen["input_tokens"] for seen in three if "input_tokens" in seen} == {30, 135, 375}


def test_three_services_has_a_server_span_of_each_kind_for_every_request(three: Rows, read_spans: Reader) -> None:
    spans = read_spans("three-services/traces.otlp.jsonl")
    assert len(spans) == 520
    traces = {seen["trace_id"] for seen in three}
    for name, host in {
        "llm_request": "node-a",
        "POST /v1/chat/completions": "gw-1",
        "client_request": "client-1",
    }.items():
        found = [span for span in spans if span["name"] == name]
        assert {span["host"] for span in found} == {host}
        assert sorted(span["traceId"] for span in found) == sorted(traces)
    assert sum(span["host"] == "node-a" for span in spans) == len(three) + VLLM_START_UP


def test_three_services_response_id_is_the_engines_request_id(three: Rows, read_spans: Reader) -> None:
    engine = {
        span["traceId"]: span["attributes"]["gen_ai.request.id"]
        for span in read_spans("three-services/traces.otlp.jsonl")
        if span["name"] == "llm_request"
    }
    answered = {seen["trace_id"]: seen["response_id"] for seen in three if "response_id" in seen}
    assert len(answered) == 31
    assert answered == {trace: engine[trace] for trace in answered}


def test_vllm_direct_has_30_requests_and_keeps_the_reused_id_apart(direct: Rows) -> None:
    assert Counter(seen["outcome"] for seen in direct) == {"ok": 25, "cancelled": 3, "error": 2}
    assert len({seen["request"] for seen in direct}) == 29
    twice = named(direct, "dup-fixed-id")
    assert len({seen["trace_id"] for seen in twice}) == 2
    assert [seen["request"] for seen in direct if "trace_id" not in seen] == ["cli-notp-61dfa545"]


def test_vllm_direct_refusals_are_errors_with_their_type(direct: Rows) -> None:
    refused = [seen for seen in direct if seen["outcome"] == "error"]
    assert [(seen["status_code"], seen["error_type"]) for seen in refused] == [(400, "BadRequestError")] * 2
    assert not any("streamed" in seen or "first_content_ms" in seen for seen in refused)


def test_vllm_direct_streams_and_whole_answers_are_told_apart(direct: Rows) -> None:
    whole = [seen for seen in direct if seen.get("streamed") is False]
    assert [seen["request"].split("-")[1] for seen in whole] == ["nonstream", "n2", "abort_nonstream"]
    assert not any("first_content_ms" in seen for seen in whole)
    streamed = [seen for seen in direct if seen.get("streamed")]
    silent = [seen["request"].split("-")[1] for seen in streamed if "first_content_ms" not in seen]
    assert (len(streamed), silent) == (25, ["onetok", "abort_queued"])


def test_vllm_direct_one_token_without_content_is_an_empty_success(direct: Rows) -> None:
    (seen,) = named(direct, "onetok")
    assert (seen["outcome"], seen["output_tokens"]) == ("ok", 1)


def test_vllm_direct_has_26_request_spans_and_five_requests_without_one(direct: Rows, read_spans: Reader) -> None:
    spans = [span for span in read_spans("vllm-direct/traces.otlp.jsonl") if span["name"] == "llm_request"]
    assert (len(spans), len(read_spans("vllm-direct/traces.otlp.jsonl"))) == (26, 26 + VLLM_START_UP)
    answers = Counter(span["attributes"]["gen_ai.request.id"] for span in spans)
    missing = [seen["request"].split("-")[1] for seen in direct if f"chatcmpl-{seen['request']}" not in answers]
    assert missing == ["toolong", "badparam", "abort_midstream", "abort_queued", "abort_nonstream"]
    assert {id_: n for id_, n in answers.items() if n > 1} == {
        "chatcmpl-cli-n2-81b27d81": 2,
        "chatcmpl-dup-fixed-id": 2,
    }


@pytest.mark.parametrize(
    ("server", "outcomes", "p95_ms", "within_5_s"),
    [("serialized", {"ok": 38, "timeout": 154}, 53_251, 5), ("vllm", {"ok": 192}, 523, 192)],
)
def test_burst_64_has_the_published_counts_and_p95(
    read_requests: Reader, server: str, outcomes: dict[str, int], p95_ms: int, within_5_s: int
) -> None:
    requests = read_requests(f"burst-64/{server}.events.jsonl")
    assert Counter(seen["outcome"] for seen in requests) == outcomes
    assert Counter(seen["repeat"] for seen in requests) == {0: 64, 1: 64, 2: 64}
    first = [seen["first_content_ms"] for seen in requests if "first_content_ms" in seen]
    assert len(first) == outcomes["ok"]
    assert nearest_rank(first, 95) == p95_ms
    assert sum(ms <= 5_000 for ms in first) == within_5_s


def test_burst_64_requests_0_1_5_and_2_of_the_first_wave_are_as_published(read_requests: Reader) -> None:
    requests = {seen["request"]: seen for seen in read_requests("burst-64/serialized.events.jsonl")}
    for request, first, done in [(0, 225, 4_242), (1, 4_406, 13_140), (5, 13_394, 24_662)]:
        seen = requests[f"serialized-w0-r{request:02d}"]
        assert (seen["first_content_ms"], seen["done_ms"], seen["outcome"]) == (first, done, "ok")
    gave_up = requests["serialized-w0-r02"]
    assert (gave_up["done_ms"], gave_up["outcome"]) == (60_002, "timeout")
    assert not gave_up.keys() & {"first_content_ms", "last_content_ms"}


def test_burst_64_serialized_answers_one_at_a_time_until_60_s(read_requests: Reader) -> None:
    requests = read_requests("burst-64/serialized.events.jsonl")
    answered = Counter[int]()
    for wave in range(3):
        mine = [seen for seen in requests if seen["repeat"] == wave]
        assert len({seen["sent_ns"] for seen in mine}) == 1
        ok = sorted((seen["first_content_ms"], seen["done_ms"]) for seen in mine if seen["outcome"] == "ok")
        answered[wave] = len(ok)
        gaps = [after[0] - before[1] for before, after in pairwise(ok)]
        assert all(160 <= gap < 255 for gap in gaps)
        assert ok[-1][1] < 60_000
        assert all(60_000 < seen["done_ms"] < 60_020 for seen in mine if seen["outcome"] == "timeout")
    assert answered == {0: 11, 1: 13, 2: 14}


@pytest.mark.parametrize("server", ["serialized", "vllm"])
def test_burst_64_waves_do_not_overlap_and_times_are_in_order(read_requests: Reader, server: str) -> None:
    requests = read_requests(f"burst-64/{server}.events.jsonl")
    ends = {wave: max(s["sent_ns"] + s["done_ms"] * 1e6 for s in requests if s["repeat"] == wave) for wave in range(3)}
    starts = {wave: min(s["sent_ns"] for s in requests if s["repeat"] == wave) for wave in range(3)}
    assert ends[0] < starts[1] < ends[1] < starts[2]
    for seen in requests:
        if seen["outcome"] == "ok":
            assert 0 < seen["first_content_ms"] < seen["last_content_ms"] < seen["done_ms"]


@pytest.mark.parametrize("server", ["serialized", "vllm"])
def test_burst_64_invents_no_token_counts(read_requests: Reader, server: str) -> None:
    for seen in read_requests(f"burst-64/{server}.events.jsonl"):
        assert not any(key.endswith("tokens") for key in seen)
