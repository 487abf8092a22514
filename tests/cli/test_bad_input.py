"""What is wrong with an input is said in one line, with the right exit code, and leaves nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from hashlib import sha512
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest
import zstandard
from building import declare, lines, span, write
from running import COMMAND, analyze, asked, refusal, surroundings, well

from analyzer.sources.registry import known

if TYPE_CHECKING:
    from collections.abc import Callable

TRACE = "0af7651916cd43dd8448eb211c80319c"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


# -- paths ------------------------------------------------------------------------------------------------------


def test_a_missing_path_is_named_and_no_store_is_made(work: Path) -> None:
    assert refusal(analyze("ingest", "nowhere", cwd=work), 3) == "nowhere does not exist; check the path"
    assert names(work) == set()


def test_an_empty_folder_is_named_and_no_store_is_made(work: Path) -> None:
    (work / "empty").mkdir()
    assert refusal(analyze("ingest", "empty", cwd=work), 3).startswith("empty is an empty folder")
    assert names(work) == {"empty"}


def test_a_file_that_no_source_knows_is_refused_when_it_is_named(work: Path) -> None:
    (work / "notes.txt").write_text("hello\n")
    said = refusal(analyze("ingest", "notes.txt", cwd=work), 3)
    assert said.startswith("notes.txt is of no format that a source knows; `analyze sources` lists the formats; ")
    assert names(work) == {"notes.txt"}


def test_a_file_that_no_source_knows_stops_the_good_ones_named_beside_it(work: Path, log: Path) -> None:
    (work / "notes.txt").write_text("hello\n")
    refusal(analyze("ingest", log.name, "notes.txt", cwd=work), 3)
    assert names(work) == {"log.jsonl", "notes.txt"}


def test_a_file_that_no_source_knows_is_set_aside_with_a_note_in_a_folder(work: Path, log: Path) -> None:
    (work / "notes.txt").write_text("hello\n")
    (work / "nothing.jsonl").write_bytes(b"")
    ran = well("ingest", ".", cwd=work)
    assert ran.notes == ["set aside, no source knows them (2): ./notes.txt, ./nothing.jsonl"]
    assert [row["path"] for row in ran.rows] == [f"./{log.name}"]


def test_a_folder_of_unknown_files_only_is_refused(work: Path) -> None:
    (work / "notes").mkdir()
    (work / "notes" / "notes.txt").write_text("hello\n")
    assert refusal(analyze("ingest", "notes", cwd=work), 3).startswith("notes: no file of a format that a source knows")
    assert names(work) == {"notes", "notes/notes.txt"}


def test_a_file_of_no_bytes_is_refused_when_it_is_named(work: Path) -> None:
    (work / "nothing.jsonl").write_bytes(b"")
    refusal(analyze("ingest", "nothing.jsonl", cwd=work), 3)
    assert names(work) == {"nothing.jsonl"}


def test_a_link_to_nothing_is_refused_when_named_and_noted_in_a_folder(work: Path, log: Path) -> None:
    (work / "gone.jsonl").symlink_to("nowhere")
    assert refusal(analyze("ingest", "gone.jsonl", cwd=work), 3) == "gone.jsonl does not exist; check the path"
    ran = well("ingest", ".", cwd=work)
    assert ran.notes == ["./gone.jsonl is not a regular file and was left out; name what it stands for"]
    assert [row["path"] for row in ran.rows] == [f"./{log.name}"]


def test_a_link_to_a_folder_is_noted_and_not_passed_over_in_silence(work: Path, log: Path) -> None:
    (work.parent / "elsewhere").mkdir()
    (work / "linked").symlink_to(work.parent / "elsewhere")
    assert well("ingest", ".", cwd=work).notes == [
        "./linked is not a regular file and was left out; name what it stands for"
    ]
    assert log.is_file()


def test_a_pipe_is_refused_because_recognising_it_would_eat_it(work: Path) -> None:
    os.mkfifo(work / "pipe")
    assert refusal(analyze("ingest", "pipe", cwd=work), 3).startswith("pipe is not a regular file")


def test_a_name_that_is_too_long_is_a_sentence(work: Path) -> None:
    assert "File name too long" in refusal(analyze("ingest", "x" * 5000, cwd=work), 3)


# -- files that are not whole -------------------------------------------------------------------------------------


def test_a_torn_last_line_is_refused_by_itself_and_noted(work: Path, log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-20])
    ran = well("ingest", log.name, cwd=work)
    assert [(row["records"], row["kept"], row["refused"]) for row in ran.rows] == [("10", "9", "1")]
    assert ran.notes[0] == "refused: log.jsonl, line 10: torn last line: the file ends inside it"
    found = asked(
        'SELECT source_file, position, reason, starts_with(sample, \'{"request": "c"\') FROM refused', cwd=work
    )
    assert found == [("log.jsonl", "line 10", "torn last line: the file ends inside it", True)]


def test_a_torn_last_line_fails_under_strict_and_what_was_whole_stays(work: Path, log: Path) -> None:
    log.write_bytes(log.read_bytes()[:-20])
    ran = analyze("ingest", "--strict", log.name, cwd=work)
    assert ran.code == 3
    errors = [line for line in ran.err.splitlines() if line.startswith("analyze: error: ")]
    assert errors == [
        "analyze: error: records were refused, and --strict allows none; mend them, or leave --strict out"
    ]
    assert asked("SELECT count(*) FROM event", cwd=work) == [(9,)]


def test_strict_is_content_when_nothing_was_refused(work: Path, log: Path) -> None:
    well("ingest", "--strict", log.name, cwd=work)


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_file_that_is_cut_short_is_refused_whole(work: Path, ending: str) -> None:
    text = "".join(
        json.dumps(line) + "\n" for line in lines("\n".join(f"r{i} sent {i * 7919 % 10007}" for i in range(5000)))
    )
    packed = gzip.compress(text.encode()) if ending == "gz" else zstandard.ZstdCompressor().compress(text.encode())
    path = work / f"log.jsonl.{ending}"
    path.write_bytes(packed[: len(packed) * 9 // 10])
    assert refusal(analyze("ingest", path.name, cwd=work), 3).startswith(f"{path.name} is not whole: ")
    assert names(work) == {path.name}
    path.write_bytes(packed)
    well("ingest", path.name, cwd=work)
    assert asked("SELECT count(*) FROM event", cwd=work) == [(5000,)]


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_compressed_file_with_wrong_bytes_inside_is_refused_whole(work: Path, ending: str) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines("\n".join(f"r{i} sent {i}" for i in range(20000))))
    compressor = zstandard.ZstdCompressor(write_checksum=True)
    packed = bytearray(gzip.compress(text.encode()) if ending == "gz" else compressor.compress(text.encode()))
    packed[len(packed) * 4 // 5 : len(packed) * 4 // 5 + 40] = bytes(40)
    path = work / f"log.jsonl.{ending}"
    path.write_bytes(packed)
    assert "is not whole" in refusal(analyze("ingest", path.name, cwd=work), 3)
    assert names(work) == {path.name}


def test_members_of_gzip_and_frames_of_zstd_one_after_another_are_all_read(work: Path) -> None:
    first, second = (json.dumps(lines(f"r{i} sent {i}")[0]).encode() + b"\n" for i in range(2))
    (work / "a.jsonl.gz").write_bytes(gzip.compress(first) + gzip.compress(second))
    pack = zstandard.ZstdCompressor().compress
    (work / "b.jsonl.zst").write_bytes(pack(first) + pack(second))
    assert [row["records"] for row in well("ingest", ".", cwd=work).rows] == ["2", "2"]


def test_a_document_that_is_cut_short_is_refused_whole(work: Path) -> None:
    (work / "benchmarks.json").write_text('{"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": [{"config": {}')
    assert refusal(analyze("ingest", "benchmarks.json", cwd=work), 3).startswith("benchmarks.json is not whole JSON")
    assert names(work) == {"benchmarks.json"}


def test_a_torn_file_leaves_the_whole_ones_before_it_and_a_store_that_opens(work: Path, log: Path) -> None:
    (work / "z.json").write_text('{"metadata": {"guidellm_version": "0.8.1"}, "benchmarks": [{"config": {}')
    refusal(analyze("ingest", log.name, "z.json", cwd=work), 3)
    assert asked("SELECT path FROM source_file", cwd=work) == [(log.name,)]
    assert asked("SELECT outcome, count(*) FROM request GROUP BY outcome ORDER BY outcome", cwd=work) == [
        ("ok", 2),
        ("timeout", 1),
    ]


# -- lines --------------------------------------------------------------------------------------------------------


def test_odd_bytes_between_lines_cost_no_line(work: Path) -> None:
    good = [json.dumps(line).encode() for line in lines("a sent 0\nb sent 1\nc sent 2\nd sent 3")]
    content = (
        b"\xef\xbb\xbf\x00\x00"
        + good[0]
        + b"\r\n\r\n\n"
        + good[1]
        + b"\r\n\x00\x00\x00"
        + good[2]
        + b"\n   \n\x00\n"
        + good[3]
    )
    (work / "odd.jsonl").write_bytes(content)
    ran = well("ingest", "--strict", "odd.jsonl", cwd=work)
    assert [(row["records"], row["refused"]) for row in ran.rows] == [("4", "0")]
    assert asked("SELECT request, position FROM event ORDER BY position", cwd=work) == [
        ("a", 1),
        ("b", 4),
        ("c", 5),
        ("d", 8),
    ]


def test_a_line_that_is_no_utf_8_is_refused_by_itself(work: Path) -> None:
    good = [json.dumps(line).encode() for line in lines("a sent 0\nb sent 1")]
    (work / "odd.jsonl").write_bytes(
        good[0] + b"\n" + good[0].replace(b"acme", b"\xff").replace(b'"a"', b'"\xc3\x28"') + b"\n" + good[1] + b"\n"
    )
    assert well("ingest", "odd.jsonl", cwd=work).notes[0] == "refused: odd.jsonl, line 2: not UTF-8"
    assert asked("SELECT request FROM event ORDER BY request", cwd=work) == [("a",), ("b",)]


def test_a_line_of_15_mb_costs_no_line(work: Path) -> None:
    first, second, third = lines("a sent 0\nb sent 1\nc sent 2")
    write(work / "long.jsonl", [first, second | {"x_pad": "x" * 15_000_000}, third])
    well("ingest", "--strict", "long.jsonl", cwd=work)
    assert asked("SELECT request FROM event ORDER BY request", cwd=work) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("start", ["[" * 100_000, '{"resourceSpans":' + "[" * 100_000])
def test_a_line_that_is_nested_without_end_is_no_crash(work: Path, start: str) -> None:
    (work / "deep.jsonl").write_text(start + "\n")
    ran = analyze("ingest", "--strict", "deep.jsonl", cwd=work)
    assert ran.code == 3
    assert ran.err.count("analyze: error: ") == 1
    assert "Traceback" not in ran.err


def test_broken_lines_in_the_middle_are_refused_one_by_one_in_the_order_of_the_file(work: Path, log: Path) -> None:
    whole = log.read_text().splitlines()
    log.write_text("\n".join([whole[0], "{", "[1]", "null", *whole[1:10], "nonsense", '{"event":']) + "\n")
    notes = well("ingest", log.name, cwd=work).notes
    assert notes == [
        "refused: log.jsonl, line 2: not valid JSON",
        "refused: log.jsonl, line 3: not a JSON object",
        "refused: log.jsonl, line 4: not a JSON object",
        "refused: log.jsonl, line 14: not valid JSON",
        "refused: log.jsonl, line 15: not valid JSON",
        "5 records refused in all; `analyze sql 'FROM refused'` lists them",
    ]


# -- use ----------------------------------------------------------------------------------------------------------


def test_a_source_that_does_not_exist_is_refused_with_those_that_do(work: Path, log: Path) -> None:
    said = refusal(analyze("ingest", "--source", "event", log.name, cwd=work), 2)
    assert said == f"there is no source event; did you mean events? installed: {', '.join(known())}"
    assert names(work) == {log.name}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["ingest", "--bogus", "x"], "No such option '--bogus'; `analyze ingest --help` shows what it takes"),
        (["--bogus"], "No such option '--bogus'; `analyze --help` shows what it takes"),
        (["nonsense"], "No such command 'nonsense'; `analyze --help` shows what it takes"),
        (["ingest"], "Missing argument 'PATH...'; `analyze ingest --help` shows what it takes"),
        (["report"], "Missing option '--manifest'; `analyze report --help` shows what it takes"),
        (["sql", "FROM run", "--json", "--csv"], "--json and --csv exclude each other; ask for one of them"),
        (["ingest", "--run", "", "x"], "--run is empty or holds characters that do not print; give the run a name"),
    ],
)
def test_wrong_use_is_one_line_that_says_where_help_is(work: Path, arguments: list[str], said: str) -> None:
    assert refusal(analyze(*arguments, cwd=work), 2) == said
    assert names(work) == set()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize(
    ("query", "part"),
    [
        ("SELEC 1", 'syntax error at or near "SELEC"'),
        ("FROM nowhere", "Table with name nowhere does not exist"),
        ("SELECT tenat FROM request", 'Candidate bindings: "tenant"'),
        ("DROP TABLE event", "read-only mode"),
        ("SELECT 1 +", "syntax error"),
        ("", "there is no query in it"),
    ],
)
def test_a_query_that_does_not_run_is_one_line(work: Path, query: str, part: str) -> None:
    assert part in refusal(analyze("sql", query, cwd=work), 2)
    assert asked("SELECT count(*) FROM event", cwd=work) == [(10,)]


# -- stores -------------------------------------------------------------------------------------------------------


def test_a_query_on_a_missing_store_makes_none(work: Path) -> None:
    assert refusal(analyze("sql", "FROM run", cwd=work), 3).startswith(
        "analyze.duckdb does not exist; run `analyze ingest`"
    )
    assert names(work) == set()


def test_a_store_in_a_missing_folder_is_refused(work: Path, log: Path) -> None:
    said = refusal(analyze("ingest", log.name, "--store", "no/where.duckdb", cwd=work), 3)
    assert said == "no does not exist; make the folder first, or name another --store"
    assert names(work) == {log.name}


def foreign(path: Path, kind: str) -> None:
    if kind == "text":
        path.write_text("hello\n" * 1000)
    elif kind == "nothing":
        path.write_bytes(b"")
    else:
        with duckdb.connect(path) as con:
            con.execute("CREATE TABLE mine AS SELECT range FROM range(1000)")


@pytest.mark.parametrize("command", [["sql", "FROM run"], ["ingest", "log.jsonl"]], ids=["sql", "ingest"])
@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("text", "clock.db is no DuckDB file; name another --store"),
        ("nothing", "clock.db is no DuckDB file; name another --store"),
        ("database", "clock.db is a DuckDB file but no store of analyze; name another --store"),
    ],
)
def test_a_file_that_is_no_store_is_refused_and_left_as_it_was(
    work: Path, log: Path, command: list[str], kind: str, said: str
) -> None:
    path = work / "clock.db"  # a name with "lock" in it is no lock
    foreign(path, kind)
    before = path.read_bytes()
    assert refusal(analyze(*command, "--store", path.name, cwd=work), 3) == said
    assert path.read_bytes() == before
    assert names(work) == {log.name, path.name}


@pytest.mark.usefixtures("stored")
def test_a_store_of_another_layout_is_refused(work: Path) -> None:
    with duckdb.connect(work / "analyze.duckdb") as con:
        con.execute("UPDATE store_state SET value = '999' WHERE key = 'layout'")
    assert "has layout 999" in refusal(analyze("sql", "FROM run", cwd=work), 3)


@pytest.mark.usefixtures("stored")
def test_half_a_store_is_refused(work: Path) -> None:
    path = work / "analyze.duckdb"
    path.write_bytes(path.read_bytes()[:100_000])
    refusal(analyze("sql", "SELECT count(*) FROM event", cwd=work), 3)


def test_no_name_of_a_store_means_memory(work: Path, log: Path) -> None:
    well("ingest", log.name, "--store", ":memory:", cwd=work)
    assert asked("SELECT count(*) FROM event", cwd=work, store=":memory:") == [(10,)]


def test_a_folder_is_no_store(work: Path, log: Path) -> None:
    assert refusal(analyze("ingest", log.name, "--store", ".", cwd=work), 3).startswith(". is a directory, not a store")


def test_a_store_cannot_be_made_where_nothing_can_be_written(work: Path, log: Path, read_only: Path) -> None:
    said = refusal(analyze("ingest", log.name, "--store", read_only / "s.duckdb", cwd=work), 3)
    assert said.startswith(f"{read_only}/s.duckdb cannot be made: ")
    assert names(read_only) == set()


def test_a_page_cannot_be_written_where_nothing_can_be_written(work: Path, sealed: Path, read_only: Path) -> None:
    said = refusal(analyze("report", "--manifest", sealed.name, "--out", read_only / "page.html", cwd=work), 2)
    assert said.startswith(f"{read_only}/page.html cannot be written: ")


def test_a_full_disk_leaves_no_store(work: Path, log: Path, mounted: Callable[[str], Path]) -> None:
    full = mounted("size=12k")
    refusal(analyze("ingest", log.name, "--store", full / "s.duckdb", cwd=work), 3)
    assert names(full) == set()


def test_a_disk_that_fills_up_leaves_a_store_of_whole_files(
    work: Path, log: Path, mounted: Callable[[str], Path]
) -> None:
    small = mounted("size=4m")
    rows = lines("\n".join(f"r{i} sent {i}" for i in range(30_000)))
    write(work / "much.jsonl", [row | {"route": sha512(row["request"].encode()).hexdigest() * 2} for row in rows])
    said = refusal(analyze("ingest", log.name, "much.jsonl", "--store", small / "s.duckdb", cwd=work), 3)
    assert "cannot be written" in said
    with duckdb.connect(small / "s.duckdb", read_only=True) as con:
        assert con.execute("SELECT source_file, count(*) FROM event GROUP BY ALL").fetchall() == [(log.name, 10)]
        assert con.execute("SELECT path FROM source_file").fetchall() == [(log.name,)]


def test_a_full_disk_leaves_no_part_of_a_page(work: Path, sealed: Path, mounted: Callable[[str], Path]) -> None:
    small = mounted("size=64k")
    said = refusal(analyze("report", "--manifest", sealed.name, "--out", small / "page.html", cwd=work), 2)
    assert said == f"{small}/page.html cannot be written: No space left on device; name another --out"
    assert names(small) == set()


def test_a_full_disk_leaves_the_page_that_was_there(work: Path, sealed: Path, mounted: Callable[[str], Path]) -> None:
    well("report", "--manifest", sealed.name, cwd=work)
    page = (work / "night.html").stat().st_size
    small = mounted(f"size={page + 24_000}")  # room for the page, not for the summary beside it
    (small / "page.html").write_text("yesterday's")
    refusal(analyze("report", "--manifest", sealed.name, "--out", small / "page.html", cwd=work), 2)
    assert (small / "page.html").read_text() == "yesterday's"
    assert names(small) == {"page.html"}


@pytest.mark.usefixtures("stored")
def test_a_full_standard_output_is_a_sentence(work: Path) -> None:
    home = surroundings(work.parent / ".home")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [COMMAND, "sql", "FROM event"],
            cwd=work,
            env=home,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    said = "analyze: error: standard output cannot be read or written: No space left on device\n"
    assert (done.returncode, done.stderr) == (3, said)


# -- manifests ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["report", "--manifest"], ["seal"], ["freeze"]], ids=["report", "seal", "freeze"])
def test_a_folder_given_as_a_manifest_is_refused(work: Path, sealed: Path, command: list[str]) -> None:
    assert (
        refusal(analyze(*command, ".", cwd=work), 2)
        == ". is a folder, and a manifest is a file; name the run.json of the run"
    )
    sealed.rename(work / "run.json")
    assert refusal(analyze(*command, ".", cwd=work), 2).endswith("did you mean run.json?")


@pytest.mark.parametrize("command", [["report", "--manifest"], ["seal"], ["freeze"]], ids=["report", "seal", "freeze"])
@pytest.mark.parametrize(
    ("content", "part"),
    [
        ("", "is empty"),
        ("hello", "is not JSON: line 1, column 1"),
        ('{"manifest": 1,', "it looks cut off"),
        ("[1]", "it holds a list, not an object"),
        ("{}", 'it lacks "manifest": 1'),
        ('{"manifest": 2}', "only version 1 can be read"),
        ('{"manifest": 1, "manifest": 1}', "stands twice"),
        (None, "does not exist"),
    ],
)
def test_what_is_no_manifest_is_said_in_one_line(
    work: Path, command: list[str], content: str | None, part: str
) -> None:
    if content is not None:
        (work / "run.json").write_text(content)
    assert part in refusal(analyze(*command, "run.json", cwd=work), 2)


def test_a_misspelt_key_is_named_with_the_one_that_was_meant(work: Path, sealed: Path) -> None:
    document = json.loads(sealed.read_text())
    document["measurement"]["sloo"] = document["measurement"].pop("slo")
    sealed.write_text(json.dumps(document))
    said = refusal(analyze("report", "--manifest", sealed.name, cwd=work), 2)
    assert said == "night.json: measurement.sloo is not a field; did you mean slo?"


def test_a_manifest_with_a_fault_is_noted_when_its_folder_is_read(work: Path, sealed: Path) -> None:
    document = json.loads(sealed.read_text())
    document["measurement"]["sloo"] = document["measurement"].pop("slo")
    sealed.write_text(json.dumps(document))
    assert "night.json: measurement.sloo is not a field; did you mean slo?" in well("ingest", ".", cwd=work).notes


def test_a_listed_file_that_does_not_exist_is_named(work: Path, log: Path) -> None:
    path = declare(work, [log.name, "gone.jsonl"])
    assert refusal(analyze("seal", path.name, cwd=work), 3).startswith("gone.jsonl, listed by r.json, does not exist")
    assert names(work) == {log.name, path.name}


def test_a_listed_file_that_no_source_knows_is_named(work: Path, log: Path) -> None:
    (work / "notes.txt").write_text("hello\n")
    path = declare(work, [log.name, "notes.txt"])
    assert refusal(analyze("seal", path.name, cwd=work), 3).startswith("notes.txt, listed by r.json, is of no format")
    assert names(work) == {log.name, path.name, "notes.txt"}


@pytest.mark.parametrize("target", ["log.jsonl", "night.json", "."])
def test_a_page_never_takes_the_place_of_the_run_itself(work: Path, sealed: Path, target: str) -> None:
    before = {path: path.read_bytes() for path in (work / "log.jsonl", sealed)}
    refusal(analyze("report", "--manifest", sealed.name, "--out", target, cwd=work), 2)
    assert {path: path.read_bytes() for path in before} == before


def test_a_page_never_takes_the_place_of_a_device(work: Path, sealed: Path) -> None:
    os.mkfifo(work / "pipe")
    assert refusal(analyze("report", "--manifest", sealed.name, "--out", "pipe", cwd=work), 2).startswith(
        "pipe is no regular file"
    )


# -- hostile names ------------------------------------------------------------------------------------------------

HOSTILE = [
    "'; DROP TABLE event; --",
    "\"quoted\" and 'single' and `back` and $dollar {brace} %s",
    "two\nlines\tand a tab",
    "\x1b[31mred\x1b[0m\x07",
    "</script><script>alert(1)</script>",
    "../../etc/passwd",
    "=HYPERLINK(1)",
    "ключ ✓ 🚀 \u202egnp.exe",
]


def in_one_line(text: str) -> bool:
    return all(character.isprintable() for line in text.splitlines() for character in line.replace("\t", ""))


def test_hostile_names_in_a_log_are_data_and_nothing_else(work: Path) -> None:
    shape = lines("a sent 0\na first_content 5\na done 9 outcome=ok")
    fields = ("request", "run", "tenant", "model", "load_point", "error_type")
    write(work / "log.jsonl", [line | dict.fromkeys(fields, name) for name in HOSTILE for line in shape])
    assert well("ingest", "log.jsonl", cwd=work).out.isascii()
    query = "SELECT run, tenant, request_id, model, load_point, error_type FROM request ORDER BY run"
    assert asked(query, cwd=work) == [(name,) * 6 for name in sorted(HOSTILE)]
    table = well("sql", query, cwd=work).out
    assert in_one_line(table)
    assert len(table.splitlines()) == 1 + len(HOSTILE)
    strata = asked("SELECT DISTINCT tenant FROM outcome_count WHERE tenant <> '(all)' ORDER BY tenant", cwd=work)
    assert strata == [(name,) for name in sorted(HOSTILE)]


def test_hostile_names_of_files_are_read_and_shown_in_one_line(work: Path) -> None:
    given = sorted(f"./{name}" for name in HOSTILE if "/" not in name)
    for number, name in enumerate(given):
        write(work / name, lines(f"r{number} sent 0\nr{number} done 9 outcome=ok"))
    ran = well("ingest", *given, "--store", "x'; --.duckdb", cwd=work)
    assert in_one_line(ran.out)
    assert len(ran.out.splitlines()) == 1 + len(given)
    query = "SELECT path, kept FROM source_file ORDER BY path"
    assert asked(query, cwd=work, store="x'; --.duckdb") == [(name, 2) for name in given]
    (work / "two\nlines").write_text("no log")
    assert refusal(analyze("ingest", "two\nlines", cwd=work), 3).startswith("two lines is of no format")


def test_a_file_name_that_is_no_utf_8_is_read_and_shown_with_escapes(work: Path) -> None:
    path = os.fsdecode(os.fsencode(work) + b"/\xff.jsonl")
    write(work / path, lines("a sent 0"))
    assert well("ingest", ".", cwd=work).rows[0]["path"] == "./\\xff.jsonl"
    refusal(analyze("ingest", ".", "--store", os.fsdecode(b"\xfe.duckdb"), cwd=work), 3)


def test_hostile_names_of_runs_are_data_or_refused(work: Path, log: Path) -> None:
    refusal(analyze("ingest", log.name, "--run", "two\nlines", cwd=work), 2)
    assert names(work) == {log.name}
    well("ingest", log.name, "--run", HOSTILE[0], cwd=work)
    assert asked("SELECT DISTINCT run FROM request", cwd=work) == [(HOSTILE[0],)]


def test_hostile_names_in_spans_are_data_and_nothing_else(work: Path) -> None:
    made: list[dict[str, Any]] = [
        span(TRACE, number, service=name, scope=name, kind=2, start=0, end=5, name=name, host=name, attributes={name: name, "http.route": "/v1/chat/completions", "tenant": name})
        for number, name in enumerate(HOSTILE, 1)
    ]  # fmt: skip
    write(work / "spans.jsonl", made)
    well("ingest", "spans.jsonl", cwd=work)
    found = asked("SELECT service, scope, name, clock FROM span ORDER BY position", cwd=work)
    assert found == [(name,) * 4 for name in HOSTILE]
    assert asked("SELECT DISTINCT tenant FROM attempt ORDER BY tenant", cwd=work) == [
        (name,) for name in sorted(HOSTILE)
    ]


# -- formats --------------------------------------------------------------------------------------------------------

SPAN: dict[str, Any] = {
    "traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "startTimeUnixNano": "1796069035919617536",
    "endTimeUnixNano": "1796069035972662081", "attributes": [{"key": "user.id", "value": {"stringValue": "a secret"}}],
}  # fmt: skip
LOOKALIKE = {
    "trace_id": "chain",
    "spans": [{"span_id": "first", "start_time": "2026-02-25T10:00:00", "attributes": {}}],
}


def otlp(*spans: dict[str, Any]) -> str:
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}) + "\n"


def test_a_list_of_spans_that_is_not_otlp_is_refused_with_the_reason(work: Path, log: Path) -> None:
    (work / "chain.json").write_text(json.dumps(LOOKALIKE))
    why = "it lists spans, and not as OTLP does: 'first' is no span id of 16 hex digits"
    assert why in refusal(analyze("ingest", "chain.json", cwd=work), 3)
    ran = well("ingest", ".", cwd=work)
    assert ran.notes[0] == "set aside, no source knows them (1): ./chain.json"
    assert ran.notes[1].startswith(f"./chain.json: {why}")
    assert [row["path"] for row in ran.rows] == [f"./{log.name}"]
    (work / "only").mkdir()
    (work / "only" / "chain.json").write_text(json.dumps(LOOKALIKE))
    assert why in refusal(analyze("ingest", "only", cwd=work), 3)


def test_an_attribute_that_is_named_reaches_neither_store_nor_output(work: Path) -> None:
    (work / "spans.jsonl").write_text(otlp(SPAN, {**SPAN, "traceId": "zz"}))
    ran = well("ingest", "spans.jsonl", "--drop", "user.*", "--drop", "other", cwd=work)
    assert [(row["records"], row["refused"], row["dropped"]) for row in ran.rows] == [("2", "1", "1")]
    assert asked("SELECT attributes::VARCHAR AS a FROM span", cwd=work) == [("{}",)]
    assert b"a secret" not in (work / "analyze.duckdb").read_bytes()
    assert "a secret" not in ran.out + ran.err


def test_limits_are_options(work: Path) -> None:
    (work / "spans.jsonl").write_text(otlp(SPAN) + otlp({**SPAN, "name": "x" * 2000}))
    ran = well("ingest", "spans.jsonl", "--max-line-bytes", "1000", cwd=work)
    assert ran.notes[0].endswith("line 2: the line is longer than 1000 bytes, the limit for one line")
    assert [row["refused"] for row in well("ingest", "spans.jsonl", cwd=work).rows] == ["0"]
    deep = refusal(analyze("ingest", "spans.jsonl", "--max-depth", "100000", cwd=work), 2)
    assert "is not in the range" in deep


def test_rotated_files_of_a_folder_are_read_as_one_log(work: Path) -> None:
    (work / "logs").mkdir()
    text = otlp(SPAN) + otlp({**SPAN, "spanId": "eee19b7ec3c1b175"})
    (work / "logs" / "t-2022-09-14T05-02-14.173.json").write_text(text[:-40])
    (work / "logs" / "t.json").write_text(text[-40:] + otlp({**SPAN, "spanId": "eee19b7ec3c1b176"}))
    ran = well("ingest", "--strict", "logs", cwd=work)
    assert [(row["records"], row["refused"]) for row in ran.rows] == [("2", "0"), ("1", "0")]
    assert len(ran.notes) == 2


# -- memory -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", ["lots", "4", "-1GB"])
def test_a_size_of_memory_that_is_none_is_refused(work: Path, size: str) -> None:
    log = write(work / "one.jsonl", lines("a sent 0\na done 5 outcome=ok"))
    assert (
        refusal(analyze("ingest", log, cwd=work, ANALYZE_MEMORY=size), 2)
        == f"ANALYZE_MEMORY={size} is no size; write a number and a unit, such as 4GB"
    )
    assert names(work) == {"one.jsonl"}


def test_the_database_keeps_to_the_memory_it_is_given(work: Path) -> None:
    log = write(work / "one.jsonl", lines("a sent 0\na done 5 outcome=ok"))
    well("ingest", log, cwd=work, ANALYZE_MEMORY="1GiB")
    asking = ("sql", "SELECT current_setting('memory_limit') AS m", "--csv")
    assert well(*asking, cwd=work, ANALYZE_MEMORY="1GiB").out == "m\n1.0 GiB\n"
