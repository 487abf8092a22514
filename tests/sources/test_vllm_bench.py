"""vLLM's load generator: what its lists tell of each request, what they leave open, and its own summary from them."""

from __future__ import annotations

import json
import random
import statistics
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from bench_files import balanced, exact, mutated, nanoseconds, printed, saved, stored
from building import rows

from analyzer import ingest, sources
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

TRACEBACK = 'Traceback (most recent call last):\n  File "x.py"\naiohttp.client_exceptions.ClientPayloadError: cut\n'


def run(*requests: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A run as 0.32 saves it, from requests of ms: sent, ttft and gaps; what is None is left out."""
    listed = [
        {"error": "", "text": "a b", "tokens": 2, "gaps": [], "queue": 0.1, "sent": 1000 * i + 1000.0, **request}
        for i, request in enumerate(requests)
    ]
    ok = [request for request in listed if not request["error"]]
    latencies = [0.0 if r["error"] else (r["ttft"] + sum(r["gaps"])) / 1e3 for r in listed]
    whole = {
        "date": "20261130-201139", "endpoint_type": "openai", "backend": "openai", "label": None, "model_id": "m",
        "tokenizer_id": "m", "num_prompts": len(listed), "request_rate": 8.0, "burstiness": 1.0, "max_concurrency": None,
        "duration": 10.0, "completed": len(ok), "failed": len(listed) - len(ok), "total_input_tokens": 10 * len(ok),
        "total_output_tokens": sum(r["tokens"] for r in ok), "request_throughput": len(ok) / 10.0, "request_goodput": None,
        "output_throughput": 1.0, "total_token_throughput": 2.0,
        "input_lens": [10] * len(listed), "output_lens": [r["tokens"] for r in listed],
        "ttfts": [r["ttft"] / 1e3 for r in listed], "itls": [[gap / 1e3 for gap in r["gaps"]] for r in listed],
        "latencies": latencies, "start_times": [r["sent"] / 1e3 for r in listed], "queue_times": [r["queue"] / 1e3 for r in listed],
        "generated_texts": [r["text"] for r in listed], "errors": [r["error"] for r in listed],
        **changes,
    }  # fmt: skip
    return {
        key: value for key, value in whole.items() if value is not None or key in ("request_goodput", "max_concurrency")
    }


def old(*requests: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A run as versions before 0.15 save it: without times of day, latencies and queue times."""
    return run(*requests, **{"latencies": None, "start_times": None, "queue_times": None, **changes})


def notes(made: Store) -> list[str]:
    (found,) = rows(made, "SELECT note FROM source_file")
    return found[0].split("; ") if found[0] else []


# -- the real file ----------------------------------------------------------------------------------------------------


@pytest.fixture
def file(shared_data: Path) -> Path:
    return shared_data / "made" / "vllm-bench" / "rate8.json"


@pytest.fixture
def made(file: Path, tmp_path: Path) -> Store:
    return stored(tmp_path, file)


@pytest.mark.shared
def test_every_request_of_the_real_file_has_one_outcome(made: Store, file: Path) -> None:
    found = rows(
        made, "SELECT load_point, offered, ok, rejected, error, truncated FROM ledger WHERE load_point <> '(all)'"
    )
    assert found == [("8/s", 120, 112, 4, 2, 2)]
    told = json.loads(file.read_text())
    assert (found[0][2], found[0][1] - found[0][2]) == (told["completed"], told["failed"])
    assert rows(made, "SELECT tool, records, set_aside FROM source_file") == [("vllm bench serve", 120, 0)]
    assert rows(made, "SELECT count(*) FROM refused") == [(0,)]
    kinds = rows(
        made,
        "SELECT error_type, status_code, count(*) FROM attempt WHERE outcome <> 'ok' GROUP BY ALL ORDER BY 3 DESC, 1",
    )
    assert kinds == [("Too Many Requests", 429, 4), ("ClientPayloadError", None, 2), ("Internal Server Error", 500, 2)]


@pytest.mark.shared
def test_the_real_boundaries_are_exact(made: Store, file: Path) -> None:
    told = exact(file)
    found = made.fetch(
        "SELECT position, e.event, e.time_ns, e.content_kind FROM event AS e WHERE position IN (1, 73, 120) ORDER BY position, time_ns, event"
    )
    for position in (1, 73, 120):
        i = position - 1
        sent, first = told["start_times"][i], told["start_times"][i] + told["ttfts"][i]
        messages = [first]
        for gap in told["itls"][i]:
            messages.append(messages[-1] + gap)
        expected = {
            "scheduled": nanoseconds(sent - told["queue_times"][i]), "sent": nanoseconds(sent),
            "first_content": nanoseconds(messages[1]), "last_content": nanoseconds(messages[-1]),
        }  # fmt: skip
        if not told["errors"][i]:
            expected["done"] = nanoseconds(sent + told["latencies"][i])
        mine = [row for row in found if row["position"] == position]
        assert {row["event"]: row["time_ns"] for row in mine if row["event"] not in ("chunk", "content")} == expected
        chunks = [(row["time_ns"], row["content_kind"]) for row in mine if row["event"] in ("chunk", "content")]
        assert sorted(chunks) == [
            (nanoseconds(messages[0]), "role"),
            *((nanoseconds(time), None) for time in messages[1:]),
        ]


@pytest.mark.shared
def test_the_tool_s_own_summary_is_reproduced_cell_by_cell(made: Store, file: Path) -> None:
    cells = printed(made, "vLLM bench")
    told = json.loads(file.read_text())
    expected = {
        (metric, statistic): told[f"{statistic}_{metric}_ms"]
        for metric in ("ttft", "tpot", "itl", "e2el")
        for statistic in ("mean", "std", "p50", "p90", "p95", "p99")
    }
    assert {cell: value for cell, (value, _) in cells.items()} == expected
    for cell, (theirs, ours) in cells.items():
        assert ours == pytest.approx(theirs, rel=1e-6), cell


@pytest.mark.shared
def test_counts_and_rates_of_the_real_summary_are_kept_with_their_units(made: Store) -> None:
    found = rows(made, "SELECT kind, metric, value, unit FROM tool_figure WHERE unit <> 'ms' ORDER BY metric")
    assert ("printed", "completed", 112.0, "requests") in found
    assert ("printed", "total_input_tokens", 6059.0, "tokens") in found
    assert ("printed", "request_goodput", 6.6101164528562215, "requests/s") in found
    assert ("setting", "duration", 15.279609779999873, "s") in found
    assert rows(made, "SELECT DISTINCT load_point, tool, version FROM tool_figure") == [("8/s", "vLLM bench", None)]


@pytest.mark.shared
def test_first_content_is_never_the_role_message(made: Store, file: Path) -> None:
    told = json.loads(file.read_text())
    ok = [i for i in range(120) if not told["errors"][i]]
    ours = [
        row[0]
        for row in rows(
            made,
            "SELECT ttft_ms FROM attempt_metric WHERE ttft_ms IS NOT NULL AND attempt_id IN (SELECT attempt_id FROM attempt WHERE outcome = 'ok')",
        )
    ]
    assert sorted(ours) == pytest.approx(sorted((told["ttfts"][i] + told["itls"][i][0]) * 1e3 for i in ok), rel=1e-9)


@pytest.mark.shared
def test_lengths_of_failures_are_not_counts_of_the_server(made: Store) -> None:
    found = rows(
        made,
        "SELECT outcome = 'ok', sum(client_input_tokens), sum(output_tokens), count(retokenized_input_tokens) FROM attempt GROUP BY 1 ORDER BY 1",
    )
    assert found == [(False, None, None, 8), (True, 6059, 4650, 0)]


@pytest.mark.shared
def test_an_end_that_is_the_last_message_gives_no_time_after_it(made: Store) -> None:
    assert rows(made, "SELECT count(*) FROM stage WHERE stage = 'terminal'") == [(0,)]
    assert (
        "112 ends are the last message with choices, which the tool takes for the end: that of the stream is not recorded"
        in notes(made)
    )


@pytest.mark.shared
def test_no_text_of_an_answer_or_a_traceback_reaches_the_store(made: Store, file: Path) -> None:
    told = json.loads(file.read_text())
    everything = json.dumps(made.fetch("SELECT * FROM event"), default=str) + json.dumps(
        made.fetch("SELECT * FROM refused")
    )
    assert "Traceback" not in everything
    assert not [text for text in told["generated_texts"] if len(text) > 20 and text[:20] in everything]


@pytest.mark.shared
def test_the_same_run_without_its_requests_is_refused_with_the_option_that_saves_them(
    file: Path, tmp_path: Path
) -> None:
    told = json.loads(file.read_text())
    for key in ("input_lens", "output_lens", "start_times", "ttfts", "itls", "generated_texts", "errors"):
        del told[key]
    summary = saved(tmp_path, told)
    assert sources.recognise(summary) is None
    with pytest.raises(SourceError, match="without its requests: --save-detailed saves them"):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), ingest.find([str(summary)])[0])


# -- what a message is ------------------------------------------------------------------------------------------------


def test_a_chat_stream_of_a_role_message_alone_has_no_first_content(tmp_path: Path) -> None:
    made = stored(
        tmp_path,
        saved(
            tmp_path,
            run(
                {"ttft": 5, "gaps": [115, 280], "tokens": 3},
                {"ttft": 5, "tokens": 0, "text": ""},
                endpoint_type="openai-chat",
            ),
        ),
    )
    assert rows(made, "SELECT ttft_ms, ttft_why FROM request_metric ORDER BY request_id") == [
        (120.0, None),
        (None, "no content came"),
    ]


def test_completions_have_no_role_message(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 5, "gaps": [115]})))
    assert rows(made, "SELECT ttft_ms FROM request_metric") == [(5.0,)]
    assert rows(made, "SELECT DISTINCT event FROM event WHERE event IN ('content', 'chunk')") == [("content",)]


def test_a_mean_per_request_and_a_pooled_mean_are_two_numbers(tmp_path: Path) -> None:
    file = saved(
        tmp_path, run({"ttft": 50, "gaps": [100], "tokens": 2}, {"ttft": 50, "gaps": [10] * 100, "tokens": 101})
    )
    made = stored(tmp_path, file)
    found = {
        row[0]: row[1:]
        for row in rows(
            made,
            "SELECT metric, value, n, weighting FROM as_printed WHERE tool = 'vLLM bench' AND load_point = '8/s' AND statistic = 'mean'",
        )
    }
    assert found["tpot"] == (pytest.approx(55.0), 2, "per request")
    assert found["itl"] == (pytest.approx(1100 / 101), 101, "pooled")


def test_answers_of_one_token_have_no_time_per_token_and_no_figure_of_it(tmp_path: Path) -> None:
    one = [{"ttft": 20 + i, "tokens": 1} for i in range(100)]
    made = stored(
        tmp_path, saved(tmp_path, run(*one, mean_tpot_ms=0.0, median_tpot_ms=0.0, p99_tpot_ms=0.0, mean_ttft_ms=69.5))
    )
    assert rows(made, "SELECT count(ttft_ms), count(tpot_ms), min(tpot_why) FROM request_metric") == [
        (100, 0, "no token after the first chunk")
    ]
    assert rows(made, "SELECT count(*) FROM as_printed WHERE tool = 'vLLM bench' AND metric IN ('tpot', 'itl')") == [
        (0,)
    ]
    assert rows(made, "SELECT metric, statistic FROM tool_figure WHERE unit = 'ms'") == [("ttft", "mean")]


def test_empty_successes_are_counted_and_left_out_of_times_per_token(tmp_path: Path) -> None:
    full = {"ttft": 20, "gaps": [10, 10], "tokens": 3}
    empty = {"ttft": 20, "tokens": 0, "text": ""}
    made = stored(tmp_path, saved(tmp_path, run(*(empty if i in (238, 288) else full for i in range(300)))))
    assert rows(made, "SELECT outcome, count(*) FROM attempt WHERE output_tokens = 0 GROUP BY 1") == [("ok", 2)]
    assert rows(made, "SELECT count(tpot_ms), count(ttft_ms) FROM request_metric") == [(298, 298)]
    assert rows(
        made,
        "SELECT n FROM as_printed WHERE tool = 'vLLM bench' AND metric = 'tpot' AND statistic = 'mean' AND load_point = '8/s'",
    ) == [(298,)]


# -- failures -----------------------------------------------------------------------------------------------------------


def test_a_stream_that_breaks_off_keeps_what_had_come_and_has_no_end(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10, 10], "error": TRACEBACK, "tokens": 0})))
    assert rows(
        made,
        "SELECT outcome, error_type, client_last_content_ns - client_sent_ns, client_done_ns, output_tokens FROM attempt",
    ) == [("truncated", "ClientPayloadError", 40_000_000, None, None)]


def test_an_error_frame_after_five_chunks_is_no_success(tmp_path: Path) -> None:
    frame = {"ttft": 20, "gaps": [10] * 4, "tokens": 0, "error": '{"code": 500, "message": "x"}'}
    made = stored(tmp_path, saved(tmp_path, run(frame, backend="openai-responses", endpoint_type="openai-responses")))
    assert rows(made, "SELECT outcome, error_type, output_tokens FROM attempt") == [("error", "error frame", None)]
    assert rows(made, "SELECT count(*) FROM as_printed WHERE statistic <> 'value'") == [(0,)]


def test_a_success_without_any_message_is_none(tmp_path: Path) -> None:
    # Before 0.32 a chat stream of nothing but an error frame counted as completed, with a latency of 0.
    made = stored(
        tmp_path,
        saved(
            tmp_path, old({"ttft": 0, "tokens": 0, "text": ""}, {"ttft": 20, "gaps": [10]}, endpoint_type="openai-chat")
        ),
    )
    assert rows(made, "SELECT outcome, error_type FROM attempt ORDER BY request_id") == [
        ("error", "no content"),
        ("ok", None),
    ]
    assert (
        "1 requests without any message and without an error are errors here; the tool counts them as completed"
        in "; ".join(notes(made))
    )
    assert "8/s: its completed is 2 and its requests give 1" in notes(made)


def test_an_answer_that_did_not_stream_has_no_first_content_and_is_no_failure(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, old({"ttft": 0, "tokens": 40}, mean_ttft_ms=0.0, p99_ttft_ms=0.0)))
    assert rows(made, "SELECT outcome, output_tokens FROM attempt") == [("ok", 40)]
    assert rows(made, "SELECT ttft_ms FROM request_metric") == [(None,)]
    assert rows(made, "SELECT count(*) FROM tool_figure WHERE unit = 'ms'") == [(0,)]


def test_a_request_that_never_began_keeps_its_outcome(tmp_path: Path) -> None:
    made = stored(
        tmp_path,
        saved(
            tmp_path, run({"ttft": 20, "gaps": [10]}, {"ttft": 0, "sent": 0, "tokens": 0, "error": "Too Many Requests"})
        ),
    )
    assert rows(made, "SELECT client_clock_kind, outcome FROM attempt ORDER BY request_id") == [
        ("monotonic", "ok"),
        ("duration", "rejected"),
    ]


# -- schedules, clocks, operating points ----------------------------------------------------------------------------------


def test_the_wait_in_the_client_is_part_of_an_open_loop(tmp_path: Path) -> None:
    made = stored(
        tmp_path,
        saved(
            tmp_path,
            run(
                {"ttft": 20, "gaps": [10], "sent": 5000, "queue": 1850},
                request_rate=30.0,
                max_concurrency=16,
                max_concurrent_requests=31,
            ),
        ),
    )
    found = rows(made, "SELECT load_point, ttft_ms, ttft_scheduled_ms FROM request_metric")
    assert found == [("30/s, at most 16 at once", 20.0, 1870.0)]
    assert "30/s, at most 16 at once: it states 31 requests at once with a limit of 16: it counts by seconds" in notes(
        made
    )


@pytest.mark.parametrize(
    ("changes", "point", "scheduled"),
    [
        ({"request_rate": "inf", "max_concurrency": 16}, "concurrency 16", 0),
        ({"request_rate": "inf"}, "all at once", 0),
        ({"request_rate": 0.25}, "0.25/s", 1),
        (
            {"request_rate": "inf", "ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 10},
            "linear ramp 1 to 10/s",
            1,
        ),
    ],
)
def test_only_a_rate_or_a_ramp_is_a_schedule(
    tmp_path: Path, changes: dict[str, Any], point: str, scheduled: int
) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10]}, **changes)))
    assert rows(made, "SELECT load_point, count(client_scheduled_ns) FROM attempt GROUP BY 1") == [(point, scheduled)]


def test_runs_appended_to_one_file_are_points_of_their_own(tmp_path: Path) -> None:
    one, two = (
        run({"ttft": 20, "gaps": [10]}, mean_ttft_ms=20.0),
        run({"ttft": 30, "gaps": [10]}, {"ttft": 40, "gaps": [10]}, mean_ttft_ms=35.0),
    )
    made = stored(tmp_path, saved(tmp_path, one, two, run({"ttft": 50, "gaps": [10]}, request_rate=16.0)))
    assert rows(made, "SELECT load_point, offered FROM ledger WHERE load_point <> '(all)' ORDER BY 1") == [
        ("16/s", 1),
        ("8/s", 1),
        ("8/s #2", 2),
    ]
    ours = "SELECT load_point, round(value, 9) FROM as_printed WHERE tool = 'vLLM bench' AND metric = 'ttft' AND statistic = 'mean' AND load_point LIKE '8/s%' ORDER BY 1"
    assert rows(made, ours) == [("8/s", 20.0), ("8/s #2", 35.0)]
    assert rows(made, "SELECT load_point, value FROM tool_figure WHERE metric = 'ttft' ORDER BY 1") == [
        ("8/s", 20.0),
        ("8/s #2", 35.0),
    ]
    assert rows(made, "SELECT count(DISTINCT request_id) FROM attempt") == [(4,)]


def test_an_old_file_tells_how_long_and_not_when(tmp_path: Path) -> None:
    made = stored(
        tmp_path,
        saved(
            tmp_path,
            old({"ttft": 20, "gaps": [10, 12.5], "tokens": 3}, {"ttft": 0, "tokens": 0, "error": "Too Many Requests"}),
        ),
    )
    assert rows(made, "SELECT outcome, client_clock_kind, client_sent_ns, client_done_ns FROM attempt ORDER BY request_id") == [
        ("ok", "duration", 0, 42_500_000), ("rejected", "duration", 0, None),
    ]  # fmt: skip
    assert rows(made, "SELECT basis, length_s FROM run_window") == [
        ("none: no request has a time that places it", None)
    ]
    assert rows(made, "SELECT client_input_tokens, retokenized_input_tokens FROM attempt WHERE outcome = 'ok'") == [
        (None, 10)
    ]


def test_the_monotonic_clocks_of_two_files_are_two(tmp_path: Path) -> None:
    files = [saved(tmp_path, run({"ttft": ttft, "gaps": [10]}), name=f"{ttft}.json") for ttft in (20, 30)]
    made = stored(tmp_path, *files)
    assert rows(made, "SELECT count(DISTINCT client_clock) FROM attempt") == [(2,)]
    assert rows(made, "SELECT basis FROM run_window") == [("none: monotonic clocks of several hosts",)]


def test_an_answer_in_one_piece_has_only_its_end(tmp_path: Path) -> None:
    pooled = {
        key: value
        for key, value in run({"ttft": 20}, {"ttft": 30}).items()
        if key not in ("ttfts", "itls", "output_lens", "start_times", "generated_texts")
    }
    made = stored(
        tmp_path, saved(tmp_path, pooled | {"backend": "openai-embeddings", "endpoint_type": "openai-embeddings"})
    )
    assert rows(made, "SELECT ttft_why, e2e_ms FROM request_metric ORDER BY request_id") == [
        ("not streamed", 20.0),
        ("not streamed", 30.0),
    ]


def test_a_length_of_one_without_a_tokenizer_is_no_count(tmp_path: Path) -> None:
    uncounted = run({"ttft": 20, "gaps": [10] * 5, "tokens": 1}) | {"tokenizer_id": None}
    made = stored(tmp_path, saved(tmp_path, uncounted))
    assert rows(made, "SELECT output_tokens FROM attempt") == [(None,)]


def test_a_message_of_several_tokens_is_said_to_be_one(tmp_path: Path) -> None:
    made = stored(
        tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [9] * 4, "tokens": 15}, spec_decode_acceptance_length=3.0))
    )
    assert "8/s: a step of the server accepts 3 tokens: the gaps between messages are no times between tokens" in notes(
        made
    )
    assert rows(made, "SELECT DISTINCT kind FROM inter_token") == [("icl",)]


# -- files that are not what they seem --------------------------------------------------------------------------------------


def test_a_torn_file_leaves_nothing_behind(tmp_path: Path) -> None:
    text = json.dumps(run({"ttft": 20, "gaps": [10]}))
    torn = saved(tmp_path, text[: len(text) * 9 // 10])
    made = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(SourceError, match="no run that can be read: torn"):
        ingest.ingest_files(made, ingest.find([str(torn)])[0])
    assert rows(made, "SELECT count(*) FROM event") == [(0,)]


def test_a_torn_last_run_is_refused_and_the_ones_before_are_kept(tmp_path: Path) -> None:
    whole = run({"ttft": 20, "gaps": [10]})
    made = stored(tmp_path, saved(tmp_path, whole, json.dumps(whole)[:-40]))
    assert rows(made, "SELECT records FROM source_file") == [(2,)]
    (refused,) = rows(made, "SELECT position, reason, sample FROM refused")
    assert refused[:2] == (f"line 2, byte {len(json.dumps(whole)) + 1}", "torn: the file ends inside it")
    assert "a b" not in refused[2]


def test_lists_of_different_lengths_are_given_to_nobody(tmp_path: Path) -> None:
    uneven = run({"ttft": 20, "gaps": [10]}, {"ttft": 20, "gaps": [10]})
    uneven["errors"].pop()
    with pytest.raises(SourceError, match=r"not of one length.*2 ttfts.*1 errors"):
        stored(tmp_path, saved(tmp_path, uneven))


@pytest.mark.parametrize("odd", [-0.5, "soon", True, [1], float("nan"), float("inf"), 10**400])
def test_a_time_that_is_none_refuses_its_request_and_no_other(tmp_path: Path, odd: Any) -> None:
    bad = run({"ttft": 20, "gaps": [10]}, {"ttft": 20, "gaps": [10]}, {"ttft": 20, "gaps": [10]})
    bad["ttfts"][0] = odd
    bad["itls"][1] = [odd]
    made = stored(tmp_path, saved(tmp_path, bad))
    assert rows(made, "SELECT records FROM source_file") == [(3,)]
    assert rows(made, "SELECT position, reason FROM refused ORDER BY 1") == [
        ("line 1, byte 0, request 1", "ttfts holds what is no time"),
        ("line 1, byte 0, request 2", "a gap between its messages is no time"),
    ]
    assert rows(made, "SELECT outcome FROM attempt") == [("ok",)]


def test_hostile_names_and_counts_are_only_names_and_no_counts(tmp_path: Path) -> None:
    hostile = run(
        {"ttft": 20, "gaps": [10]},
        model_id="m'); DROP TABLE event; --\ud800\u0000",
        input_lens=[10**30],
        output_lens=[-4],
    )
    made = stored(tmp_path, saved(tmp_path, hostile))
    assert rows(made, "SELECT outcome, input_tokens, output_tokens FROM attempt") == [("ok", None, None)]


def test_keys_that_the_user_added_change_nothing(tmp_path: Path) -> None:
    made = stored(
        tmp_path, saved(tmp_path, {"tag": "nightly", "dataset_name": "mine"} | run({"ttft": 20, "gaps": [10]}))
    )
    assert rows(made, "SELECT tool FROM source_file") == [("vllm bench serve",)]


def test_a_file_without_any_request_is_read_as_such(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run(num_prompts=5)))
    assert rows(made, "SELECT records FROM source_file") == [(0,)]
    assert "8/s: its num_prompts is 5 and its requests give 0" in notes(made)


def test_many_messages_are_handed_on_in_parts(tmp_path: Path) -> None:
    source = sources.named("vllm_bench")
    file = saved(tmp_path, run(*({"ttft": 20, "gaps": [1.0] * 2000} for _ in range(120))))
    pieces = list(source.read(file, sources.Options("x")))
    assert sum(piece.records for piece in pieces) == 120
    assert [piece.records for piece in pieces if piece.records] == [50, 50, 20]


def test_an_exact_sum_of_gaps_is_rounded_once(tmp_path: Path) -> None:
    gaps = [0.4000004] * 1000
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": gaps, "sent": 1702864.342089})))
    seconds = Decimal(repr(1702864.342089 / 1e3)) + Decimal(repr(20 / 1e3)) + 1000 * Decimal(repr(0.4000004 / 1e3))
    assert rows(made, "SELECT client_last_content_ns FROM attempt") == [(nanoseconds(seconds),)]
    assert statistics.fmean(gaps) == pytest.approx(0.4000004)


def test_whatever_bytes_a_file_holds_every_request_is_taken_or_refused(tmp_path: Path) -> None:
    whole = run(
        {"ttft": 20, "gaps": [10, 11.5]},
        {"ttft": 0, "error": TRACEBACK, "tokens": 0},
        endpoint_type="openai-chat",
        mean_ttft_ms=20.0,
    )
    rng = random.Random(5)  # noqa: S311 (the same cases every time)
    taken, file = 0, tmp_path / "x.json"
    for _ in range(300):
        file.write_bytes(mutated(json.dumps(whole).encode(), rng))
        taken += balanced(sources.named("vllm_bench"), file)
    assert taken > 100
