"""What each command prints and leaves behind: data on stdout, the same answer every time, and no run mixed with another."""

from __future__ import annotations

import csv
import io
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from building import declare, lines, write
from running import Ran, analyze, asked, refusal, well

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_traces"
COMMANDS = [
    [], ["ingest"], ["sources"], ["sources", "suggest"], ["sources", "verify"], ["sources", "crosswalk"], ["sql"], ["timeline"], ["audit"], ["clocks"], ["manifest"], ["manifest", "new"], ["freeze"], ["seal"], ["report"], ["export"],
]  # fmt: skip
# Everything that a store says of its requests, as one number a table.
CONTENT = """
SELECT 'event' AS what, count(*)::INT AS n, md5(string_agg(e::VARCHAR, chr(10) ORDER BY e::VARCHAR)) AS digest
FROM (SELECT * EXCLUDE (source_file, position) FROM event) AS e
UNION ALL
SELECT 'span', count(*), md5(string_agg(s::VARCHAR, chr(10) ORDER BY s::VARCHAR))
FROM (SELECT * EXCLUDE (source_file, position) FROM span) AS s
UNION ALL SELECT 'attempt', count(*), md5(string_agg(a::VARCHAR, chr(10) ORDER BY a::VARCHAR)) FROM attempt AS a
UNION ALL SELECT 'stage', count(*), md5(string_agg(a::VARCHAR, chr(10) ORDER BY a::VARCHAR)) FROM stage AS a
UNION ALL SELECT 'percentile', count(*), md5(string_agg(p::VARCHAR, chr(10) ORDER BY p::VARCHAR)) FROM percentile AS p
UNION ALL SELECT 'outcome', count(*), md5(string_agg(p::VARCHAR, chr(10) ORDER BY p::VARCHAR)) FROM outcome_count AS p
ORDER BY what
"""


def content(work: Path, store: str = "analyze.duckdb") -> list[tuple[Any, ...]]:
    found = asked(CONTENT, cwd=work, store=store)
    assert {what: n for what, n, _ in found}["attempt"] > 0
    return found


def copy_of(sample: str, folder: Path) -> Path:
    return shutil.copytree(SAMPLES / sample, folder, ignore=shutil.ignore_patterns(".*", "*.html", "*.summary.json"))


# -- printing -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command) or "analyze")
def test_every_help_has_an_example_that_names_its_command(work: Path, command: list[str]) -> None:
    ran = well(*command, "--help", cwd=work)
    _, _, after = ran.out.partition("Example:\n")
    assert f"analyze {' '.join(command)}".rstrip() in after.split("\n\n")[0]
    assert ran.err == ""


def test_every_command_is_listed_here(work: Path) -> None:
    listed = well("--help", cwd=work).out.partition("Commands:\n")[2]
    assert {line.split()[0] for line in listed.splitlines()} == {command[0] for command in COMMANDS if command}


def strict(text: str) -> Any:
    def never(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=never)


def test_the_ledger_is_all_that_ingest_prints_on_stdout(work: Path, log: Path) -> None:
    ran = well("ingest", log.name, cwd=work)
    assert ran.rows == [
        {"path": "log.jsonl", "source": "events", "run": "default", "records": "10", "kept": "10", "set_aside": "0", "refused": "0", "duplicates": "0", "dropped": "0"}
    ]  # fmt: skip
    assert ran.err == ""


@pytest.mark.usefixtures("stored")
def test_json_is_strict_and_keeps_what_json_numbers_cannot(work: Path) -> None:
    query = (
        "SELECT 9007199254740993 AS big, 'infinity'::DOUBLE AS never, '-infinity'::DOUBLE AS below, 'nan'::DOUBLE AS nan,"
        " 0.1::DOUBLE AS tenth, 1.50::DECIMAL(9, 2) AS exact, NULL AS none, true AS yes, [1, 2] AS list, {'a': 1} AS inner"
    )
    (row,) = strict(well("sql", query, "--json", cwd=work).out)
    assert row == {
        "big": "9007199254740993", "never": "not_reached", "below": None, "nan": None, "tenth": 0.1, "exact": 1.5,
        "none": None, "yes": True, "list": [1, 2], "inner": {"a": 1},
    }  # fmt: skip
    assert strict(well("sql", "FROM percentile", "--json", cwd=work).out)
    assert strict(well("sql", "FROM run WHERE false", "--json", cwd=work).out) == []
    listed = {row["source"]: row["reads"] for row in strict(well("sources", "--json", cwd=work).out)}
    assert {"events", "otlp", "aiperf", "guidellm", "vllm_bench"} <= listed.keys()
    assert all(listed.values())
    ledger = strict(well("ingest", "log.jsonl", "--json", cwd=work).out)
    assert [(row["path"], row["records"]) for row in ledger] == [("log.jsonl", 10)]


@pytest.mark.usefixtures("stored")
def test_csv_has_no_cell_that_a_spreadsheet_would_run(work: Path) -> None:
    query = "SELECT unnest(['=1+1', '+1', '-1', '@x', chr(9) || '=1', 'plain', 'a,b', 'say \"so\"', '']) AS cell, -1 AS number"
    found = list(csv.reader(io.StringIO(well("sql", query, "--csv", cwd=work).out)))
    assert found[0] == ["cell", "number"]
    assert [row[0] for row in found[1:]] == ["'=1+1", "'+1", "'-1", "'@x", "'\t=1", "plain", "a,b", 'say "so"', ""]
    assert {row[1] for row in found[1:]} == {"-1"}


@pytest.mark.usefixtures("stored")
def test_piped_output_is_plain_columns(work: Path) -> None:
    ran = well(
        "sql",
        "SELECT tenant, outcome FROM request ORDER BY request_id",
        cwd=work,
        TERM="xterm-256color",
        FORCE_COLOR="1",
    )
    assert ran.out == "tenant\toutcome\nacme\tok\nglobex\ttimeout\nacme\tok\n"


@pytest.mark.usefixtures("stored")
def test_statements_are_traced_to_stderr_and_never_to_stdout(work: Path) -> None:
    ran = analyze("--trace-sql", "sql", "SELECT 1 AS one", cwd=work)
    assert (ran.code, ran.out) == (0, "one\n1\n")
    assert "SELECT 1 AS one;" in ran.err


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_output_holds_whatever_the_encoding_of_the_terminal(work: Path, encoding: str) -> None:
    ran = well("sql", "SELECT 'Łódź é ✓ 🚀' AS tenant", "--json", cwd=work, PYTHONIOENCODING=encoding)
    assert strict(ran.out) == [{"tenant": "Łódź é ✓ 🚀"}]
    plain = well("sql", "SELECT 'Łódź é ✓ 🚀' AS tenant", cwd=work, PYTHONIOENCODING=encoding)
    assert len(plain.out.splitlines()) == 2


# -- ingest -------------------------------------------------------------------------------------------------------


def test_ingest_twice_changes_nothing_and_says_so(work: Path) -> None:
    copy_of("vllm-direct", work / "traces")
    first = well("ingest", "traces", cwd=work)
    before = content(work)
    second = well("ingest", "traces", cwd=work)
    assert second.out == first.out
    assert "in the store already, byte for byte: 2 of 2 files" in second.notes
    assert content(work) == before


@pytest.mark.usefixtures("stored")
def test_a_changed_file_replaces_its_rows(work: Path, log: Path) -> None:
    write(log, lines("a sent 0\na done 5 outcome=ok\nz sent 1\nz done 5 outcome=error"))
    assert well("ingest", log.name, cwd=work).rows[0]["records"] == "4"
    assert asked("SELECT request_id, outcome FROM request ORDER BY request_id", cwd=work) == [
        ("a", "ok"),
        ("z", "error"),
    ]
    assert asked("SELECT path, records FROM source_file", cwd=work) == [(log.name, 4)]
    assert asked("SELECT sum(requests)::INT FROM outcome_count WHERE load_point = '(all)'", cwd=work) == [(2,)]


@pytest.mark.usefixtures("stored")
def test_a_copy_under_another_name_is_recognised(work: Path, log: Path) -> None:
    before = content(work)
    shutil.copy(log, work / "zz-copy.jsonl")
    ran = well("ingest", ".", cwd=work, ANALYZE_STORE="analyze.duckdb")
    assert content(work) == before
    assert ran.notes == [
        "./log.jsonl: same bytes as log.jsonl: its 10 records were not taken twice",
        "./zz-copy.jsonl: same bytes as log.jsonl: its 10 records were not taken twice",
    ]


@pytest.mark.usefixtures("stored")
def test_when_a_file_changes_its_copy_keeps_the_rows_they_shared(work: Path, log: Path) -> None:
    shutil.copy(log, work / "copy.jsonl")
    shutil.copy(log, work / "third.jsonl")
    well("ingest", "copy.jsonl", "third.jsonl", cwd=work)
    write(log, lines("z sent 1\nz done 5 outcome=error"))
    well("ingest", log.name, cwd=work)
    assert asked("SELECT request_id FROM request ORDER BY request_id", cwd=work) == [("a",), ("b",), ("c",), ("z",)]
    ledger = asked("SELECT path, records, note FROM source_file ORDER BY path", cwd=work)
    assert ledger == [
        ("copy.jsonl", 10, None),
        ("log.jsonl", 2, None),
        ("third.jsonl", 0, "same bytes as copy.jsonl: its 10 records were not taken twice"),
    ]


def test_when_a_file_changes_another_keeps_the_spans_they_shared(work: Path) -> None:
    raw = (SAMPLES / "three-services" / "traces.otlp.jsonl").read_bytes().splitlines(keepends=True)
    (work / "a.jsonl").write_bytes(b"".join(raw[: len(raw) * 2 // 3]))
    (work / "b.jsonl").write_bytes(b"".join(raw[len(raw) // 3 :]))
    well("ingest", "a.jsonl", "b.jsonl", cwd=work)
    assert asked("SELECT sum(duplicates) > 0 FROM source_file", cwd=work) == [(True,)]
    (work / "a.jsonl").write_bytes(raw[0])
    well("ingest", "a.jsonl", cwd=work)
    well("ingest", "a.jsonl", "b.jsonl", "--store", "fresh.duckdb", cwd=work)
    assert content(work) == content(work, "fresh.duckdb")
    ledger = "SELECT path, records, kept, set_aside, refused, duplicates FROM source_file ORDER BY path"
    assert asked(ledger, cwd=work) == asked(ledger, cwd=work, store="fresh.duckdb")


def test_the_order_of_files_does_not_matter(work: Path) -> None:
    copy_of("three-services", work / "traces")
    raw = (work / "traces" / "traces.otlp.jsonl").read_bytes().splitlines(keepends=True)
    # Two files that overlap, as a rotation may leave them.
    (work / "traces" / "part-1.jsonl").write_bytes(b"".join(raw[: len(raw) * 2 // 3]))
    (work / "traces" / "part-2.jsonl").write_bytes(b"".join(raw[len(raw) // 3 :]))
    paths = ["traces/client.events.jsonl", "traces/part-1.jsonl", "traces/part-2.jsonl"]
    well("ingest", *paths, "--run", "x", "--store", "forth.duckdb", cwd=work)
    for path in reversed(paths):
        well("ingest", path, "--run", "x", "--store", "back.duckdb", cwd=work)
    assert content(work, "forth.duckdb") == content(work, "back.duckdb")


def test_a_folder_that_holds_the_store_does_not_read_it(work: Path, log: Path) -> None:
    well("ingest", ".", "--store", "s.duckdb", cwd=work)
    ran = well("ingest", ".", "--store", "s.duckdb", cwd=work)
    assert [row["path"] for row in ran.rows] == [f"./{log.name}"]
    assert not any("s.duckdb" in note for note in ran.notes)


def test_the_run_that_is_named_beats_the_run_of_the_line(work: Path) -> None:
    rows = lines("a sent 0 run=blue\na done 9 outcome=ok run=blue\nb sent 0 run=green\nb done 9 outcome=ok run=green")
    write(work / "log.jsonl", rows)
    well("ingest", "log.jsonl", cwd=work)
    assert asked("SELECT run, request_id FROM request ORDER BY ALL", cwd=work) == [("blue", "a"), ("green", "b")]
    well("ingest", "log.jsonl", "--run", "red", cwd=work)
    assert asked("SELECT run, request_id FROM request ORDER BY ALL", cwd=work) == [("red", "a"), ("red", "b")]


def test_a_run_is_named_by_the_manifest_that_lists_its_file(work: Path, log: Path) -> None:
    declare(work, [log.name], name="night")
    well("ingest", ".", cwd=work)
    assert asked("SELECT DISTINCT run FROM request", cwd=work) == [("night",)]
    well("ingest", ".", "--run", "other", cwd=work)
    assert asked("SELECT DISTINCT run FROM request", cwd=work) == [("other",)]


def test_one_run_never_pools_with_another(work: Path) -> None:
    write(work / "a.jsonl", lines("r sent 0\nr first_content 10\nr done 20 outcome=ok"))
    write(work / "b.jsonl", lines("r sent 0\nr first_content 90\nr done 99 outcome=ok"))
    well("ingest", "a.jsonl", "--run", "a", cwd=work)
    well("ingest", "b.jsonl", "--run", "b", cwd=work)
    query = "SELECT run, n, p50 FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND load_point = '(all)' ORDER BY run"
    assert asked(query, cwd=work) == [("a", 1, 10.0), ("b", 1, 90.0)]


def test_the_store_of_the_environment_is_used(work: Path, log: Path) -> None:
    well("ingest", log.name, cwd=work, ANALYZE_STORE="other.duckdb")
    assert (work / "other.duckdb").is_file()
    assert not (work / "analyze.duckdb").exists()


# -- manifests and reports ------------------------------------------------------------------------------------------


def report(work: Path, path: Path, *more: str | Path, **environment: str) -> Ran:
    return well("report", "--manifest", path, *more, cwd=work, **environment)


def test_a_report_names_what_it_wrote_and_its_verdict(work: Path, sealed: Path) -> None:
    ran = report(work, sealed)
    assert {row["what"]: row["value"] for row in ran.rows} == {
        "page": str(work / "night.html"),
        "summary": str(work / "night.summary.json"),
        "promise p": "cannot tell",
    }
    summary = strict((work / "night.summary.json").read_text(encoding="utf-8"))
    assert summary["run_id"] == json.loads(sealed.read_text())["artifact"]["run_id"]


def grow(work: Path) -> None:
    with (work / "log.jsonl").open("a") as stream:
        stream.write(" ")


def truncate(work: Path) -> None:
    content = (work / "log.jsonl").read_bytes()
    (work / "log.jsonl").write_bytes(content[:-1])


def replace(work: Path) -> None:
    content = (work / "log.jsonl").read_bytes()
    (work / "log.jsonl").write_bytes(content.replace(b"acme", b"ACME"))


def lose(work: Path) -> None:
    (work / "log.jsonl").unlink()


def add(work: Path) -> None:
    write(work / "more.jsonl", lines("z sent 0"))


def edit(work: Path) -> None:
    path = work / "night.json"
    path.write_text(path.read_text().replace('"target": 0.5', '"target": 0.4'))


@pytest.mark.parametrize(
    ("change", "path", "what", "likely"),
    [
        (grow, "log.jsonl", "changed", "grew"),
        (truncate, "log.jsonl", "changed", "truncated"),
        (replace, "log.jsonl", "changed", "replaced"),
        (lose, "log.jsonl", "missing", "missing"),
        (add, "more.jsonl", "extra", "extra"),
        (edit, "night.json", "contract", "edited after it was frozen"),
    ],
)
def test_what_differs_from_the_seal_is_a_table_and_no_report(
    work: Path, sealed: Path, change: Callable[[Path], None], path: str, what: str, likely: str
) -> None:
    change(work)
    ran = analyze("report", "--manifest", sealed.name, cwd=work)
    assert ran.code == 4
    found = ran.rows[0]
    assert (found["path"], found["what"], found["likely"]) == (path, what, likely)
    (error,) = ran.err.splitlines()
    assert error.startswith("analyze: error: there is no report: ")
    assert not list(work.glob("*.html"))
    assert not list(work.glob("*.summary.json"))
    (first, *_) = strict(analyze("report", "--manifest", sealed.name, "--json", cwd=work).out)
    assert (first["path"], first["likely"]) == (path, likely)


def test_an_unsealed_manifest_gives_no_report(work: Path, log: Path) -> None:
    path = declare(work, [log.name])
    ran = analyze("report", "--manifest", path.name, cwd=work)
    assert (ran.code, ran.rows[0]["what"]) == (4, "unsealed")
    assert "seal it first" in ran.err


@pytest.fixture
def day_and_night(work: Path) -> Path:
    """Give a folder with two runs, a sealed manifest each."""
    for name, ms in (("day", 100), ("night", 900)):
        text = f"{name} sent 0 streamed=true\n{name} first_content {ms}\n{name} done 1000 outcome=ok"
        write(work / f"{name}.jsonl", lines(text))
        declare(work, [f"{name}.jsonl"], name=name)
    for name in ("day", "night"):
        well("seal", "--no-promise", f"{name}.json", cwd=work)
    return work


def test_two_manifests_in_a_folder_each_report_their_own_file_only(day_and_night: Path) -> None:
    for name, ms, other in (("day", 100.0, "night"), ("night", 900.0, "day")):
        report(day_and_night, Path(f"{name}.json"))
        text = (day_and_night / f"{name}.summary.json").read_text(encoding="utf-8")
        rows = [row for row in strict(text)["views"]["percentile"] if row["metric"] == "ttft"]
        assert {(row["run"], row["n"], row["p50"]) for row in rows} == {(name, 1, ms)}
        assert f'"{other}' not in text


def test_two_manifests_report_from_one_shared_store_as_from_their_own(day_and_night: Path) -> None:
    for name in ("day", "night", "day"):
        report(day_and_night, Path(f"{name}.json"), "--store", "shared.duckdb")
        shared = (day_and_night / f"{name}.summary.json").read_bytes()
        report(day_and_night, Path(f"{name}.json"))
        assert (day_and_night / f"{name}.summary.json").read_bytes() == shared
    found = asked("SELECT run, request_id FROM request ORDER BY run", cwd=day_and_night, store="shared.duckdb")
    assert found == [("day", "day"), ("night", "night")]


def test_a_report_takes_the_rows_that_the_store_has_under_another_name(work: Path, sealed: Path, stored: Path) -> None:
    report(work, sealed, "--store", stored.name)
    from_shared = (work / "night.summary.json").read_bytes()
    assert asked("SELECT run, count(*) FROM request GROUP BY run", cwd=work) == [("night", 3)]
    report(work, sealed)
    assert (work / "night.summary.json").read_bytes() == from_shared


def test_a_report_leaves_the_rows_of_other_runs_out(work: Path, sealed: Path) -> None:
    report(work, sealed)
    alone = (work / "night.summary.json").read_bytes()
    folder = work.parent / "other"
    folder.mkdir()
    write(folder / "other.jsonl", lines("a sent 0 streamed=true\na first_content 7777\na done 9999 outcome=ok"))
    well("ingest", folder / "other.jsonl", "--run", "other", cwd=work)
    report(work, sealed, "--store", "analyze.duckdb")
    assert (work / "night.summary.json").read_bytes() == alone


def test_a_file_that_another_manifest_has_claimed_is_refused(work: Path, sealed: Path) -> None:
    report(work, sealed, "--store", "shared.duckdb")
    twin = declare(work, ["log.jsonl"], name="twin")
    well("seal", "--no-promise", twin.name, cwd=work)
    said = refusal(analyze("report", "--manifest", twin.name, "--store", "shared.duckdb", cwd=work), 2)
    assert said.startswith("log.jsonl is already part of run night in shared.duckdb")
    assert not (work / "twin.html").exists()


def test_a_run_of_that_name_with_other_files_is_refused(work: Path, sealed: Path) -> None:
    folder = work.parent / "other"
    folder.mkdir()
    write(folder / "other.jsonl", lines("z sent 0\nz done 9 outcome=ok"))
    well("ingest", folder / "other.jsonl", "--run", "night", cwd=work)
    said = refusal(analyze("report", "--manifest", sealed.name, "--store", "analyze.duckdb", cwd=work), 2)
    assert "which night.json does not list" in said


def test_two_files_of_the_same_bytes_can_be_sealed_and_reported(work: Path, log: Path) -> None:
    shutil.copy(log, work / "copy.jsonl")
    path = declare(work, ["log.jsonl", "copy.jsonl"], name="twice")
    well("seal", "--no-promise", path.name, cwd=work)
    well("seal", "--no-promise", path.name, cwd=work)
    report(work, path)
    report(work, path, "--store", "shared.duckdb")
    report(work, path, "--store", "shared.duckdb")
    assert asked("SELECT count(*) FROM request", cwd=work, store="shared.duckdb") == [(3,)]


def made(work: Path, path: Path, *more: str | Path, **environment: str) -> tuple[bytes, bytes]:
    """The page and the summary of a report that is written anew."""
    report(work, path, "--out", work / "out.html", *more, **environment)
    return (work / "out.html").read_bytes(), (work / "out.summary.json").read_bytes()


def test_a_report_is_the_same_bytes_everywhere(work: Path) -> None:
    path = copy_of("three-services", work / "run") / "run.json"
    first = made(work, path)
    assert made(work, path) == first
    elsewhere = {"TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "7", "LC_ALL": "C", "PYTHONUTF8": "0", "LANG": "de_DE.UTF-8"}
    shutil.rmtree(work / "run" / ".analyze")
    assert made(work, path, **elsewhere) == first
    assert made(work / "run", Path("run.json"), PYTHONHASHSEED="11") == first
    deep = work / "a" / "b c"
    deep.parent.mkdir()
    copied = copy_of("three-services", deep) / "run.json"
    assert made(work, copied, "--store", "shared.duckdb", TZ="America/New_York") == first


def test_a_manifest_from_new_seals_and_reports_as_it_stands(work: Path, log: Path) -> None:
    well("ingest", log.name, cwd=work)
    assert well("manifest", "new", cwd=work).out == "run.json\n"
    document = json.loads((work / "run.json").read_text())
    assert (document["name"], document["artifact"]["raw"]) == ("default", [{"path": "log.jsonl"}])
    assert document["workload"]["output_tokens"] == {"p50": 4, "p95": 11, "max": 11}
    sealed_as = well("seal", "--no-promise", "run.json", cwd=work).out.strip()
    assert len(sealed_as) == 16
    report(work, Path("run.json"))
    assert (work / "run.html").is_file()
    assert well("seal", "--no-promise", "run.json", cwd=work).out.strip() == sealed_as


def test_a_new_manifest_takes_the_place_of_nothing(work: Path, stored: Path) -> None:
    (work / "run.json").write_text("mine")
    assert refusal(analyze("manifest", "new", cwd=work), 2).startswith("run.json exists")
    assert (work / "run.json").read_text() == "mine"
    assert "holds no run nights" in refusal(
        analyze("manifest", "new", "--run", "nights", "--out", "x.json", cwd=work), 2
    )
    assert refusal(analyze("manifest", "new", "--out", "no/x.json", cwd=work), 2).startswith("no does not exist")
    assert stored.is_file()


def test_freezing_twice_gives_one_hash_and_a_changed_contract_wants_a_reason(work: Path, log: Path) -> None:
    path = declare(work, [log.name])
    first = well("freeze", path.name, cwd=work).out
    assert well("freeze", path.name, cwd=work).out == first
    document = json.loads(path.read_text())
    document["model"]["id"] = "another"
    path.write_text(json.dumps(document))
    refusal(analyze("freeze", path.name, cwd=work), 4)
    assert well("freeze", path.name, "--post-hoc", "the model was misnamed", cwd=work).out != first
    well("seal", "--no-promise", path.name, cwd=work)
    report(work, path)
    assert "the model was misnamed" in (work / "r.html").read_text(encoding="utf-8")


def test_a_cache_that_was_spoilt_is_made_again(work: Path, sealed: Path) -> None:
    report(work, sealed)
    before = (work / "night.summary.json").read_bytes()
    (work / ".analyze" / "night.duckdb").write_bytes(b"spoilt")
    report(work, sealed)
    assert (work / "night.summary.json").read_bytes() == before
