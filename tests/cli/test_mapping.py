"""`analyze ingest --map` and `analyze sources suggest`: faults in one sentence, drafts that say why and guess nothing."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from running import analyze, asked, refusal, well

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

T0 = 1_796_068_960_313_318_612
SENT = '[columns]\nsent = {column = "t0", unit = "ns"}\n'
SOURCE = '[source]\nside = "client"\nclock = "bench"\n'


@pytest.fixture
def csv(work: Path) -> Path:
    path = work / "x.csv"
    path.write_text(f"id,t0,ttft_ms,end\na,{T0},20.5,{T0 + 10**9}\nb,{T0 + 1},,{T0 + 2 * 10**9}\n")
    return path


def through(work: Path, mapping: str, *more: str) -> Any:
    (work / "map.toml").write_text(mapping, encoding="utf-8")
    return analyze("ingest", "--map", "map.toml", "x.csv", *more, cwd=work)


# -- ingest -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("csv")
def test_a_file_is_read_through_its_mapping_and_counted(work: Path) -> None:
    mapping = (
        SOURCE
        + 'tool = "loadgen 2"\n'
        + SENT
        + 'request = "id"\nfirst_content = {column = "ttft_ms", unit = "ms", add_to = "sent"}\ndone = {column = "end", unit = "ns"}\n'
    )
    ran = through(work, mapping)
    assert ran.err == ""
    assert [(row["source"], row["records"], row["kept"]) for row in ran.rows] == [("mapped", "2", "2")]
    found = asked("SELECT request_id, ttft_ms, e2e_ms FROM request_metric ORDER BY 1", cwd=work)
    assert found == [("a", 20.5, 1000.0), ("b", None, 1999.999999)]
    assert through(work, mapping).notes == ["in the store already, byte for byte: 1 of 1 files"]
    assert through(work, mapping + 'tenant = "id"\n').notes == []
    assert asked("SELECT DISTINCT tenant FROM attempt ORDER BY 1", cwd=work) == [("a",), ("b",)]


FAULTS = [
    ('[source]\nsied = "client"\nclock = "c"\n' + SENT, "source.sied is not a field; did you mean side?; see docs/mapping.md"),
    (SOURCE + SENT + 'frist_content = "ttft_ms"\n', "columns.frist_content is not a field; did you mean first_content?; see docs/mapping.md"),
    (SOURCE + SENT + 'done = {column = "end", untis = "ns"}\n', "columns.done.untis is not a field; did you mean unit?; see docs/mapping.md"),
    (SOURCE + SENT + 'done = {column = "end", unit = "nanos"}\n', 'columns.done.unit is "nanos", expected ns, us, ms, s or iso; see docs/mapping.md'),
    (SOURCE + '[columns]\nsent = "t0"\ndone = "end"\n', 'sent and done have no unit; say unit = "ns", "us", "ms", "s" or "iso" there, or once under source; see docs/mapping.md'),
    (SOURCE + '[columns]\nsent = "t0"\n', 'sent has no unit; say unit = "ns", "us", "ms", "s" or "iso" there, or once under source; see docs/mapping.md'),
    (SOURCE + '[columns]\nrequest = "id"\n', "columns names no time: one of scheduled, sent, arrived, admitted, rejected, started, preempted, resumed, prefill_done, decode_started, first_token, first_content, first_answer, last_token, last_content, done, cancel_seen, cancel_forwarded, dequeued, released is needed; see docs/mapping.md"),
    (SOURCE + SENT + 'done = {column = "end", unit = "ms", add_to = "send"}\n', 'columns.done.add_to is "send", expected scheduled, sent, arrived, admitted, rejected, started, preempted, resumed, prefill_done, decode_started, first_token, first_content, first_answer, last_token, last_content, done, cancel_seen, cancel_forwarded, dequeued or released; did you mean sent?; see docs/mapping.md'),
    (SOURCE + SENT + 'done = {column = "end", unit = "ms", add_to = "arrived"}\n', "columns.done counts from arrived, which no column tells; see docs/mapping.md"),
    (SOURCE + '[columns]\ndone = {column = "end", unit = "ms", add_to = "last_content"}\nlast_content = {column = "t0", unit = "ms", add_to = "done"}\n', "columns.done counts from itself by add_to; columns.last_content counts from itself by add_to"),
    (SOURCE + '[columns]\nsent = {column = "t0", unit = "iso"}\ndone = {column = "end", unit = "iso", add_to = "sent"}\n', "columns.done is a duration or on no wall clock, and its unit is iso; see docs/mapping.md"),
    ('[source]\nclock = "c"\n' + SENT, "source.side is missing; see docs/mapping.md"),
    ('[source]\nside = "client"\n' + SENT, "source.clock is missing; see docs/mapping.md"),
    (SOURCE + 'clock_kind = "duration"\n' + SENT, "columns.sent is told though source.clock_kind is duration, in which sent is 0 by itself; times that count from one moment of the run are monotonic; see docs/mapping.md"),
    (SOURCE + 'tenant = "acme"\n' + SENT + 'tenant = "id"\n', "tenant stands under source and under columns; say it once; see docs/mapping.md"),
    (SOURCE + SENT + '[values.outcome]\nok = "ok"\n', "values.outcome has words for a field that no column tells; see docs/mapping.md"),
    (SOURCE + SENT + 'outcome = "id"\n[values.outcome]\ngood = "okay"\n', 'values.outcome.good is "okay", expected ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved or ""; did you mean ok?; see docs/mapping.md'),
    (SOURCE + SENT + 'status_code = "id"\n[values.status_code]\n"499..400" = 400\n', "values.status_code: the range 499..400 ends before it begins; see docs/mapping.md"),
    (SOURCE + SENT + 'tenant = {column = "id", unit = "ns"}\n', "columns.tenant.unit is not a field; allowed are column, only_with, optional; see docs/mapping.md"),
    (SOURCE + "model = 2026-01-01\n" + SENT, 'source.model is a date or a time; write it in ""; see docs/mapping.md'),
    (SOURCE + "deadline_ms = nan\n" + SENT, "source.deadline_ms is no finite number; see docs/mapping.md"),
    (SOURCE + 'model = "a\\u0000b"\n' + SENT, "source.model holds a NUL; see docs/mapping.md"),
    (SENT, "source is missing; see docs/mapping.md"),
]  # fmt: skip


@pytest.mark.usefixtures("csv")
@pytest.mark.parametrize(("mapping", "said"), FAULTS, ids=range(len(FAULTS)))
def test_what_is_wrong_with_a_mapping_is_one_sentence_each_and_leaves_no_store(
    work: Path, mapping: str, said: str
) -> None:
    assert refusal(through(work, mapping), 2) == f"map.toml: {said}"
    assert not (work / "analyze.duckdb").exists()


@pytest.mark.usefixtures("csv")
def test_a_mapping_that_is_no_toml_is_one_sentence(work: Path) -> None:
    assert refusal(through(work, "[source\n"), 2).startswith("map.toml is not TOML: Expected ']'")
    (work / "map.toml").write_bytes(b'[source]\nside = "\xff"\n')
    assert refusal(analyze("ingest", "--map", "map.toml", "x.csv", cwd=work), 2).startswith(
        "map.toml is not UTF-8 text"
    )
    assert refusal(analyze("ingest", "--map", "nope.toml", "x.csv", cwd=work), 2).startswith(
        "nope.toml cannot be read: No such file"
    )
    assert refusal(analyze("ingest", "--map", ".", "x.csv", cwd=work), 2).startswith(". cannot be read: Is a directory")


@pytest.mark.usefixtures("csv")
def test_a_column_that_the_file_lacks_is_named_with_the_nearest(work: Path) -> None:
    ran = through(work, SOURCE + '[columns]\nsent = {column = "t00", unit = "ns"}\nrequest = "idd"\n')
    assert refusal(ran, 2) == (
        'x.csv has no column "t00"; did you mean "t0"?; x.csv has no column "idd"; did you mean "id"?;'
        ' it has "id", "t0", "ttft_ms", "end"'
    )  # fmt: skip
    assert not (work / "analyze.duckdb").exists()


@pytest.mark.usefixtures("csv")
def test_a_mapping_and_a_source_are_one_too_many_and_a_folder_is_none(work: Path) -> None:
    both = refusal(through(work, SOURCE + SENT, "--source", "events"), 2)
    assert both == "a file is read through a mapping or by a source, not both; leave --source or --map out"
    (work / "logs").mkdir()
    (work / "logs" / "y.csv").write_text("t0\n1\n")
    assert "name the files, not a folder" in refusal(analyze("ingest", "--map", "map.toml", "logs", cwd=work), 2)


@pytest.mark.usefixtures("csv")
def test_a_row_that_does_not_parse_is_noted_with_line_and_column_and_fails_under_strict(work: Path) -> None:
    (work / "x.csv").write_text(f"t0\n{T0}\nsoon\n")
    ran = through(work, SOURCE + SENT)
    assert ran.code == 0
    assert ran.notes[0] == 'refused: x.csv, line 3: column "t0" as sent: not a number'
    assert through(work, SOURCE + SENT, "--strict").code == 3


def test_a_file_without_a_format_is_told_of_the_mapping(work: Path, csv: Path) -> None:
    assert refusal(analyze("ingest", csv.name, cwd=work), 3).endswith(
        "`analyze sources suggest` drafts a mapping for --map, and docs/event-log.md has a format that any tool can write"
    )


def test_the_mapping_is_listed_among_what_can_be_read(work: Path) -> None:
    assert well("sources", cwd=work).rows[-1]["source"] == "--map FILE"


# -- suggest ----------------------------------------------------------------------------------------------------------


def suggested(work: Path, name: str) -> tuple[str, dict[str, Any]]:
    """The draft, and what it means as it is."""
    ran = well("sources", "suggest", name, cwd=work)
    assert ran.err == ""
    return ran.out, tomllib.loads(ran.out)


def lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_clients_file_is_drafted_and_its_draft_reads_it(work: Path) -> None:
    rows = [
        {
            "request_id": f"r{n}", "sentAt": (T0 + n) / 10**9, "ttft_ms": 20.5 + n, "first_token_ts": (T0 + n) // 10**6 + 30, "finished": "2026-11-30T20:02:50Z",
            "usage": {"prompt_tokens": 12, "completion_tokens": n}, "status": 200, "success": True, "prompt": "say, what is it that you want of me today?", "latency": 1.25 + n, "output_len": 7,
        }
        for n in range(30)
    ]  # fmt: skip
    rows.append(rows[0] | {"success": False, "request_id": "r30", "status": 429})
    lines(work / "x.jsonl", rows)
    text, draft = suggested(work, "x.jsonl")
    assert draft["source"] == {"side": "client", "clock": "x", "format": "jsonl"}
    assert draft["columns"] == {
        "request": "request_id",
        "sent": {"column": "sentAt", "unit": "s"},
        "first_content": {"column": "ttft_ms", "unit": "ms", "add_to": "sent"},
        "done": {"column": "finished", "unit": "iso"},
        "input_tokens": "usage.prompt_tokens",
        "output_tokens": "usage.completion_tokens",
        "status_code": "status",
        "outcome": "success",
    }
    assert draft["values"] == {"outcome": {"true": "ok"}}
    assert (
        "# first_token_ts: whole numbers near 1.80e+12: unix time in ms (2026-11-30); what a client sees of it is content; but first_content is taken from ttft_ms already\n# first_content = "
        in text
    )
    assert '# done = {column = "latency", unit = "s", add_to = "sent"}\n# last_content = ' in text
    assert '# output_tokens = "output_len"\n# retokenized_output_tokens = "output_len"\n' in text
    assert "prompt (text, perhaps what users wrote)" in text
    assert '# "false" = ""\n' in text
    (work / "map.toml").write_text(text)
    ran = well("ingest", "--map", "map.toml", "x.jsonl", cwd=work)
    assert [(row["kept"], row["refused"]) for row in ran.rows] == [("30", "1")]
    assert ran.notes[0].endswith(
        "false is none of ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved; name it under values.outcome"
    )


@pytest.mark.parametrize(("unit", "factor"), [("ns", 1), ("us", 10**3), ("ms", 10**6), ("s", 10**9)])
def test_the_unit_of_a_moment_is_told_from_how_large_it_is(work: Path, unit: str, factor: int) -> None:
    (work / "x.csv").write_text(f"arrive,done\n{T0 // factor},{T0 // factor}\n")
    _, draft = suggested(work, "x.csv")
    assert draft["columns"] == {
        name: {"column": column, "unit": unit} for name, column in (("arrived", "arrive"), ("done", "done"))
    }


def test_an_uncertain_side_or_unit_is_left_to_the_reader(work: Path) -> None:
    (work / "x.csv").write_text(f"arrive_ms,admitted,ttft,start\n{T0},{T0},0.4,{T0}\n")
    text, draft = suggested(work, "x.csv")
    assert "side" not in draft["source"]
    assert '# side = "engine"\n# side = "gateway"\n' in text
    assert "arrived" not in draft["columns"]
    assert (
        'unix time in ns (2026-11-30), though its name says ms\n# arrived = {column = "arrive_ms", unit = "ns"}\n'
        in text
    )
    assert "where it is the moment that work began, write started instead" in text
    assert "seconds or milliseconds is not told" in text
    assert '# arrived = {column = "start", unit = "ns"}\n# started = {column = "start", unit = "ns"}\n' in text
    (work / "map.toml").write_text(text)
    assert refusal(analyze("ingest", "--map", "map.toml", "x.csv", cwd=work), 2).startswith(
        "map.toml: source.side is missing"
    )


def test_a_file_of_durations_counts_from_the_start_of_each_request(work: Path) -> None:
    (work / "x.csv").write_text("request_id,ttft_ms,tpot_ms\na,20.5,8\nb,0,9\n")
    text, draft = suggested(work, "x.csv")
    assert "clock_kind" not in draft["source"]
    assert '# clock_kind = "duration"\n' in text
    assert "1 of them 0: add zero_is_missing = true if that stands for not recorded" in text
    assert '# first_content = {column = "ttft_ms", unit = "ms"}\n' in text
    assert "Not suggested: tpot_ms (whole numbers)" in text


def test_words_for_how_it_ended_are_taken_as_far_as_they_are_certain(work: Path) -> None:
    (work / "x.csv").write_text(
        "".join(["sent,outcome,phase\n", *(f"{T0},{word},main\n" for word in ("success", "Failed", "aborted", "ok"))])
    )
    text, draft = suggested(work, "x.csv")
    assert draft["values"] == {"outcome": {"success": "ok", "Failed": "error"}, "phase": {"main": "measured"}}
    assert (
        '# which of ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved it is, is not certain\n# "aborted" = ""\n'
        in text
    )


def test_times_without_a_zone_and_other_delimiters_are_seen(work: Path) -> None:
    (work / "x.csv").write_text("sent;done\n2026-11-30T20:02:40.1234567;2026-11-30 20:02:41\n")
    text, draft = suggested(work, "x.csv")
    assert draft["source"]["delimiter"] == ";"
    assert '# zone = "UTC"\n' in text
    assert draft["columns"]["sent"] == {"column": "sent", "unit": "iso"}


def test_parquet_is_drafted_from_its_own_types(work: Path) -> None:
    table = pa.table(
        {"sent": pa.array([T0], pa.timestamp("ns", "UTC")), "rid": ["a"], "use": [{"prompt_tokens": 3, "tags": ["x"]}]}
    )
    pq.write_table(table, work / "x.parquet")
    text, draft = suggested(work, "x.parquet")
    assert draft["columns"] == {"sent": {"column": "sent", "unit": "iso"}, "input_tokens": "use.prompt_tokens"} | {
        "request": "rid"
    }
    assert "use.tags (objects or lists)" in text
    (work / "map.toml").write_text(text)
    well("ingest", "--strict", "--map", "map.toml", "x.parquet", cwd=work)
    assert asked("SELECT request, time_ns, input_tokens FROM event", cwd=work) == [("a", str(T0), 3)]


@pytest.mark.shared
def test_a_draft_for_the_servers_log_names_what_is_sure_and_what_is_not(work: Path, shared_data: Path) -> None:
    log = shared_data / "made" / "aiperf" / "conc16" / "server_events.jsonl"
    text, draft = suggested(work, str(log))
    assert draft["columns"] == {
        "arrived": {"column": "arrive", "unit": "ns"},
        "admitted": {"column": "admitted", "unit": "ns"},
        "done": {"column": "done", "unit": "ns"},
        "request": "rid",
        "route": "path",
        "input_tokens": "prompt_tokens",
        "output_tokens": "completion_tokens",
        "status_code": "status",
        "error_type": "fault",
    }
    assert draft["values"] == {"status_code": {"client_gone": "", "cut": "", "midstream": ""}}
    for line in (
        '# side = "engine"',
        '# first_token = {column = "first", unit = "ns"}',
        '# outcome = "status"',
        '# request = "corr"',
    ):
        assert f"{line}\n" in text
    (work / "map.toml").write_text(text.replace('# side = "engine"', 'side = "engine"'))
    ran = well("ingest", "--strict", "--map", "map.toml", str(log), cwd=work)
    assert [(row["records"], row["kept"]) for row in ran.rows] == [("245", "245")]


def test_hostile_names_of_columns_stay_in_their_quotes(work: Path) -> None:
    names = ["]\n[values]\nx = 1 # ", '"; \\ # model', "\x1b[31mmodel\x7f", "mod\u202eel", "model\ud800"]
    lines(work / "x.jsonl", [{"sent": T0, **dict.fromkeys(names, "m")}])
    ran = well("sources", "suggest", "x.jsonl", cwd=work, PYTHONIOENCODING="ascii")
    draft = tomllib.loads(ran.out)
    assert draft.keys() == {"source", "columns"}
    assert all(line.isprintable() for line in ran.out.splitlines())
    (work / "map.toml").write_text(ran.out)
    well("ingest", "--map", "map.toml", "x.jsonl", cwd=work)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "holds no record"),
        (b"a,b\n", "holds no record"),
        (b"[1]", "is one JSON list"),
        (b'{"a":\n1}\n', "holds no record"),
        (b"PAR1", "cannot be read as Parquet"),
        (b"\x00\x01\x02", "is neither CSV nor JSONL nor Parquet"),
    ],
)
def test_a_file_that_no_mapping_can_read_is_one_sentence(work: Path, content: bytes, said: str) -> None:
    (work / "x").write_bytes(content)
    assert said in refusal(analyze("sources", "suggest", "x", cwd=work), 3)
    assert (
        refusal(analyze("sources", "suggest", "nowhere", cwd=work), 3)
        == "nowhere is not a regular file; name a CSV, JSONL or Parquet file"
    )
