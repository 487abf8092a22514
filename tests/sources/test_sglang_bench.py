"""SGLang's load generator: durations without a time of day, lengths that may only have been asked for, zeros for nothing."""

from __future__ import annotations

import json
import random
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
    """A run as 0.5.23 saves it, from requests of ms: ttft and gaps."""
    listed = [{"error": "", "text": "a b", "tokens": 2, "gaps": [], **request} for request in requests]
    ok = [request for request in listed if not request["error"]]
    return {
        "tag": None, "backend": "sglang-oai-chat", "dataset_name": "sharegpt", "request_rate": 8.0, "max_concurrency": None,
        "sharegpt_output_len": None, "random_input_len": 1024, "random_output_len": 1024, "random_range_ratio": 0.0,
        "server_info": None, "duration": 10.0, "completed": len(ok), "total_input_tokens": 10 * len(ok),
        "total_output_tokens": sum(r["tokens"] for r in ok), "total_output_tokens_retokenized": sum(r["tokens"] for r in ok),
        "request_throughput": len(ok) / 10.0, "concurrency": 1.0, "accept_length": None, "max_concurrent_requests": 1,
        "input_lens": [10] * len(listed), "output_lens": [r["tokens"] for r in listed], "ttfts": [r["ttft"] / 1e3 for r in listed],
        "itls": [[gap / 1e3 for gap in r["gaps"]] for r in listed], "generated_texts": [r["text"] for r in listed],
        "errors": [r["error"] for r in listed],
        **changes,
    }  # fmt: skip


def notes(made: Store) -> str:
    (found,) = rows(made, "SELECT note FROM source_file")
    return found[0] or ""


# -- the real file ----------------------------------------------------------------------------------------------------


@pytest.fixture
def file(shared_data: Path) -> Path:
    return shared_data / "made" / "sglang-bench" / "rate8.jsonl"


@pytest.fixture
def made(file: Path, tmp_path: Path) -> Store:
    return stored(tmp_path, file)


@pytest.mark.shared
def test_every_request_of_the_real_file_has_one_outcome(made: Store, file: Path) -> None:
    found = rows(made, "SELECT load_point, offered, ok, error, truncated FROM ledger WHERE load_point <> '(all)'")
    assert found == [("8/s", 100, 96, 1, 3)]
    assert found[0][2] == exact(file)["completed"]
    assert rows(made, "SELECT tool, records, set_aside FROM source_file") == [("sglang.bench_serving", 100, 0)]
    assert rows(made, "SELECT count(*) FROM refused") == [(0,)]
    kinds = rows(
        made, "SELECT error_type, status_code, count(*) FROM attempt WHERE outcome <> 'ok' GROUP BY ALL ORDER BY 3"
    )
    assert kinds == [("Internal Server Error", 500, 1), ("ClientPayloadError", None, 3)]


@pytest.mark.shared
def test_the_real_boundaries_are_exact(made: Store, file: Path) -> None:
    told = exact(file)
    # The first request, one that broke off with part of its answer, one that broke off before.
    for position in (1, 10, 3):
        messages = [told["ttfts"][position - 1]] if told["ttfts"][position - 1] else []
        for gap in told["itls"][position - 1]:
            messages.append(messages[-1] + gap)
        found = made.fetch("SELECT event, time_ns FROM event WHERE position = ? ORDER BY time_ns", [position])
        boundaries = {row["event"]: row["time_ns"] for row in found if row["event"] != "content"}
        expected = {"sent": 0}
        if messages:
            expected |= {"first_content": nanoseconds(messages[0]), "last_content": nanoseconds(messages[-1])}
        assert boundaries == expected
        assert [row["time_ns"] for row in found if row["event"] == "content"] == [
            nanoseconds(time) for time in messages
        ]


@pytest.mark.shared
def test_the_tool_s_own_summary_is_reproduced_but_for_what_needs_the_end_of_the_stream(made: Store, file: Path) -> None:
    cells = printed(made, "SGLang bench")
    told = json.loads(file.read_text())
    expected = {
        (metric, statistic): told[f"{'median' if statistic == 'p50' else statistic}_{metric}_ms"]
        for metric in ("ttft", "tpot", "itl", "e2e_latency")
        for statistic in ("mean", "std", "p50", "p90", "p95", "p99")
    }
    assert {cell: value for cell, (value, _) in cells.items()} == expected
    # tpot and e2e_latency end with the stream, and no list of the file tells when that was.
    missing = {cell for cell, (_, ours) in cells.items() if ours is None}
    assert missing == {cell for cell in expected if cell[0] in ("tpot", "e2e_latency")}
    for cell in expected.keys() - missing:
        assert cells[cell][1] == pytest.approx(expected[cell], rel=1e-6), cell


@pytest.mark.shared
def test_the_limits_of_goodput_are_settings_and_its_results_are_printed(made: Store) -> None:
    found = rows(
        made,
        "SELECT kind, metric, value, unit FROM tool_figure WHERE metric LIKE 'limit %' OR metric LIKE 'slo%' OR metric = 'duration' ORDER BY metric",
    )
    assert found == [
        ("setting", "duration", 15.599695426000153, "s"),
        ("setting", "limit tpot", 10.0, "ms"),
        ("setting", "limit ttft", 60.0, "ms"),
        ("printed", "slo_attainment", 0.8, "ratio"),
        ("printed", "slo_attainment_by_metric tpot", 0.91, "ratio"),
        ("printed", "slo_attainment_by_metric ttft", 0.85, "ratio"),
    ]


@pytest.mark.shared
def test_two_counts_of_the_input_in_one_object_are_told_apart(made: Store) -> None:
    assert rows(made, "SELECT outcome = 'ok', sum(client_input_tokens), sum(retokenized_input_tokens) FROM attempt GROUP BY 1 ORDER BY 1") == [
        (False, None, 11331 - 10690), (True, 10690, None),
    ]  # fmt: skip
    assert (
        "8/s: its total_input_tokens, 24320, is the tool's own count; its input lengths add up to 10690, the server's"
        in notes(made)
    )


@pytest.mark.shared
def test_durations_have_no_window_and_no_end(made: Store, file: Path) -> None:
    assert rows(made, "SELECT basis, length_s FROM run_window") == [
        ("none: no request has a time that places it", None)
    ]
    assert rows(made, "SELECT count(e2e_ms), count(ttft_ms), count(tpot_ms) FROM request_metric") == [
        (0, sum(ttft > 0 for ttft in exact(file)["ttfts"]), 96)
    ]


@pytest.mark.shared
def test_the_same_run_without_its_requests_is_refused_with_the_option_that_saves_them(
    file: Path, tmp_path: Path
) -> None:
    told = json.loads(file.read_text())
    for key in ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors"):
        del told[key]
    summary = saved(tmp_path, told)
    assert sources.recognise(summary) is None
    with pytest.raises(SourceError, match="without its requests: --output-details saves them"):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), ingest.find([str(summary)])[0])


# -- zeros, and lengths that nobody counted -------------------------------------------------------------------------------


def test_zeros_in_every_request_were_not_measured(tmp_path: Path) -> None:
    zeros = {
        f"{statistic}_{metric}_ms": 0.0 for metric in ("ttft", "itl") for statistic in ("mean", "median", "std", "p99")
    }
    silent = run(
        *[{"ttft": 0, "text": "", "tokens": 1000}] * 300,
        mean_e2e_latency_ms=4760.0,
        mean_tpot_ms=4.76,
        total_output_tokens_retokenized=0,
        **zeros,
    )
    made = stored(tmp_path, saved(tmp_path, silent))
    assert rows(
        made, "SELECT outcome, count(*), count(output_tokens), count(client_first_content_ns) FROM attempt GROUP BY 1"
    ) == [("ok", 300, 0, 0)]
    assert rows(made, "SELECT count(*) FROM metric_value WHERE metric = 'ttft' AND low IS NOT NULL") == [(0,)]
    assert rows(made, "SELECT count(*) FROM as_printed WHERE tool = 'SGLang bench' AND statistic <> 'value'") == [(0,)]
    assert rows(made, "SELECT metric FROM tool_figure WHERE unit = 'ms' ORDER BY 1") == [("e2e_latency",), ("tpot",)]
    assert "none of 300 requests shows any content" in notes(made)


def test_an_error_before_the_first_token_is_not_credited_with_the_length_that_was_asked_for(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 0, "text": "", "tokens": 1024}, {"ttft": 20, "gaps": [10]})))
    assert rows(made, "SELECT outcome, error_type, output_tokens FROM attempt ORDER BY request_id") == [
        ("error", "no content", None),
        ("ok", None, 2),
    ]
    assert "1 requests without content are errors here" in notes(made)
    assert "its completed is 2 and its requests give 1" in notes(made)


def test_an_answer_that_the_server_counts_as_empty_is_an_empty_success(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 0, "text": "", "tokens": 0}, {"ttft": 20, "gaps": [10]})))
    assert rows(made, "SELECT outcome, output_tokens FROM attempt ORDER BY request_id") == [("ok", 0), ("ok", 2)]


def test_a_backend_that_never_counts_has_no_output_lengths(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10], "tokens": 128}, backend="truss")))
    assert rows(made, "SELECT output_tokens FROM attempt") == [(None,)]
    assert "1 output lengths are those that were asked for, and are left out" in notes(made)


def test_lengths_far_above_the_text_are_pointed_out(tmp_path: Path) -> None:
    made = stored(
        tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10], "tokens": 128}, total_output_tokens_retokenized=40))
    )
    assert (
        "add up to 128 and its own count of the texts to 40: lengths may be those that were asked for, or texts not"
        in notes(made)
    )


def test_without_a_count_of_its_own_the_input_belongs_to_nobody(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10]}, total_input_tokens=0)))
    assert rows(made, "SELECT input_tokens FROM attempt") == [(None,)]


# -- messages and tokens ------------------------------------------------------------------------------------------------


def test_gaps_that_were_spread_over_tokens_are_no_messages(tmp_path: Path) -> None:
    spread = {"ttft": 20, "gaps": [9.0, 4.0, 4.0, 4.0], "tokens": 5}
    made = stored(
        tmp_path, saved(tmp_path, run(spread, {"ttft": 20, "gaps": [9.0, 8.0], "tokens": 3}, backend="sglang"))
    )
    assert rows(made, "SELECT count(*) FROM content") == [(0,)]
    assert rows(made, "SELECT client_first_content_ns, client_last_content_ns FROM attempt ORDER BY request_id") == [
        (20_000_000, 41_000_000),
        (20_000_000, 37_000_000),
    ]
    assert rows(made, "SELECT tpot_ms FROM request_metric ORDER BY request_id") == [(5.25,), (8.5,)]
    assert "gaps were spread over the tokens of a message" in notes(made)


def test_gaps_that_all_differ_were_not_spread(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [9.0, 8.0], "tokens": 3}, backend="sglang")))
    assert rows(made, "SELECT gap_ms FROM inter_token ORDER BY 1") == [(8.0,), (9.0,)]


def test_the_same_gap_twice_is_two_messages_where_nothing_is_spread(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [9.0, 9.0], "tokens": 3})))
    assert rows(made, "SELECT count(*) FROM content") == [(3,)]


def test_a_step_of_several_tokens_is_said_to_be_one(tmp_path: Path) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [9] * 4, "tokens": 15}, accept_length=3.0)))
    assert "a step of the server accepts 3 tokens: the gaps between messages are no times between tokens" in notes(made)
    assert rows(made, "SELECT DISTINCT kind FROM inter_token") == [("icl",)]


def test_answers_in_one_piece_have_an_end_and_no_first_content(tmp_path: Path) -> None:
    whole = run({"ttft": 400, "tokens": 40}, {"ttft": 600, "tokens": 60}, mean_ttft_ms=500.0, mean_e2e_latency_ms=500.0)
    made = stored(tmp_path, saved(tmp_path, whole))
    assert rows(made, "SELECT ttft_why, e2e_ms FROM request_metric ORDER BY request_id") == [
        ("not streamed", 400.0),
        ("not streamed", 600.0),
    ]


def test_streams_of_one_message_are_streams(tmp_path: Path) -> None:
    short = run({"ttft": 400, "tokens": 1}, {"ttft": 600, "tokens": 1}, mean_ttft_ms=500.0, mean_e2e_latency_ms=520.0)
    made = stored(tmp_path, saved(tmp_path, short))
    assert rows(made, "SELECT ttft_ms, e2e_ms FROM request_metric ORDER BY request_id") == [
        (400.0, None),
        (600.0, None),
    ]


# -- runs and files -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "point"),
    [
        ({"request_rate": float("inf"), "max_concurrency": 16}, "concurrency 16"),
        ({"request_rate": float("inf")}, "all at once"),
        ({"request_rate": 30.0, "max_concurrency": 16, "max_concurrent_requests": 33}, "30/s, at most 16 at once"),
        ({"request_rate": "trace"}, "trace"),
    ],
)
def test_the_operating_point_is_in_words(tmp_path: Path, changes: dict[str, Any], point: str) -> None:
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20, "gaps": [10]}, **changes)))
    assert rows(made, "SELECT load_point FROM attempt") == [(point,)]
    assert ("states 33 requests at once with a limit of 16" in notes(made)) == ("max_concurrent_requests" in changes)


def test_runs_of_one_file_are_points_of_their_own(tmp_path: Path) -> None:
    made = stored(
        tmp_path,
        saved(tmp_path, run({"ttft": 20}), run({"ttft": 30}, {"ttft": 40}), run({"ttft": 50}, request_rate=16.0)),
    )
    assert rows(made, "SELECT load_point, offered FROM ledger WHERE load_point <> '(all)' ORDER BY 1") == [
        ("16/s", 1),
        ("8/s", 1),
        ("8/s #2", 2),
    ]


def test_a_summary_among_runs_is_refused_by_itself(tmp_path: Path) -> None:
    summary = {key: value for key, value in run({"ttft": 20}).items() if not isinstance(value, list)}
    made = stored(tmp_path, saved(tmp_path, summary, run({"ttft": 20})))
    assert rows(made, "SELECT records FROM source_file") == [(2,)]
    assert rows(made, "SELECT reason FROM refused") == [
        ("it holds the summary of sglang.bench_serving without its requests: --output-details saves them",)
    ]


def test_lists_that_follow_a_long_description_of_the_server_are_found(tmp_path: Path) -> None:
    info = {"served_model_name": "mine", "internal_states": [{"x": "y" * 200_000}]}
    made = stored(tmp_path, saved(tmp_path, run({"ttft": 20}, server_info=info)))
    assert rows(made, "SELECT model FROM attempt") == [("mine",)]


def test_a_text_that_quotes_the_lists_does_not_make_a_summary_a_run(tmp_path: Path) -> None:
    summary = {
        key: value for key, value in run({"ttft": 20}, tag='{"itls": [1]}').items() if not isinstance(value, list)
    }
    assert sources.recognise(saved(tmp_path, summary)) is None


def test_a_torn_file_leaves_nothing_behind(tmp_path: Path) -> None:
    text = json.dumps(run({"ttft": 20, "gaps": [10], "text": "secret"}))
    torn = saved(tmp_path, text[: text.index("generated_texts") + 20])
    with pytest.raises(SourceError, match="no run that can be read: torn") as fault:
        stored(tmp_path, torn)
    assert "secret" not in str(fault.value)


@pytest.mark.parametrize("odd", ["soon", -1.0, [[1]], float("nan")])
def test_a_value_that_is_no_time_refuses_its_request(tmp_path: Path, odd: Any) -> None:
    bad = run({"ttft": 20, "gaps": [10]}, {"ttft": 20, "gaps": [10]}, {"ttft": 20, "gaps": [10]}, backend="sglang")
    bad["ttfts"][0] = odd
    bad["itls"][1] = "none"
    made = stored(tmp_path, saved(tmp_path, bad))
    assert rows(made, "SELECT records FROM source_file") == [(3,)]
    assert rows(made, "SELECT reason FROM refused ORDER BY position") == [
        ("ttfts holds what is no time",),
        ("itls holds what is no list",),
    ]
    assert rows(made, "SELECT outcome FROM attempt") == [("ok",)]


def test_cached_tokens_are_kept_where_the_tool_was_asked_for_them(tmp_path: Path) -> None:
    made = stored(
        tmp_path, saved(tmp_path, run({"ttft": 20}, {"ttft": 0, "tokens": 0, "error": TRACEBACK}, cached_tokens=[8, 0]))
    )
    assert rows(made, "SELECT outcome, cached_tokens FROM attempt ORDER BY request_id") == [
        ("ok", 8),
        ("truncated", None),
    ]


def test_whatever_bytes_a_file_holds_every_request_is_taken_or_refused(tmp_path: Path) -> None:
    whole = run(
        {"ttft": 20, "gaps": [10, 11.5]},
        {"ttft": 0, "error": TRACEBACK, "tokens": 0},
        backend="sglang",
        mean_ttft_ms=20.0,
        goodput_slos_ms={"ttft": 60.0},
    )
    rng = random.Random(5)  # noqa: S311 (the same cases every time)
    taken, file = 0, tmp_path / "x.jsonl"
    for _ in range(300):
        file.write_bytes(mutated(json.dumps(whole).encode(), rng))
        taken += balanced(sources.named("sglang_bench"), file)
    assert taken > 100
