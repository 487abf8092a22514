"""genai-bench's results: durations in the unit that the file names, failures as a code, no times of day."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows
from reproducing import balanced, cells, notes, read

from analyzer import ingest, sources
from analyzer.errors import SourceError
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

Row = dict[str, Any]
POINTS = ("D(120,40) concurrency 2", "D(120,40) concurrency 8")
STATISTICS = {"mean", "std", "min", "max", "sum", "p25", "p50", "p75", "p90", "p95", "p99"}
METRICS = {"ttft", "tpot", "e2e_latency", "output_latency"}
NAMES = ("D120_40_text-to-text_num_concurrency_2_time_29s.json", "D120_40_text-to-text_num_concurrency_8_time_4s.json")


@pytest.fixture(scope="module")
def results(shared_data: Path) -> Path:
    return shared_data / "made" / "genai-bench"


@pytest.fixture(scope="module")
def made(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(tmp_path_factory.mktemp("made"), *(results / name for name in NAMES))


def answer(**fields: Any) -> Row:
    """A request that was answered: first token after 0.1 s, end after 0.5 s, 5 tokens."""
    return {
        "ttft": 0.1, "tpot": 0.1, "e2e_latency": 0.5, "output_latency": 0.4, "output_inference_speed": 10.0,
        "num_input_tokens": 7, "num_output_tokens": 5, "num_reasoning_tokens": 0, "total_tokens": 12,
        "error_code": None, "error_message": None, **fields,
    }  # fmt: skip


def failure(code: Any, message: str = "") -> Row:
    return {**dict.fromkeys(answer()), "error_code": code, "error_message": message}


def given(folder: Path, *listed: Any, unit: str | None = "s", metadata: Row | None = None, **run: Any) -> Store:
    """A store of results with these requests."""
    document: Row = {"aggregated_metrics": run, "individual_request_metrics": list(listed)}
    if unit:
        document["_time_unit"] = unit
    path = folder / "results.json"
    path.write_text(json.dumps(document))
    if metadata is not None:
        (folder / "experiment_metadata.json").write_text(json.dumps(metadata))
    return read(folder, path)


# -- the tool's real runs ------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_every_request_has_one_outcome_and_one_point(made: Store) -> None:
    # error_codes_frequency: 500 x 7 and 429 x 2; 429 x 3 and 500 x 5. Of the 500s, 4 and 4 are streams that broke.
    found = rows(
        made,
        "SELECT load_point, offered, ok, rejected, timeout, cancelled, error, truncated FROM ledger WHERE load_point <> '(all)' ORDER BY 1",
    )
    assert found == [(POINTS[0], 105, 96, 2, 0, 0, 3, 4), (POINTS[1], 101, 93, 3, 0, 0, 1, 4)]
    assert rows(made, "SELECT DISTINCT tool FROM source_file") == [("genai-bench 0.0.5",)]
    assert balanced(made)


@pytest.mark.shared
def test_its_own_figures_come_out_of_its_requests_cell_by_cell(made: Store) -> None:
    same, unlike = cells(made, "genai-bench")
    assert unlike == set()
    assert same == {(point, metric, name) for point in POINTS for metric in METRICS for name in STATISTICS}


@pytest.mark.shared
def test_boundaries_are_the_durations_of_the_file_to_the_nanosecond(made: Store) -> None:
    # Its first row: ttft 0.05929218699998273, e2e_latency 0.264907839999978.
    found = rows(
        made,
        "SELECT client_sent_ns, client_first_content_ns, client_last_content_ns, client_done_ns, output_tokens, model, client_clock_kind"
        " FROM attempt WHERE request_id LIKE '%29s.json#1'",
    )
    assert found == [(0, 59292187, None, 264907840, 26, "mock-model", "duration")]


@pytest.mark.shared
def test_a_broken_stream_has_no_status_of_http_although_the_tool_writes_500(made: Store) -> None:
    found = rows(
        made,
        "SELECT outcome, error_type, status_code, count(*) FROM attempt WHERE outcome <> 'ok' GROUP BY ALL ORDER BY ALL",
    )
    assert found == [
        ("error", "HTTP 500", 500, 4), ("rejected", "HTTP 429", 429, 5), ("truncated", "broken stream", None, 8),
    ]  # fmt: skip
    assert rows(made, "SELECT count(client_done_ns) FROM attempt WHERE outcome <> 'ok'") == [(0,)]


@pytest.mark.shared
def test_durations_make_no_window_and_no_arrival(made: Store) -> None:
    assert rows(made, "SELECT count(arrived_ns), count(*) FROM request") == [(0, 206)]
    assert rows(made, "SELECT count(*) FROM request WHERE counted") == [(206,)]


@pytest.mark.shared
def test_its_share_of_errors_that_is_always_0_is_said_to_be_wrong(made: Store) -> None:
    said = notes(made)
    assert "its error_rate says 0, which it takes before it counts: 9 of 105 requests failed" in said
    assert "its error_rate says 0, which it takes before it counts: 8 of 101 requests failed" in said
    assert rows(
        made, f"SELECT value FROM tool_figure WHERE metric = 'num_error_requests' AND load_point = '{POINTS[0]}'"
    ) == [(9.0,)]


@pytest.mark.shared
def test_its_metadata_is_said_to_be_read_with_the_results(results: Path) -> None:
    path = results / "experiment_metadata.json"
    assert sources.recognise(path) is None
    assert sources.explain(path) == "it holds what genai-bench was told to do, which is read with the results beside it"


# -- small files ---------------------------------------------------------------------------------------------------


def test_milliseconds_are_milliseconds(tmp_path: Path) -> None:
    row = answer(ttft=100.0, tpot=100.0, e2e_latency=500.0, output_latency=400.0)
    stats = {"ttft": {"mean": 100.0}, "output_throughput": {"mean": 10.0}}
    made = given(tmp_path, row, unit="ms", scenario="N(1,2)", num_concurrency=4, stats=stats)
    assert rows(made, "SELECT ttft_ms, e2e_ms FROM attempt_metric") == [(100.0, 500.0)]
    assert cells(made, "genai-bench") == ({("N(1,2) concurrency 4", "ttft", "mean")}, set())
    assert rows(made, "SELECT value, unit FROM tool_figure WHERE metric = 'output_throughput'") == [(10.0, None)]


def test_without_a_unit_the_file_is_of_a_version_that_knew_seconds_only(tmp_path: Path) -> None:
    made = given(tmp_path, answer(), unit=None)
    assert rows(made, "SELECT ttft_ms, load_point FROM attempt_metric JOIN request USING (request_id)") == [
        (100.0, None)
    ]


def test_a_unit_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has times in 'minutes'"):
        given(tmp_path, answer(), unit="minutes")


@pytest.mark.parametrize(
    ("code", "message", "expected"),
    [
        (429, "slow down", ("rejected", 429)), (503, "busy", ("rejected", 503)),
        (503, "Connection error: refused", ("error", None)), (503, "Connection error: Read timed out.", ("timeout", None)),
        (408, "Request timed out: 60", ("timeout", None)), (500, "kaput", ("error", 500)),
        (500, "('Connection broken: IncompleteRead(0 bytes read)')", ("truncated", None)), (-1, "odd", ("error", None)),
        ("BadRequest", "odd", ("error", None)),
    ],
)  # fmt: skip
def test_codes_become_outcomes_and_those_that_the_client_made_up_no_status(
    tmp_path: Path, code: Any, message: str, expected: tuple[str, int | None]
) -> None:
    made = given(tmp_path, failure(code, message))
    assert rows(made, "SELECT outcome, status_code FROM attempt") == [expected]


def test_reasoning_is_inside_the_output_although_the_tools_total_adds_it(tmp_path: Path) -> None:
    made = given(tmp_path, answer(num_output_tokens=500, num_reasoning_tokens=300, total_tokens=807))
    assert rows(made, "SELECT output_tokens, reasoning_tokens, input_tokens FROM attempt") == [(500, 300, 7)]
    assert any(note.startswith("rows whose total_tokens add reasoning") for note in notes(made))


def test_a_first_token_at_the_end_or_at_0_was_not_measured(tmp_path: Path) -> None:
    made = given(tmp_path, answer(ttft=0.5, output_latency=0.0), answer(ttft=0.0), answer(ttft=0))
    assert rows(made, "SELECT count(ttft_ms), min(ttft_why), count(e2e_ms) FROM attempt_metric") == [
        (0, "not recorded", 3)
    ]
    assert notes(made) == ["answers without a first token of their own, for which the tool took the end, or 0: 3"]


def test_an_embedding_has_no_output_and_is_no_empty_answer(tmp_path: Path) -> None:
    zeros = dict.fromkeys(("tpot", "output_latency", "output_inference_speed", "num_output_tokens"), 0)
    made = given(tmp_path, answer(ttft=0.5, **zeros))
    assert rows(made, "SELECT output_tokens, streamed FROM attempt") == [(None, False)]
    assert rows(made, "SELECT ttft_why, e2e_ms FROM attempt_metric") == [("not streamed", 500.0)]


def test_an_answer_without_tokens_is_an_empty_success_and_leaves_only_the_times_per_token(tmp_path: Path) -> None:
    made = given(tmp_path, answer(), answer(num_output_tokens=0, tpot=None))
    assert rows(made, "SELECT count(*), sum(output_tokens) FROM attempt WHERE outcome = 'ok'") == [(2, 5)]
    assert rows(
        made,
        "SELECT n FROM as_printed WHERE tool = 'genai-bench' AND metric = 'tpot' AND statistic = 'mean' AND load_point = '(all)'",
    ) == [(1,)]


def test_warm_up_that_the_tool_left_out_is_marked_and_cool_down_is_said(tmp_path: Path) -> None:
    told = {
        "cmd": "genai-bench --warmup-ratio 0.2 --cooldown-ratio=0.1",
        "benchmark_version": "0.9.1",
        "traffic_scenario": [],
    }
    made = given(tmp_path, *[answer()] * 10, metadata=told, num_requests=10)
    assert rows(made, "SELECT phase, count(*) FROM request GROUP BY 1 ORDER BY 1") == [("measured", 8), ("warmup", 2)]
    assert notes(made) == [
        "requests at the end that the tool leaves out as cool-down, and that are counted here: 1",
        "written by version 0.9.1, and read as 0.0.5 writes",
    ]


def test_a_count_that_is_not_the_files_is_said(tmp_path: Path) -> None:
    made = given(tmp_path, answer(), num_requests=3, num_error_requests=0, error_rate=0.0)
    assert notes(made) == ["the tool counts 3 requests and its file holds 1"]


def test_fast_answers_tell_that_faster_ones_may_be_missing(tmp_path: Path) -> None:
    made = given(tmp_path, answer(output_inference_speed=812.5))
    assert notes(made)[0].startswith("answers at more than 500 tokens/s")


def test_what_is_no_request_is_refused(tmp_path: Path) -> None:
    made = given(tmp_path, answer(), answer(e2e_latency=None), 3, answer(e2e_latency=10**30))
    assert balanced(made)
    found = rows(made, "SELECT position, reason FROM refused ORDER BY position")
    assert found == [
        ("request 2", "it has neither a time nor an error"), ("request 3", "it is no object"),
        ("request 4", "it has neither a time nor an error"),
    ]  # fmt: skip


def test_figures_alone_are_refused_with_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    path.write_text(json.dumps({"aggregated_metrics": {"stats": {}}, "_time_unit": "s"}))
    assert sources.recognise(path) is None
    assert "no requests (individual_request_metrics)" in (sources.explain(path) or "")


def test_a_torn_file_leaves_nothing_behind(tmp_path: Path) -> None:
    whole = json.dumps({"aggregated_metrics": {}, "individual_request_metrics": [answer()] * 40})
    path = tmp_path / "results.json"
    path.write_text(whole[: len(whole) // 2])
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(SourceError, match="is not whole JSON"):
        ingest.ingest_files(store, ingest.find([str(path)])[0])
    assert rows(store, "SELECT count(*) FROM event") == [(0,)]
