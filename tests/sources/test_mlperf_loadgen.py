"""MLPerf LoadGen: every sample to the nanosecond, its own summary reproduced, and what a trace that was cut off leaves."""

from __future__ import annotations

import json
import math
import re
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError
from analyzer.sources import recognise
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

# When the traces of the shared runs began, from their last lines.
BEGAN = {"qps45": 1_796_069_437_934_004_000, "accuracy": 1_796_069_446_139_919_500}
STATISTIC = {"min": "min", "max": "max", "mean": "mean"}


def read(path: Path, folder: Path) -> Store:
    files, _ = ingest.find([str(path)])
    store = Store(folder / "s.duckdb", create=True)
    ingest.ingest_files(store, files)
    ingest.apply_defaults(store)
    store.derive()
    return store


@pytest.fixture(scope="module")
def kept(shared_data: Path) -> Path:
    return shared_data / "made" / "mlperf-loadgen"


@pytest.fixture(scope="module")
def performance(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(kept / "qps45", tmp_path_factory.mktemp("qps45"))


@pytest.fixture(scope="module")
def accuracy(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> Store:
    return read(kept / "accuracy", tmp_path_factory.mktemp("accuracy"))


def events(path: Path) -> list[dict[str, Any]]:
    """The trace's lines that are JSON by themselves."""
    found = []
    for line in path.read_text().splitlines():
        try:
            event = json.loads(line.rstrip(","))
        except ValueError:
            continue
        if isinstance(event, dict):
            found.append(event)
    return found


def latencies(path: Path, counter: str) -> list[int]:
    return sorted(
        event["args"]["issue_delay"] + event["args"]["issue_to_done"]
        for event in events(path)
        if event.get("name") == counter
    )


def summary_cells(text: str) -> dict[tuple[str, str], int]:
    """(metric, statistic) -> ns of the lines of a summary."""
    metric = {
        "latency": "latency",
        "first token latency": "first_token_latency",
        "time to output token": "time_to_output_token",
    }
    metric["time per output token"] = "time_to_output_token"
    found = {}
    for line in text.splitlines():
        if level := re.match(r"(\d+)\.(\d\d) percentile (.*) \(ns\) *: (-?\d+)", line):
            name = f"p{level[1]}" + ("" if level[2] == "00" else f".{level[2].rstrip('0')}")
            found[metric[level[3]], name] = int(level[4])
        elif end := re.match(r"(Min|Max|Mean) (.*) \(ns\) *: (-?\d+)", line):
            found[metric[end[2].lower()], STATISTIC[end[1].lower()]] = int(end[3])
    return found


shared = pytest.mark.shared


@shared
@pytest.mark.parametrize(("run", "samples"), [("qps45", 348), ("accuracy", 256)])
def test_every_sample_is_an_answered_request(
    run: str, samples: int, request: pytest.FixtureRequest, kept: Path
) -> None:
    made = request.getfixturevalue({"qps45": "performance"}.get(run, run))
    point = {"qps45": "server 45/s", "accuracy": "server 30/s, accuracy"}[run]
    begun = [
        event
        for event in events(kept / run / "mlperf_log_trace.json")
        if event.get("name") == "Sample" and event["ph"] == "b"
    ]
    assert len(begun) == samples
    assert rows(made, "SELECT offered, ok, unresolved FROM ledger WHERE load_point = '(all)'") == [
        (samples, samples, 0)
    ]
    assert rows(made, "SELECT DISTINCT load_point, outcome, streamed FROM request") == [(point, "ok", True)]


@shared
def test_every_file_of_a_run_balances(performance: Store) -> None:
    found = rows(
        performance,
        "SELECT parse_filename(path), source, tool, records, kept, set_aside, refused FROM source_file ORDER BY 1",
    )
    # Of the detail log: 27 times, 5 settings, 13 counts, rates and judgements.
    assert found == [
        ("mlperf_log_detail.txt", "mlperf_detail", "mlperf_loadgen 6.0.17", 130, 45, 85, 0),
        ("mlperf_log_summary.txt", "mlperf_detail", "mlperf_loadgen", 79, 0, 79, 0),
        ("mlperf_log_trace.json", "mlperf_loadgen", "mlperf_loadgen 6.0.17", 348, 348, 0, 0),
    ]


@shared
def test_boundaries_are_exact_to_the_nanosecond(performance: Store, accuracy: Store) -> None:
    query = """SELECT client_scheduled_ns - {0}, client_sent_ns - {0}, client_first_content_ns - {0}, client_done_ns - {0}
        FROM attempt WHERE request_id LIKE '%mlperf_log_trace.json#' || {1}"""
    # ts in microseconds; then issue_start_ns; Token_Latency's two parts; complete_ns.
    assert rows(performance, query.format(BEGAN["qps45"], 0)) == [
        (219_206, 219_206 + 180, 219_206 + 180 + 16_690_951, 219_206 + 52_948_925)
    ]
    assert rows(performance, query.format(BEGAN["qps45"], 1)) == [
        (20_187_214, 20_187_214 + 118_807, 20_187_214 + 118_807 + 21_844_290, 20_187_214 + 58_279_258)
    ]
    assert rows(accuracy, query.format(BEGAN["accuracy"], 1)) == [
        (30_048_656, 30_048_656 + 96_458, 30_048_656 + 96_458 + 21_727_362, 30_048_656 + 58_101_324)
    ]


@shared
def test_the_clock_is_unix_time_where_the_trace_says_so(performance: Store) -> None:
    assert rows(performance, "SELECT DISTINCT clock, clock_kind FROM event") == [("mlperf_loadgen", "wall")]
    # Its detail log has the test's start as 2026-11-30T20:10:37Z, the first sample is due 219.206 us after the trace's.
    assert rows(
        performance,
        "SELECT min(time_ns), strftime(make_timestamp(min(time_ns) // 1000), '%Y-%m-%dT%H:%M:%S') FROM event",
    ) == [(BEGAN["qps45"] + 219_206, "2026-11-30T20:10:37")]


@shared
def test_its_summary_is_reproduced_to_the_nanosecond(performance: Store, kept: Path) -> None:
    told = summary_cells((kept / "qps45" / "mlperf_log_summary.txt").read_text())
    assert told["first_token_latency", "p50"] == 13_992_723
    assert told["latency", "p50"] == 90_723_412
    made = {
        (metric, statistic): value
        for metric, statistic, value in rows(
            performance,
            "SELECT metric, statistic, value FROM as_printed WHERE tool = 'MLPerf LoadGen' AND load_point = 'server 45/s'",
        )
    }
    compared = 0
    for (metric, statistic), printed in told.items():
        if metric == "time_to_output_token":
            continue
        assert round(made[metric, statistic] * 1e6) == printed, (metric, statistic)
        assert made[metric, statistic] == pytest.approx(printed / 1e6, rel=1e-12), (metric, statistic)
        compared += 1
    assert compared == 18


@shared
def test_its_percentile_is_the_value_at_the_place_below(performance: Store, kept: Path) -> None:
    trace = kept / "qps45" / "mlperf_log_trace.json"
    for counter, metric in (("Token_Latency", "first_token_latency"), ("Latency", "latency")):
        ordered = latencies(trace, counter)
        for name, q in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p97", 0.97), ("p99", 0.99), ("p99.9", 0.999)):
            ((value,),) = rows(
                performance,
                f"SELECT value FROM as_printed WHERE tool = 'MLPerf LoadGen' AND load_point = '(all)' AND metric = '{metric}' AND statistic = '{name}'",
            )
            assert round(value * 1e6) == ordered[math.floor(len(ordered) * q)], (metric, name)


@shared
def test_cells_that_the_file_cannot_give_are_those_that_need_token_counts(performance: Store) -> None:
    # A performance run writes no token count of a sample anywhere, so its time per output token cannot be made again.
    found = rows(
        performance,
        """SELECT f.metric, f.statistic FROM tool_figure AS f
        ANTI JOIN as_printed AS p ON p.tool = f.tool AND p.metric = f.metric AND p.statistic = f.statistic AND p.load_point = f.load_point
        WHERE f.kind = 'printed' AND f.statistic <> 'value' ORDER BY ALL""",
    )
    assert found == [
        ("time_to_output_token", s) for s in ("max", "mean", "min", "p50", "p90", "p95", "p97", "p99", "p99.9")
    ]
    assert rows(performance, "SELECT count(output_tokens) FROM attempt") == [(0,)]
    assert rows(performance, "SELECT DISTINCT tpot_why FROM request_metric") == [("output tokens not recorded",)]


@shared
def test_every_figure_of_its_logs_is_kept_once(performance: Store, kept: Path) -> None:
    told = summary_cells((kept / "qps45" / "mlperf_log_summary.txt").read_text())
    found = {
        (metric, statistic): value
        for metric, statistic, value in rows(
            performance, "SELECT metric, statistic, value FROM tool_figure WHERE unit = 'ms' AND kind = 'printed'"
        )
    }
    assert {key: round(value * 1e6) for key, value in found.items()} == told
    assert rows(performance, "SELECT metric, value, unit FROM tool_figure WHERE kind = 'setting' AND value IS NOT NULL ORDER BY 1") == [
        ("limit tpot", 10.0, "ms"), ("limit ttft", 60.0, "ms"), ("target qps", 45.0, "1/s"),
    ]  # fmt: skip
    assert rows(performance, "SELECT metric, text FROM tool_figure WHERE kind = 'setting' AND text IS NOT NULL ORDER BY 1") == [
        ("mode", "PerformanceOnly"), ("scenario", "Server"),
    ]  # fmt: skip
    counts = rows(
        performance,
        "SELECT metric, value FROM tool_figure WHERE metric IN ('result_query_count', 'result_completed_samples_per_sec', 'num_errors') ORDER BY 1",
    )
    assert counts == [("num_errors", 5.0), ("result_completed_samples_per_sec", 42.9847), ("result_query_count", 348.0)]
    assert rows(performance, "SELECT text FROM tool_figure WHERE metric = 'result_validity'") == [("INVALID",)]
    assert rows(performance, "SELECT DISTINCT tool, version, load_point FROM tool_figure") == [
        ("MLPerf LoadGen", "6.0.17", "server 45/s")
    ]


@shared
def test_samples_of_one_token_are_said(performance: Store, accuracy: Store) -> None:
    said = rows(performance, "SELECT detail FROM audit WHERE audit = 'source note'")
    assert said == [
        (
            "5 samples had no more than one token: the tool's time per output token of such a sample is below zero, and is among the values of its percentiles",
        )
    ]
    said = rows(accuracy, "SELECT detail FROM audit WHERE audit = 'source note' AND subject LIKE '%trace.json'")
    assert said == [
        ("4 samples have no more than one token: LoadGen's own time per output token of them is below zero",)
    ]


@shared
def test_token_counts_come_from_the_answers_beside(accuracy: Store, kept: Path) -> None:
    answers = json.loads((kept / "accuracy" / "mlperf_log_accuracy.json").read_text())
    counts = {answer["seq_id"]: answer["token_count"] for answer in answers}
    found = rows(accuracy, "SELECT regexp_extract(request_id, '#([0-9]+)$', 1)::INT, client_output_tokens FROM attempt")
    assert dict(found) == counts
    assert len(counts) == 256
    assert sum(counts.values()) == rows(accuracy, "SELECT sum(output_tokens) FROM attempt")[0][0]


@shared
def test_its_time_per_output_token_is_made_again_where_tokens_are_known(accuracy: Store, kept: Path) -> None:
    folder = kept / "accuracy"
    counts = {a["seq_id"]: a["token_count"] for a in json.loads((folder / "mlperf_log_accuracy.json").read_text())}
    found = events(folder / "mlperf_log_trace.json")
    first = {e["ts"]: e["args"] for e in found if e.get("name") == "Token_Latency"}
    values = []
    for event in found:
        if event.get("name") == "Sample" and event["ph"] == "b":
            done, tokens = event["args"]["complete_ns"], counts[event["args"]["sample_seq"]]
            decode = done - first[event["ts"]]["issue_delay"] - first[event["ts"]]["issue_to_done"]
            values.append(decode / (tokens - 1) if tokens > 1 else -decode)
    values.sort()
    made = dict(
        rows(
            accuracy,
            "SELECT statistic, value * 1e6 FROM as_printed WHERE metric = 'time_to_output_token' AND load_point = '(all)'",
        )
    )
    assert made["min"] == pytest.approx(values[0], rel=1e-9)
    assert made["min"] < 0
    assert made["p50"] == pytest.approx(values[128], rel=1e-9)
    assert made["max"] == pytest.approx(values[-1], rel=1e-9)


@shared
def test_a_trace_that_was_cut_off_keeps_what_was_in_flight(kept: Path, tmp_path: Path) -> None:
    text = (kept / "qps45" / "mlperf_log_trace.json").read_text()
    # In the middle of the line of sample 200's end: its first token and its counter are there.
    place = text.index('"complete_ns"', text.index('"id":200,'))
    (tmp_path / "mlperf_log_trace.json").write_text(text[:place])
    whole = text[:place].splitlines()
    ended = sum('"name":"Sample"' in line and '"ph":"b"' in line for line in whole) - 1
    last = sum('"name":"Latency"' in line for line in whole)
    begun = sum('"name":"Token_Latency"' in line for line in whole)
    assert last == ended + 1
    made = read(tmp_path / "mlperf_log_trace.json", tmp_path)
    assert rows(made, "SELECT offered, ok, unresolved FROM ledger WHERE load_point = '(all)'") == [
        (begun, last, begun - last)
    ]
    assert begun > last
    assert rows(made, "SELECT position, reason FROM refused") == [
        (f"line {len(whole)}", "torn last line: the file ends inside it")
    ]
    assert rows(made, "SELECT DISTINCT clock_kind FROM event") == [("monotonic",)]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(begun + 1, begun, 1)]
    ((note,),) = rows(made, "SELECT note FROM source_file")
    assert f"{last} samples ended in it, {begun - last} had a first token and no end" in note
    pending = rows(
        made,
        "SELECT count(*), count(client_scheduled_ns), count(client_first_content_ns), count(client_done_ns) FROM attempt WHERE outcome = 'unresolved'",
    )
    assert pending == [(begun - last, begun - last, begun - last, 0)]


@shared
@pytest.mark.parametrize("name", ["mlperf_log_detail.txt", "mlperf_log_summary.txt"])
def test_figures_without_their_samples_are_refused_with_a_sentence(kept: Path, tmp_path: Path, name: str) -> None:
    shutil.copy(kept / "qps45" / name, tmp_path / name)
    # LoadGen leaves an empty trace where it was told to write none.
    (tmp_path / "mlperf_log_trace.json").write_text("")
    files, _ = ingest.find([str(tmp_path / name)])
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(
        SourceError, match=r"no trace of their samples is beside it; run with LogSettings\.enable_trace"
    ):
        ingest.ingest_files(store, files)


@shared
def test_answers_by_themselves_are_refused_with_a_sentence(kept: Path, tmp_path: Path) -> None:
    shutil.copy(kept / "accuracy" / "mlperf_log_accuracy.json", tmp_path)
    files, _ = ingest.find([str(tmp_path / "mlperf_log_accuracy.json")])
    with pytest.raises(SourceError, match=r"answers without times; they stand in mlperf_log_trace\.json"):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)


@shared
def test_a_folder_says_what_became_of_each_file(kept: Path, tmp_path: Path) -> None:
    files, _ = ingest.find([str(kept / "accuracy")])
    outcomes = ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)
    said = {outcome.label.rsplit("/", 1)[1]: (outcome.state, outcome.note) for outcome in outcomes}
    assert said["mlperf_log_accuracy.json"] == (
        "unknown",
        "it holds LoadGen's answers without times; their token counts are read with the trace beside it",
    )
    assert said["mlperf_log_summary.txt"] == (
        "unknown",
        "it is LoadGen's summary of a run that checked accuracy, which states no figure",
    )
    assert said["mlperf_log_trace.json"][0] == "read"


@shared
def test_a_summary_is_read_where_there_is_no_detail_log(kept: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for name in ("mlperf_log_summary.txt", "mlperf_log_trace.json"):
        shutil.copy(kept / "qps45" / name, folder)
    made = read(folder, tmp_path)
    told = summary_cells((folder / "mlperf_log_summary.txt").read_text())
    found = rows(made, "SELECT metric, statistic, value FROM tool_figure WHERE kind = 'printed' AND unit = 'ms'")
    assert {(metric, statistic): round(value * 1e6) for metric, statistic, value in found} == told
    assert rows(made, "SELECT metric, value FROM tool_figure WHERE kind = 'setting' AND value IS NOT NULL ORDER BY 1") == [
        ("limit tpot", 10.0), ("limit ttft", 60.0), ("target qps", 45.0),
    ]  # fmt: skip
    # What the trace cannot know without the detail log: the operating point.
    assert rows(made, "SELECT DISTINCT load_point FROM request") == [(None,)]


HEAD = '{"traceEvents":[\n{"name":"GenerateQueries","ph":"X","pid":1,"tid":1,"ts":40.400,"dur":174.259,"args":{}},\n'
TAIL = '{"name":"LastTrace"}\n],\n"displayTimeUnit":"ns",\n"otherData":{\n"ts":1796069437934004.000,\n"version":"MLPerf LoadGen v1.0"\n}\n}\n'


def sample(seq: Any, ts: str, issued: Any, done: Any) -> str:
    return (
        f'{{"name":"Sample","cat":"default","ph":"b","pid":1,"id":{seq},"ts":{ts},"args":{{"sample_seq":{seq},"query_seq":{seq},'
        f'"sample_idx":1,"issue_start_ns":{issued},"complete_ns":{done}}}}},\n{{"name":"Sample","cat":"default","ph":"e", "pid":1,"id":{seq},"ts":9.000}},\n'
    )


def counter(name: str, ts: str, issued: Any, done: Any) -> str:
    return (
        f'{{"name":"{name}","ph": "C","pid":1,"ts":{ts},"args":{{ "issue_delay":{issued},"issue_to_done":{done}}}}},\n'
    )


def written(folder: Path, body: str, *, tail: str = TAIL) -> Store:
    path = folder / "mlperf_log_trace.json"
    path.write_text(HEAD + body + tail)
    return read(path, folder)


def test_a_line_that_cannot_be_taken_is_refused_by_itself(tmp_path: Path) -> None:
    body = (
        '{"name":"LogDetail","ph":"X","pid":1,"tid":1,"ts":1.000,"dur":1.000,"args":{"key":""loadgen_version""}},\n'
        + sample(0, "10.000", 1, 100)
        + sample(1, "11.000", 1, 10**20)
        + sample(2, "12", 1, 100)
        + sample('"x"', "13.000", 1, 100)
        + "a prompt that someone pasted\n"
        + counter("Latency", "10.000", 1, 99)
        + counter("Token_Latency", "10.000", "null", 5)
    )
    made = written(tmp_path, body)
    assert rows(made, "SELECT position, reason, sample FROM refused ORDER BY ALL") == [
        ("line 10", "a sample without a number", '{"name":"...","cat":"...","ph":"...","pid":1,"id":"...","ts":13.000,"args":{"sample_seq":"...","query_seq":"...","sample_idx"'[:120]),
        ("line 12", "it is no event of a trace", "28 characters of text"),
        ("line 14", "a sample of which a time is missing or out of range", '{"name":"...","ph": "...","pid":1,"ts":10.000,"args":{ "issue_delay":null,"issue_to_done":5}},'),
        ("line 6", "a sample of which a time is missing or out of range", '{"name":"...","cat":"...","ph":"...","pid":1,"id":1,"ts":11.000,"args":{"sample_seq":1,"query_seq":1,"sample_idx":1,"issue_start_ns"'[:120]),
        ("line 8", "a sample of which a time is missing or out of range", '{"name":"...","cat":"...","ph":"...","pid":1,"id":2,"ts":12,"args":{"sample_seq":2,"query_seq":2,"sample_idx":1,"issue_start_ns":1'[:120]),
    ]  # fmt: skip
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(6, 1, 5)]
    assert rows(made, "SELECT client_done_ns - client_scheduled_ns, client_first_content_ns FROM attempt") == [
        (100, None)
    ]


def test_a_sample_without_a_first_token_has_no_first_content(tmp_path: Path) -> None:
    made = written(tmp_path, sample(0, "10.000", 1, 100) + counter("Latency", "10.000", 1, 99))
    assert rows(made, "SELECT client_first_content_ns, streamed, outcome FROM attempt") == [(None, None, "ok")]
    assert rows(made, "SELECT ttft_ms, ttft_why FROM request_metric") == [(None, "not recorded")]


def test_a_first_token_that_two_samples_could_claim_is_given_to_none(tmp_path: Path) -> None:
    body = sample(0, "10.000", 5, 100) + sample(1, "10.000", 5, 200) + counter("Latency", "10.000", 5, 95)
    made = written(
        tmp_path, body + counter("Token_Latency", "10.000", 5, 20) + counter("Token_Latency", "10.000", 5, 30)
    )
    assert rows(made, "SELECT count(*), count(client_first_content_ns) FROM attempt") == [(2, 0)]
    assert rows(made, "SELECT note FROM source_file") == [
        ("2 first tokens belong to samples of one time and delay, and are given to none of them",)
    ]


def test_a_scenario_without_a_schedule_has_none(tmp_path: Path) -> None:
    # Offline: all samples of one query, first tokens as events of their own.
    token = sample(0, "10.000", 0, 40).replace('"Sample"', '"Token"') + sample(1, "10.000", 0, 60).replace(
        '"Sample"', '"Token"'
    )
    made = written(tmp_path, token + sample(0, "10.000", 0, 100) + sample(1, "10.000", 0, 200))
    found = rows(
        made,
        "SELECT client_scheduled_ns, client_first_content_ns - client_sent_ns, client_done_ns - client_sent_ns FROM attempt ORDER BY request_id",
    )
    assert found == [(None, 40, 100), (None, 60, 200)]
    assert rows(made, "SELECT note FROM source_file") == [
        ("the scenario has no open-loop schedule, so none is taken from the trace",)
    ]


def test_a_clock_that_counts_from_the_hosts_start_is_not_taken_for_unix_time(tmp_path: Path) -> None:
    made = written(tmp_path, sample(0, "10.000", 1, 100), tail=TAIL.replace("1796069437934004.000", "86400000000.000"))
    assert rows(made, "SELECT DISTINCT clock_kind, min(time_ns) FROM event GROUP BY 1") == [("monotonic", 10_001)]


def test_equal_numbers_of_two_traces_are_two_requests(tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    for name in ("a", "b"):
        (folder / name).mkdir(parents=True)
        (folder / name / "mlperf_log_trace.json").write_text(
            HEAD + sample(0, "10.000", 1, 100 if name == "a" else 300) + TAIL
        )
    made = read(folder, tmp_path)
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(2,)]
    assert rows(made, "SELECT count(*) FROM audit WHERE severity = 'fault'") == [(0,)]


def test_answers_that_contradict_each_other_count_no_tokens(tmp_path: Path) -> None:
    answers = ['{ "seq_id" : 0, "qsl_idx" : 1, "data" : "00", "token_data" : "01", "token_count" : 4 },',
               '{ "seq_id" : 0, "qsl_idx" : 1, "data" : "00", "token_data" : "01", "token_count" : 5 },',
               '{ "seq_id" : 1, "qsl_idx" : 1, "data" : "00", "token_data" : "01", "token_count" : 7 },',
               '{ "seq_id" : 2, "qsl_idx" : 1, "data" : "00", "token_']  # fmt: skip
    (tmp_path / "mlperf_log_accuracy.json").write_text("[\n" + "\n".join(answers))
    made = written(tmp_path, sample(0, "10.000", 1, 100) + sample(1, "20.000", 1, 100) + sample(2, "30.000", 1, 100))
    assert rows(made, "SELECT client_output_tokens FROM attempt ORDER BY request_id") == [(None,), (7,), (None,)]


def test_an_empty_trace_says_that_tracing_was_off(tmp_path: Path) -> None:
    (tmp_path / "mlperf_log_detail.txt").write_text(':::MLLOG {"key": "loadgen_version", "value": "6.0.17 @ x"}\n')
    (tmp_path / "mlperf_log_trace.json").write_text("")
    files, _ = ingest.find([str(tmp_path / "mlperf_log_trace.json")])
    with pytest.raises(SourceError, match=r"as LoadGen leaves it when it runs without LogSettings\.enable_trace"):
        ingest.ingest_files(Store(tmp_path / "s.duckdb", create=True), files)


def test_a_trace_of_another_program_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "mlperf_log_trace.json"
    path.write_text(
        '{"traceEvents":[\n{"name":"forward","ph":"X","pid":1,"tid":1,"ts":40.400,"dur":174.259,"args":{}}\n]}\n'
    )
    assert recognise(path) is None


def test_a_detail_log_of_any_content_is_read_or_refused_line_by_line(tmp_path: Path) -> None:
    told = [
        ':::MLLOG {"key": "loadgen_version", "value": "9.1 @ abc"}',
        ':::MLLOG {"key": "effective_scenario", "value": "Server"}',
        ':::MLLOG {"key": "effective_target_qps", "value": 1' + "0" * 400 + "}",
        ':::MLLOG {"key": "result_mean_latency_ns", "value": 1' + "0" * 400 + "}",
        ':::MLLOG {"key": "result_50.00_percentile_latency_ns", "value": "soon"}',
        ':::MLLOG {"key": "result_min_latency_ns", "value": 5}',
        ':::MLLOG {"key": "result_validity", "value": "a text that anyone could write"}',
        ':::MLLOG {"key": "result_completed_samples_per_sec", "value": nan}',
        ':::MLLOG {"key": 7}',
        "not a line of it",
        ':::MLLOG {"key": "torn',
    ]
    (tmp_path / "mlperf_log_detail.txt").write_text("\n".join(told))
    (tmp_path / "mlperf_log_trace.json").write_text(HEAD + sample(0, "10.000", 1, 100) + TAIL)
    made = read(tmp_path, tmp_path)
    assert rows(made, "SELECT metric, statistic, value, text, version FROM tool_figure ORDER BY 1") == [
        ("latency", "min", 5e-6, None, "9.1"), ("scenario", "value", None, "Server", "9.1"),
    ]  # fmt: skip
    assert rows(made, "SELECT position, reason FROM refused ORDER BY 1") == [
        ("line 10", "not a line of MLPerf's log format"), ("line 11", "torn last line: the file ends inside it"),
        ("line 8", "not a line of MLPerf's log format"), ("line 9", "not a line of MLPerf's log format"),
    ]  # fmt: skip
    assert rows(made, "SELECT records, kept, set_aside, refused FROM source_file WHERE source = 'mlperf_detail'") == [
        (11, 2, 5, 4)
    ]
