"""llmperf's individual responses: what its fields hold against what they are called, and what the tool loses."""

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
STATISTICS = {"mean", "std", "min", "max", "p25", "p50", "p75", "p90", "p95", "p99"}
LOST = (
    "llmperf loses a request that fails, and what is still under way at the end: this file cannot tell of any,"
    " so that its numbers are of answers only"
)


@pytest.fixture(scope="module")
def made(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    path = shared_data / "made" / "llmperf" / "mock-model_120_40_individual_responses.json"
    return read(tmp_path_factory.mktemp("made"), path)


def answer(**fields: Any) -> Row:
    """A request: first token after 1.258409665 s, end after 12.530119453 s, 128 tokens, as a hosted endpoint gave it."""
    return {
        "error_code": None, "error_msg": "", "inter_token_latency_s": 0.09788477149218666, "ttft_s": 1.258409665,
        "end_to_end_latency_s": 12.530119453, "request_output_throughput_token_per_s": 10.2154,
        "number_total_tokens": 678, "number_output_tokens": 128, "number_input_tokens": 550, **fields,
    }  # fmt: skip


def given(folder: Path, *listed: Any, summary: Row | None = None) -> Store:
    """A store of responses, with a summary beside them or without."""
    path = folder / "m_550_150_individual_responses.json"
    path.write_text(json.dumps(listed))
    if summary is not None:
        (folder / "m_550_150_summary.json").write_text(json.dumps(summary))
    return read(folder, path)


# -- real runs -----------------------------------------------------------------------------------------------------


@pytest.mark.shared
def test_every_answer_is_taken_and_the_lost_ones_are_said_to_be_lost(made: Store) -> None:
    # The tool sent more: its one 429 killed a worker, and a request of 12 s was under way when it stopped.
    assert rows(made, "SELECT load_point, offered, ok FROM ledger ORDER BY 1") == [
        ("(all)", 60, 60),
        ("concurrency 4", 60, 60),
    ]
    assert LOST in notes(made)
    assert rows(made, "SELECT tool FROM source_file") == [("llmperf 2023-08-31",)]
    assert balanced(made)


@pytest.mark.shared
def test_its_own_figures_come_out_of_its_rows_except_the_one_that_needs_the_number_of_messages(made: Store) -> None:
    same, unlike = cells(made, "llmperf")
    point = "concurrency 4"
    assert same == {(point, metric, name) for metric in ("ttft_s", "end_to_end_latency_s") for name in STATISTICS}
    # (last message - sent) / messages: the file has neither of the two.
    assert unlike == {(point, "inter_token_latency_s", name) for name in STATISTICS}


@pytest.mark.shared
def test_boundaries_are_the_durations_of_the_file_to_the_nanosecond(made: Store) -> None:
    # Its second row: ttft_s 0.01765277000004062, end_to_end_latency_s 0.3648499340001763, 87 tokens counted from text.
    found = rows(
        made,
        "SELECT client_sent_ns, client_first_content_ns, client_last_content_ns, client_done_ns, output_tokens, token_basis, input_tokens"
        " FROM attempt WHERE request_id LIKE '%#2'",
    )
    assert found == [(0, 17652770, None, 364849934, 87, "text", 133)]


@pytest.mark.shared
def test_rows_whose_time_between_tokens_is_none_are_counted(shared_data: Path, made: Store) -> None:
    listed = json.loads((shared_data / "made" / "llmperf" / "mock-model_120_40_individual_responses.json").read_text())
    between = [(row["end_to_end_latency_s"] - row["ttft_s"]) / (row["number_output_tokens"] - 1) for row in listed]
    far = sum(abs(row["inter_token_latency_s"] - gap) > 0.05 * gap for row, gap in zip(listed, between, strict=True))
    assert far > 50
    assert any(
        note.startswith("rows whose inter_token_latency_s") and note.endswith(f": {far} of 60") for note in notes(made)
    )


@pytest.mark.shared
@pytest.mark.parametrize("name", ["anyscale_70b", "groq_70b", "replicate_70b"])
def test_hosted_endpoints_give_the_expected_percentiles(shared_data: Path, tmp_path: Path, name: str) -> None:
    expected = json.loads((shared_data / "expected.json").read_text())[f"llmperf/{name}"]
    path = shared_data / "public" / "llmperf-leaderboard" / "individual" / f"{name}.json"
    made = read(tmp_path, path)
    assert rows(made, "SELECT offered, ok FROM ledger WHERE load_point = '(all)'") == [
        (expected["records"], expected["success"])
    ]
    for tool, metric, key in (
        ("llmperf", "ttft_s", "ttft_s_success"),
        ("llmperf", "end_to_end_latency_s", "e2e_s_success"),
        # The time per token that its name promises: from the first token to the end, by the tokens after the first.
        ("genai-bench", "tpot", "tpot_s_(e2e-ttft)/(out-1)"),
    ):
        linear = rows(
            made,
            f"SELECT statistic, value / 1e3 FROM as_printed WHERE tool = '{tool}' AND metric = '{metric}' AND load_point = '(all)'",
        )
        told = {level: value for level, value in linear if level in expected[key]["linear"]}
        assert told == pytest.approx(expected[key]["linear"], rel=1e-6)
    for metric, key in (("ttft", "ttft_s_success"), ("e2e", "e2e_s_success")):
        (ranks,) = rows(
            made,
            f"SELECT p50, p90, p95, p99 FROM percentile WHERE metric = '{metric}' AND population = 'ok' AND {TOTAL}",
        )
        assert [value / 1e3 for value in ranks] == pytest.approx(list(expected[key]["nearest_rank"].values()), rel=1e-6)
    contradicting = expected["rows_where_field_differs_>5pct_from_out/e2e"]
    said = [note for note in notes(made) if "request_output_throughput_token_per_s" in note]
    assert [note.rsplit(": ", 1)[1].split(" ", 1)[0] for note in said] == (
        [str(contradicting)] if contradicting else []
    )


@pytest.mark.shared
@pytest.mark.parametrize("name", ["anyscale_70b", "groq_70b", "replicate_70b"])
def test_hosted_endpoints_summaries_come_out_of_their_rows(shared_data: Path, tmp_path: Path, name: str) -> None:
    made = read(tmp_path, shared_data / "public" / "llmperf-leaderboard" / "individual" / f"{name}.json")
    same, unlike = cells(made, "llmperf")
    assert {metric for _, metric, _ in same} == {"ttft_s", "end_to_end_latency_s"}
    assert len(same) == 20
    assert {metric for _, metric, _ in unlike} == {"inter_token_latency_s"}
    # Numbers that the tool writes as text are numbers all the same.
    assert rows(
        made, "SELECT count(*) FROM tool_figure WHERE metric = 'number_output_tokens' AND statistic = 'max'"
    ) == [(1,)]


@pytest.mark.shared
def test_a_summary_is_refused_with_or_without_its_requests_beside_it(shared_data: Path) -> None:
    with_rows = shared_data / "made" / "llmperf" / "mock-model_120_40_summary.json"
    assert sources.recognise(with_rows) is None
    assert (sources.explain(with_rows) or "").endswith(
        "they are read with mock-model_120_40_individual_responses.json beside it"
    )
    alone = shared_data / "public" / "llmperf-leaderboard" / "summary" / "groq_70b.json"
    with pytest.raises(SourceError, match=r"cannot be merged or averaged: give the \.\.\._individual_responses\.json"):
        ingest.ingest_files(None, ingest.find([str(alone)])[0])  # type: ignore[arg-type]


# -- small files ---------------------------------------------------------------------------------------------------


def test_the_time_between_tokens_is_made_again_and_the_field_is_said_to_differ(tmp_path: Path) -> None:
    made = given(tmp_path, answer())
    # (12.530119453 - 1.258409665) / 127 s; the file says 0.09788, which is the whole time by 128.
    assert rows(made, "SELECT value FROM printed_value WHERE tool = 'genai-bench' AND metric = 'tpot'") == [
        (pytest.approx(88.7536203, abs=1e-6),)
    ]
    assert rows(made, "SELECT tpot_ms, tpot_why FROM attempt_metric") == [(None, "not recorded")]
    assert any(
        note.startswith("rows whose inter_token_latency_s") and note.endswith(": 1 of 1") for note in notes(made)
    )


def test_a_rate_that_contradicts_its_own_parts_is_counted(tmp_path: Path) -> None:
    made = given(tmp_path, answer(request_output_throughput_token_per_s=1.4365), answer())
    assert any(
        note.startswith("rows whose request_output_throughput") and note.endswith(": 1 of 2") for note in notes(made)
    )


def test_answers_without_a_token_do_not_stop_the_numbers_of_the_rest(tmp_path: Path) -> None:
    listed = [
        answer(number_output_tokens=0, inter_token_latency_s=0, ttft_s=0) if i in (238, 288) else answer()
        for i in range(1, 301)
    ]
    made = given(tmp_path, *listed)
    assert rows(made, "SELECT offered, ok FROM ledger WHERE load_point = '(all)'") == [(300, 300)]
    assert rows(made, "SELECT count(*) FROM attempt WHERE outcome = 'ok' AND output_tokens = 0") == [(2,)]
    found = rows(
        made,
        "SELECT n FROM as_printed WHERE tool = 'genai-bench' AND metric = 'tpot' AND statistic = 'p50' AND load_point = '(all)'",
    )
    assert found == [(298,)]
    # A first token at 0 was never measured: it is not the fastest.
    assert rows(made, "SELECT count(ttft_ms), min(ttft_ms) FROM attempt_metric") == [(298, 1258.409665)]
    assert "rows that ended well without a token: 2 of 300" in notes(made)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(429, ("rejected", "HTTP 429", 429)), (503, ("rejected", "HTTP 503", 503)), (504, ("timeout", "HTTP 504", 504)),
     (-1, ("error", "exception", None)), ("rate_limit", ("error", "rate_limit", None)), (500, ("error", "HTTP 500", 500))],
)  # fmt: skip
def test_versions_that_record_failures_have_their_outcome(
    tmp_path: Path, code: Any, expected: tuple[str, str, int | None]
) -> None:
    broken = answer(
        error_code=code, end_to_end_latency_s=0, request_output_throughput_token_per_s=0, number_output_tokens=3
    )
    made = given(tmp_path, answer(), broken)
    found = rows(
        made,
        "SELECT outcome, error_type, status_code, client_done_ns, output_tokens FROM attempt WHERE outcome <> 'ok'",
    )
    assert found == [(*expected, None, None)]
    # The first token came before it broke.
    assert rows(made, "SELECT count(client_first_content_ns) FROM attempt") == [(2,)]
    assert LOST not in notes(made)


def test_a_summary_of_other_rows_gives_no_figures(tmp_path: Path) -> None:
    summary = {
        "version": "2023-08-31",
        "num_concurrent_requests": 5,
        "results_num_requests_started": 9,
        "results_ttft_s_mean": 1.0,
    }
    made = given(tmp_path, answer(), summary=summary)
    assert rows(made, "SELECT count(*) FROM tool_figure") == [(0,)]
    assert "the summary beside the file is of 9 requests, not of these, and its figures were not taken" in notes(made)


def test_a_spread_of_one_value_is_none(tmp_path: Path) -> None:
    summary = {
        "results_num_requests_started": 1,
        "results_ttft_s_stddev": float("nan"),
        "results_ttft_s_mean": 1.258409665,
    }
    made = given(tmp_path, answer(), summary=summary)
    assert cells(made, "llmperf") == ({("(all)", "ttft_s", "mean")}, set())
    assert rows(
        made,
        "SELECT value FROM as_printed WHERE tool = 'llmperf' AND metric = 'ttft_s' AND statistic = 'std' AND load_point = '(all)'",
    ) == [(None,)]


def test_what_is_no_request_is_refused(tmp_path: Path) -> None:
    made = given(
        tmp_path,
        answer(),
        {"error_code": None},
        "text",
        answer(end_to_end_latency_s=None),
        answer(end_to_end_latency_s=10**40),
    )
    assert balanced(made)
    reasons = rows(made, "SELECT reason, count(*) FROM refused GROUP BY 1 ORDER BY 1")
    assert reasons == [
        ("it has neither a time nor an error", 2), ("it lacks error_code, ttft_s or end_to_end_latency_s", 1),
        ("it stands where an object belongs", 1),
    ]  # fmt: skip


def test_a_torn_file_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "m_individual_responses.json"
    path.write_text(json.dumps([answer()] * 3)[:-9])
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(SourceError, match="is not whole JSON"):
        ingest.ingest_files(store, ingest.find([str(path)])[0])
    assert rows(store, "SELECT count(*) FROM event") == [(0,)]


@pytest.mark.shared
def test_a_copy_elsewhere_is_read_without_its_summary(shared_data: Path, tmp_path: Path) -> None:
    shutil.copy(
        shared_data / "made" / "llmperf" / "mock-model_120_40_individual_responses.json", tmp_path / "renamed.json"
    )
    made = read(tmp_path, tmp_path / "renamed.json")
    assert rows(made, "SELECT load_point, offered FROM ledger ORDER BY 1") == [("(all)", 60), ("(none)", 60)]
    assert rows(made, "SELECT tool FROM source_file") == [("llmperf",)]
