"""inference-perf's requests: every message's time, stages by what its other reports show, and what the tool loses."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from building import TOTAL, rows
from reproducing import balanced, cells, notes, read

from analyzer import ingest, sources
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
POINTS = ("stage 0, 4.131/s", "stage 1, 13.77/s")
STATISTICS = {"mean", "min", "max", "p0.1", "p1", "p5", "p10", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9"}
METRICS = {
    "request_latency", "normalized_time_per_output_token", "time_per_output_token", "time_to_first_token",
    "inter_token_latency",
}  # fmt: skip


@pytest.fixture(scope="module")
def reports(shared_data: Path) -> Path:
    return shared_data / "made" / "inference-perf" / "reports"


@pytest.fixture(scope="module")
def made(reports: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(tmp_path_factory.mktemp("made"), reports / "per_request_lifecycle_metrics.json")


def chunk(delta: Row) -> str:
    return json.dumps({"id": "chatcmpl-7", "choices": [{"index": 0, "delta": delta}]})


def stream(*bodies: str) -> str:
    return "".join(f"data: {body}\n\n" for body in (*bodies, "[DONE]"))


def request(start: float = 10.0, end: float = 11.0, error: Any = None, **response_metrics: Any) -> Row:
    """A request of version 0.7; `text` is its raw stream."""
    text = response_metrics.pop("text", None)
    info = {"request_metrics": {"text": {"input_tokens": 5}}, "response_metrics": response_metrics or None}
    asked = json.dumps({"model": "m", "stream": True})
    return {"start_time": start, "end_time": end, "request": asked, "response": text, "info": info, "error": error}


def given(folder: Path, listed: Any, name: str = "per_request_lifecycle_metrics.json") -> Store:
    """A store of such a report with these elements, or this text."""
    path = folder / name
    path.write_text(listed if isinstance(listed, str) else json.dumps(listed), encoding="utf-8")
    return read(folder, path)


# -- the tool's real run -------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_every_request_has_the_outcome_and_the_stage_that_the_tools_own_reports_count(made: Store) -> None:
    # failures.by_label of stage_0: payload 4, 429 2, 500 2; of stage_1: 500 6, payload 6, 429 3, timeout 2.
    found = rows(
        made,
        "SELECT load_point, offered, ok, rejected, timeout, cancelled, error, truncated FROM ledger WHERE load_point <> '(all)' ORDER BY 1",
    )
    assert found == [(POINTS[0], 100, 92, 2, 0, 0, 2, 4), (POINTS[1], 180, 163, 3, 2, 0, 6, 6)]
    assert rows(made, "SELECT tool, records, refused FROM source_file") == [("inference-perf", 280, 0)]
    assert balanced(made)


@pytest.mark.shared
def test_its_own_figures_come_out_of_its_requests_cell_by_cell(made: Store) -> None:
    same, unlike = cells(made, "inference-perf")
    assert unlike == set()
    assert same == {(point, metric, name) for point in (*POINTS, "(all)") for metric in METRICS for name in STATISTICS}


@pytest.mark.shared
def test_boundaries_are_the_stamps_of_the_file_to_the_nanosecond(made: Store) -> None:
    found = rows(
        made,
        "SELECT client_sent_ns, client_first_content_ns, client_first_answer_ns, client_last_content_ns, client_done_ns, client_clock_kind"
        " FROM attempt ORDER BY client_sent_ns LIMIT 1",
    )
    assert found == [(1365536503203, 1365556487045, 1365556487045, 1365710641742, 1365711310336, "monotonic")]
    # A timeout, which the tool ended after 5.577499705 s.
    assert rows(made, "SELECT max(e2e_ms) FROM attempt_metric") == [(pytest.approx(5577.499705, abs=1e-6),)]


@pytest.mark.shared
def test_the_servers_tokens_win_and_the_tools_own_count_stands_beside(reports: Path, made: Store) -> None:
    listed = json.loads((reports / "per_request_lifecycle_metrics.json").read_text())
    told = [row["info"]["response_metrics"] for row in listed if row["error"] is None]
    server = sum(answer["server_usage"]["completion_tokens"] for answer in told)
    found = rows(
        made,
        "SELECT sum(output_tokens), sum(retokenized_output_tokens), sum(cached_tokens), count(*) FILTER (token_basis <> 'client'),"
        " count(*) FILTER (first_chunk_tokens IS NOT NULL) FROM attempt WHERE outcome = 'ok'",
    )
    cached = sum(answer["server_usage"]["prompt_tokens_details"]["cached_tokens"] for answer in told)
    assert found == [(server, sum(answer["output_tokens"] for answer in told), cached, 0, 0)]
    # The failed ones say 0 tokens, which nobody counted.
    assert rows(made, "SELECT count(input_tokens), count(output_tokens) FROM attempt WHERE outcome <> 'ok'") == [(0, 0)]
    chunks = sum(len(answer["chunk_times"]) for answer in told)
    assert rows(made, "SELECT count(*), count(DISTINCT kind), min(kind) FROM message") == [(chunks, 1, "text")]


@pytest.mark.shared
def test_the_servers_id_of_an_answer_is_kept_also_of_a_broken_one(made: Store) -> None:
    found = rows(made, "SELECT count(*) FROM event WHERE response_id IS NOT NULL")
    # 255 whole answers and 7 that broke after they had begun.
    assert found == [(262,)]
    assert rows(made, "SELECT DISTINCT model FROM attempt") == [("mock-model",)]


@pytest.mark.shared
def test_what_the_tool_loses_and_hides_is_said_with_counts(made: Store) -> None:
    said = notes(made)
    assert "failed requests that had begun to answer, of which the tool keeps no time and no token: 7" in said
    assert "stage 1 sent 13.77/s, 115 % of the 12/s asked for" in said
    assert "the tool's goodput of 100.0 % in stage 0 is of successes, and 92.0 % of all requests" in said
    assert "the tool's goodput of 81.6 % in stage 1 is of successes, and 73.9 % of all requests" in said


@pytest.mark.shared
def test_its_limits_and_lengths_are_settings(made: Store) -> None:
    found = rows(
        made,
        "SELECT coalesce(load_point, ''), metric, value, unit FROM tool_figure WHERE kind = 'setting' AND metric <> 'duration' ORDER BY ALL",
    )
    assert found == [
        ("", "limit tpot", 10.0, "ms"), ("", "limit ttft", 60.0, "ms"),
        (POINTS[0], "requested_rate", 4.0, "/s"), (POINTS[1], "requested_rate", 12.0, "/s"),
    ]  # fmt: skip
    lengths = rows(made, f"SELECT value FROM tool_figure WHERE metric = 'duration' AND load_point = '{POINTS[0]}'")
    assert lengths == [(24.46103056800007,)]


@pytest.mark.shared
def test_prompts_and_answers_never_reach_the_store(reports: Path, tmp_path: Path) -> None:
    read(tmp_path, reports / "per_request_lifecycle_metrics.json")
    kept = (tmp_path / "s.duckdb").read_bytes()
    assert b"helmfile" not in kept
    assert b"injected" not in kept


@pytest.mark.shared
def test_a_folder_of_reports_gives_its_requests_once_and_says_of_the_rest_what_it_is(
    reports: Path, tmp_path: Path
) -> None:
    files, _ = ingest.find([str(reports)])
    outcomes = ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)
    assert [one.label.rsplit("/", 1)[1] for one in outcomes if one.state == "read"] == [
        "per_request_lifecycle_metrics.json"
    ]
    said = {one.label.rsplit("/", 1)[1]: one.note for one in outcomes if one.state == "unknown"}
    assert said["stage_0_lifecycle_metrics.json"] == (
        "it holds inference-perf's own figures and no requests; they are read with per_request_lifecycle_metrics.json beside it"
    )
    assert "checks of its own reports" in said["validation.json"]
    assert "was told to do" in said["config.yaml"]
    assert "benchmark reports" in said["inference-perf.partial.stage_1.yaml"]


@pytest.mark.shared
def test_summaries_alone_are_refused_and_the_option_that_saves_requests_is_named(shared_data: Path) -> None:
    found = sorted((shared_data / "public" / "inference-perf-demos").glob("*/*.json"))
    assert len(found) == 12
    for path in found:
        assert sources.recognise(path) is None
        said = sources.explain(path) or ""
        assert "percentiles cannot be merged or averaged" in said
        assert "per_request to true" in said
    with pytest.raises(SourceError, match=r"per_request_lifecycle_metrics\.json that it saves"):
        ingest.ingest_files(None, ingest.find([str(found[0])])[0])  # type: ignore[arg-type]


@pytest.mark.shared
def test_reports_of_other_requests_give_neither_stages_nor_figures(reports: Path, tmp_path: Path) -> None:
    listed = json.loads((reports / "per_request_lifecycle_metrics.json").read_text())
    for name in ("stage_0", "stage_1", "summary"):
        shutil.copy(reports / f"{name}_lifecycle_metrics.json", tmp_path / f"{name}_lifecycle_metrics.json")
    made = given(tmp_path, listed[1:])
    assert rows(made, "SELECT DISTINCT load_point FROM request") == [(None,)]
    assert rows(made, "SELECT count(*) FROM tool_figure") == [(0,)]
    said = notes(made)
    assert "the summary beside the file is of other requests, and its figures were not taken" in said
    assert "which stage a request is of is not shown: counts and times of stage 0 are of others" in said


@pytest.mark.shared
def test_a_stage_is_called_by_the_rate_it_reached_and_not_by_the_one_asked_for(reports: Path, tmp_path: Path) -> None:
    shutil.copy(reports / "per_request_lifecycle_metrics.json", tmp_path)
    shutil.copy(reports / "stage_0_lifecycle_metrics.json", tmp_path)
    told = json.loads((reports / "stage_1_lifecycle_metrics.json").read_text())
    told["load_summary"]["requested_rate"] = 183.38
    (tmp_path / "stage_1_lifecycle_metrics.json").write_text(json.dumps(told))
    made = read(tmp_path, tmp_path / "per_request_lifecycle_metrics.json")
    assert rows(made, "SELECT DISTINCT load_point FROM request ORDER BY 1") == [(POINTS[0],), (POINTS[1],)]
    assert "stage 1 sent 13.77/s, 8 % of the 183.38/s asked for" in notes(made)


# -- small files ---------------------------------------------------------------------------------------------------


def test_reasoning_is_the_first_content_and_an_answer_without_text_has_no_first_answer(tmp_path: Path) -> None:
    thought: Row = {"reasoning_chunks": [chunk({"reasoning_content": "hm"})] * 2, "reasoning_chunk_times": [10.1, 10.2]}
    spoken: Row = {"response_chunks": [chunk({"content": "a"})] * 2, "chunk_times": [10.5, 10.7]}
    silent: Row = {"response_chunks": [], "chunk_times": []}
    listed = [request(output_tokens=4, **thought, **(silent if i < 3 else spoken)) for i in range(10)]
    made = given(tmp_path, listed)
    assert rows(made, "SELECT count(ttft_ms), count(ttfa_ms), min(ttft_ms), min(ttfa_ms) FROM attempt_metric") == [
        (10, 7, 100.0, 500.0)
    ]
    whys = rows(made, "SELECT ttfa_why, count(*) FROM attempt_metric WHERE ttfa_ms IS NULL GROUP BY 1")
    assert whys == [("no content came", 3)]


def test_reasoning_of_which_no_times_were_kept_leaves_the_first_content_out(tmp_path: Path) -> None:
    text = stream(chunk({"reasoning_content": "hm"}), chunk({"content": "a"}), chunk({"content": "b"}))
    answered: Row = {"response_chunks": [chunk({"content": "a"}), chunk({"content": "b"})], "chunk_times": [10.5, 10.7]}
    made = given(tmp_path, [request(text=text, output_tokens=2, **answered)])
    found = rows(made, "SELECT ttft_ms, ttft_why, ttfa_ms FROM attempt_metric")
    assert found == [(None, "not recorded", 500.0)]
    assert (
        notes(made)[-1]
        == "answers that began with reasoning, of which the tool stamped none, without a first content: 1"
    )


def test_an_answer_of_tool_calls_has_content_of_which_the_tool_keeps_no_time(tmp_path: Path) -> None:
    text = stream(chunk({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}))
    made = given(tmp_path, [request(text=text, response_chunks=[], chunk_times=[], output_tokens=0)])
    assert rows(made, "SELECT ttft_ms, ttft_why, e2e_ms FROM attempt_metric") == [(None, "not recorded", 1000.0)]
    assert notes(made)[-1] == "answers with tokens of which the tool stamped none, such as calls of tools: 1"


def test_messages_without_content_are_no_content(tmp_path: Path) -> None:
    bodies = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Hi"}), chunk({"content": "!"}),
              json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]}),
              json.dumps({"choices": [], "usage": {"completion_tokens": 2}})]  # fmt: skip
    usage: Row = {"prompt_tokens": 5, "completion_tokens": 2}
    made = given(
        tmp_path,
        [
            request(
                response_chunks=bodies,
                chunk_times=[10.005, 10.12, 10.2, 10.21, 10.9],
                output_tokens=2,
                server_usage=usage,
            )
        ],
    )
    assert rows(made, "SELECT kind, carries FROM message ORDER BY time_ns") == [
        ("role", "chunk"), ("text", "content"), ("text", "content"), ("finish", "chunk"), ("usage", "chunk"),
    ]  # fmt: skip
    assert rows(made, "SELECT ttft_ms, tpot_ms FROM attempt_metric") == [(120.0, 80.0)]


def test_time_per_token_goes_by_tokens_and_not_by_chunks(tmp_path: Path) -> None:
    times = [10 + i / 10 for i in range(1, 15)]
    made = given(
        tmp_path,
        [request(end=12.0, response_chunks=[chunk({"content": "a b"})] * 14, chunk_times=times, output_tokens=80,
                 server_usage={"completion_tokens": 65})],
    )  # fmt: skip
    assert rows(made, "SELECT tpot_ms FROM attempt_metric") == [(pytest.approx(1300 / 64),)]
    assert rows(made, "SELECT count(*) FROM content") == [(14,)]


def test_a_count_made_again_from_text_loses_to_the_servers_and_reasoning_is_inside_it(tmp_path: Path) -> None:
    usage: Row = {"completion_tokens": 107, "prompt_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 60}}
    made = given(
        tmp_path,
        [
            request(
                response_chunks=[chunk({"content": " "})] * 2,
                chunk_times=[10.1, 10.2],
                output_tokens=7,
                server_usage=usage,
            )
        ],
    )
    found = rows(made, "SELECT output_tokens, retokenized_output_tokens, reasoning_tokens, token_basis FROM attempt")
    assert found == [(107, 7, 60, "client")]


def test_without_a_servers_count_the_tools_own_gives_tokens_of_each_message(tmp_path: Path) -> None:
    times: Row = {"chunk_times": [10.1, 10.3], "output_token_times": [10.1, 10.1, 10.3], "output_tokens": 3}
    made = given(tmp_path, [request(response_chunks=[chunk({"content": "a b"}), chunk({"content": "c"})], **times)])
    assert rows(made, "SELECT tokens FROM content ORDER BY time_ns") == [(2,), (1,)]
    assert rows(made, "SELECT tpot_ms, first_chunk FROM attempt_metric") == [(200.0, "known")]


def test_an_answer_without_tokens_is_an_empty_success(tmp_path: Path) -> None:
    made = given(
        tmp_path, [request(response_chunks=[], chunk_times=[], output_tokens=0, server_usage={"completion_tokens": 0})]
    )
    assert rows(made, "SELECT outcome, output_tokens FROM attempt") == [("ok", 0)]
    assert rows(made, "SELECT ttft_why, tpot_ms, e2e_ms FROM attempt_metric") == [("no content came", None, 1000.0)]


def test_older_nesting_is_read_where_times_are_of_tokens(tmp_path: Path) -> None:
    info = {"input_tokens": 591, "output_tokens": 3, "output_token_times": [100.2, 100.3, 100.3], "lora_adapter": None}
    made = given(
        tmp_path,
        [{"start_time": 100.0, "end_time": 101.5, "request": "{}", "response": "", "info": info, "error": None}],
    )
    found = rows(
        made,
        "SELECT client_first_content_ns, client_last_content_ns, input_tokens, output_tokens, token_basis FROM attempt",
    )
    assert found == [(100_200_000_000, 100_300_000_000, 591, 3, "text")]


def test_older_stamps_of_every_line_are_told_apart_by_the_raw_stream(tmp_path: Path) -> None:
    text = stream(chunk({"role": "assistant"}), chunk({"content": "a"}), chunk({"content": "b"}))
    info = {"input_tokens": 5, "output_tokens": 2, "output_token_times": [10.01, 10.2, 10.4, 10.5]}
    row = {"start_time": 10, "end_time": 11, "request": "{}", "response": text, "info": info, "error": None}
    made = given(tmp_path, [row])
    assert rows(made, "SELECT ttft_ms, tpot_ms FROM attempt_metric") == [(200.0, 200.0)]


def test_older_stamps_of_nobody_knows_what_are_left_out(tmp_path: Path) -> None:
    info = {"input_tokens": 5, "output_tokens": 2, "output_token_times": [10.0001, 10.2, 10.2, 10.4, 10.5]}
    row = {"start_time": 10, "end_time": 11, "request": "{}", "response": "", "info": info, "error": None}
    made = given(tmp_path, [row])
    assert rows(made, "SELECT ttft_ms, e2e_ms FROM attempt_metric") == [(None, 1000.0)]
    assert notes(made)[-1].startswith("answers whose times may be those of any line of the stream")


def test_without_its_details_a_request_has_the_times_that_the_tool_made_of_them(tmp_path: Path) -> None:
    computed = {"request_latency": 1.0, "time_to_first_token": 0.25, "inter_token_latencies": [0.25, 0.125]}
    made = given(tmp_path, [{"start_time": 10, "end_time": 11, "computed_metrics": computed, "error": None}])
    found = rows(made, "SELECT client_first_content_ns, client_last_content_ns, client_done_ns FROM attempt")
    assert found == [(10_250_000_000, 10_625_000_000, 11_000_000_000)]


def test_errors_inside_of_a_stream_and_streams_without_an_end_are_no_successes(tmp_path: Path) -> None:
    good: Row = {"response_chunks": [chunk({"content": "a"})], "chunk_times": [10.1], "output_tokens": 1}
    failed = request(text=stream(chunk({"content": "a"}), '{"error": {"code": 500, "message": "kaput"}}'), **good)
    cut = request(text=f"data: {chunk({'content': 'a'})}\n\n", **good)
    made = given(tmp_path, [failed, cut, request(text=stream(chunk({"content": "a"})), **good)])
    assert rows(made, "SELECT outcome, error_type FROM attempt ORDER BY request_id") == [
        ("error", "error in the stream"), ("truncated", None), ("ok", None),
    ]  # fmt: skip
    assert any(note.startswith("answers that told an error inside of the stream") for note in notes(made))


@pytest.mark.parametrize(
    ("kind", "message", "expected"),
    [
        ("HTTP Error 429", "", ("rejected", 429)), ("HTTP Error 503", "", ("rejected", 503)),
        ("HTTP Error 500", "timed out", ("error", 500)), ("HTTP Error 504", "", ("timeout", 504)),
        ("TimeoutError", "Request timed out", ("timeout", None)), ("CancelledError", "", ("cancelled", None)),
        ("ClientPayloadError", "Response payload is not completed", ("truncated", None)),
        ("ClientConnectorError", "Cannot connect", ("error", None)),
    ],
)  # fmt: skip
def test_errors_become_outcomes(tmp_path: Path, kind: str, message: str, expected: tuple[str, int | None]) -> None:
    made = given(tmp_path, [request(error={"error_type": kind, "error_msg": message})])
    assert rows(made, "SELECT outcome, status_code FROM attempt") == [expected]


def test_what_is_no_request_is_refused_with_its_place_and_without_its_words(tmp_path: Path) -> None:
    prompt = "do not keep this"
    listed = [request(), {**request(), "start_time": None, "request": prompt}, {**request(), "start_time": 0}, 7, [1]]
    made = given(tmp_path, listed)
    assert balanced(made)
    found = rows(made, "SELECT reason, position, sample FROM refused ORDER BY position")
    assert sorted(reason for reason, _, _ in found) == [
        "it stands where an object belongs", "it stands where an object belongs",
        "the request has no start time", "the request has no start time",
    ]  # fmt: skip
    assert all(place.startswith("line 1, byte ") and prompt not in sample for _, place, sample in found)
    assert rows(made, "SELECT count(*) FROM attempt") == [(1,)]


def test_a_torn_report_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "per_request_lifecycle_metrics.json"
    path.write_text(json.dumps([request()] * 3)[:-20])
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(SourceError, match="is not whole JSON"):
        ingest.ingest_files(store, ingest.find([str(path)])[0])
    assert rows(store, "SELECT count(*) FROM event") == [(0,)]


def test_hostile_numbers_and_words_neither_break_nor_enter(tmp_path: Path) -> None:
    odd: Row = {"server_usage": {"completion_tokens": 10**40, "prompt_tokens": -3}, "output_tokens": True, "chunk_times": ["1", None, 10.2],
           "response_chunks": "{}"}  # fmt: skip
    told = request(**odd, error={"error_type": "\ud800</script>", "error_msg": None})
    text = json.dumps([told]).replace('"end_time": 11.0', '"end_time": 1e999999999')
    made = given(tmp_path, text)
    found = rows(
        made,
        "SELECT outcome, error_type, output_tokens, input_tokens, retokenized_output_tokens, client_done_ns FROM attempt",
    )
    assert found == [("error", "?</script>", None, None, None, None)]


def test_a_report_of_sessions_and_a_list_of_spans_are_other_files(tmp_path: Path) -> None:
    for row in (
        {
            "session_id": "s",
            "stage_id": 0,
            "start_time": 1.5,
            "end_time": 2.5,
            "duration_sec": 1,
            "num_events": 3,
            "error": None,
        },
        {"trace_id": "0x1", "start_time": 1.5, "end_time": 2.5, "error": None},
        {"start_time": 1.5, "end_time": 2.5},
    ):
        path = tmp_path / "list.json"
        path.write_text(json.dumps([row]))
        assert sources.recognise(path) is None


def test_a_percentile_that_a_report_lacks_is_not_made_up(tmp_path: Path) -> None:
    told = {
        "benchmark_time_seconds": 1.0, "load_summary": {"count": 1},
        "successes": {"count": 1, "latency": {"request_latency": {"mean": 1.0}, "time_to_first_token": None}},
        "failures": {"count": 0},
    }  # fmt: skip
    (tmp_path / "summary_lifecycle_metrics.json").write_text(json.dumps(told))
    made = given(tmp_path, [request()])
    found = rows(made, "SELECT metric, statistic, value, unit FROM tool_figure WHERE unit = 'ms'")
    assert found == [("request_latency", "mean", 1000.0, "ms")]
    assert rows(made, f"SELECT count(*) FROM percentile WHERE metric = 'ttft' AND {TOTAL} AND p50 = 0") == [(0,)]
