"""Whatever stops a command, the store opens and holds whole files, and who waits is told for whom."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from building import declare, lines, write
from running import COMMAND, Ran, analyze, asked, refusal, surroundings, well

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FILES, ROWS = 6, 4000
# Takes minutes, unless somebody stops it.
ENDLESS = "SELECT count(*) FROM range(100000000) AS a, range(1000) AS b WHERE (a.range * b.range) % 7 = 3"


@pytest.fixture
def many(work: Path) -> Path:
    """Give a folder of files that take a while to read, listed by a manifest."""
    folder = work / "traces"
    folder.mkdir()
    names = [f"{number}.jsonl" for number in range(FILES)]
    for name in names:
        text = "\n".join(f"{name}-{i} sent {i}\n{name}-{i} done {i + 5} outcome=ok" for i in range(ROWS // 2))
        write(folder / name, lines(text, tenant=name))
    declare(folder, names, name="night", length_bins={"input_tokens": [7], "output_tokens": [9]})
    return folder


def started(work: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    # A child begins with Ctrl-C ignored where its parent ignores it, as a job in the background does.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [COMMAND, *arguments],
            cwd=work,
            env=surroundings(work.parent / ".home"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def ended(process: subprocess.Popen[str]) -> Ran:
    out, err = process.communicate(timeout=60)
    return Ran(process.returncode, out, err)


def wait_until(process: subprocess.Popen[str], is_so: Callable[[], bool]) -> None:
    for _ in range(6000):
        if is_so() or process.poll() is not None:
            return
        time.sleep(0.005)
    raise AssertionError("it never came to that")


def files_in(store: Path) -> dict[str, tuple[int, int]]:
    """Rows of each file, and what the ledger says of it."""
    with duckdb.connect(store, read_only=True) as con:
        if not con.execute("SELECT count(*) FROM duckdb_tables()").fetchall()[0][0]:
            return {}
        rows = dict(con.execute("SELECT source_file, count(*) FROM event GROUP BY source_file").fetchall())
        ledger = dict(con.execute("SELECT path, kept FROM source_file").fetchall())
    return {path: (rows.get(path, 0), ledger.get(path, 0)) for path in rows.keys() | ledger.keys()}


@pytest.mark.parametrize("after_bytes", [0, 60_000, 1_000_000])
def test_a_killed_ingest_leaves_whole_files_and_the_next_one_completes_it(
    work: Path, many: Path, after_bytes: int
) -> None:
    store = work / "analyze.duckdb"
    wal = work / "analyze.duckdb.wal"
    process = started(work, "ingest", "traces")
    wait_until(process, lambda: store.exists() and (wal.stat().st_size if wal.exists() else 0) > after_bytes)
    process.kill()
    ended(process)
    assert all(found == (ROWS, ROWS) for found in files_in(store).values())
    complete = well("ingest", "traces", cwd=work)
    assert [(row["path"], row["kept"]) for row in complete.rows] == [
        (f"traces/{number}.jsonl", str(ROWS)) for number in range(FILES)
    ]
    assert files_in(store) == {f"traces/{number}.jsonl": (ROWS, ROWS) for number in range(FILES)}
    assert asked("SELECT run, count(*) FROM request GROUP BY run", cwd=work) == [("night", FILES * ROWS // 2)]
    assert many.is_dir()


def test_a_store_that_was_killed_before_it_had_a_table_is_filled_by_the_next_ingest(work: Path) -> None:
    store = work / "analyze.duckdb"
    duckdb.connect(store).close()
    write(work / "log.jsonl", lines("a sent 0\na done 5 outcome=ok"))
    refused = refusal(analyze("sql", "SELECT 1", cwd=work), 3)
    assert refused == "analyze.duckdb has nothing in it; run `analyze ingest` first, or name the store with --store"
    well("ingest", "log.jsonl", cwd=work)
    assert asked("SELECT count(*)::INT FROM request", cwd=work) == [(1,)]


def test_a_query_after_a_killed_ingest_counts_whole_files_as_their_manifest_says(work: Path, many: Path) -> None:
    store = work / "analyze.duckdb"
    process = started(work, "ingest", "traces")
    wal = work / "analyze.duckdb.wal"
    wait_until(process, lambda: wal.exists() and wal.stat().st_size > 60_000)
    process.kill()
    ended(process)
    files = len(files_in(store))
    found = asked(
        "SELECT (SELECT count(*) FROM request)::INT, (SELECT count(*) FROM length_bin WHERE high IN (7, 9))::INT",
        cwd=work,
    )
    assert found == [(files * ROWS // 2, 2)]
    assert many.is_dir()


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("command", [["sql", ENDLESS], ["ingest", "big.jsonl"]], ids=["sql", "ingest"])
def test_ctrl_c_ends_with_130_and_one_note(work: Path, command: list[str]) -> None:
    text = "\n".join(f"{i} sent {i}" for i in range(60_000))
    write(work / "big.jsonl", lines(text))
    process = started(work, *command)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    began = time.monotonic()
    ran = ended(process)
    assert ran == Ran(130, "", "analyze: note: interrupted; what was finished stays, nothing is half-written\n")
    assert time.monotonic() - began < 10
    assert set(asked("SELECT DISTINCT source_file FROM event", cwd=work)) <= {("log.jsonl",), ("big.jsonl",)}


HOLDER = """
import sys, duckdb
con = duckdb.connect(sys.argv[1])
con.execute("BEGIN; CREATE TABLE held (i INT)")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(stored: Path) -> Iterator[subprocess.Popen[str]]:
    """Give another process that writes the store."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, stored], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


@pytest.mark.parametrize(
    "command", [["sql", "FROM run"], ["ingest", "log.jsonl"], ["manifest", "new"]], ids=lambda c: c[0]
)
def test_a_second_process_is_told_who_holds_the_store(
    work: Path, holder: subprocess.Popen[str], command: list[str]
) -> None:
    said = refusal(analyze(*command, cwd=work), 75)
    name = Path(f"/proc/{holder.pid}/exe").readlink().name
    assert said.startswith(f"analyze.duckdb is in use by process {holder.pid} ({name})")
    assert said.endswith("wait until it has finished, or name another --store")
    assert not (work / "run.json").exists()


def test_a_report_is_told_who_holds_the_store_and_leaves_no_page(
    work: Path, sealed: Path, holder: subprocess.Popen[str]
) -> None:
    said = refusal(analyze("report", "--manifest", sealed.name, "--store", "analyze.duckdb", cwd=work), 75)
    assert f"process {holder.pid}" in said
    assert not list(work.glob("*.html"))


@pytest.mark.usefixtures("stored")
def test_two_readers_do_not_wait_for_each_other(work: Path) -> None:
    reading = started(work, "sql", ENDLESS)
    time.sleep(1)
    assert asked("SELECT count(*) FROM event", cwd=work) == [(10,)]
    reading.kill()
    ended(reading)


@pytest.mark.usefixtures("stored")
@pytest.mark.parametrize("form", ["--csv", "--json", ""])
def test_a_reader_that_has_seen_enough_ends_the_command_in_silence(work: Path, form: str) -> None:
    query = "SELECT range AS number, repeat('x', 50) AS pad FROM range(50000)"
    with started(work, "sql", query, *([form] if form else [])) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(30) == 0
