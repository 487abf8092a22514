"""The benchmark itself: it runs, it refuses to time work that was not done, and its tables say what was measured."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import ingest
import pytest
import timed

BENCHMARK = Path(ingest.__file__)


def measured() -> ingest.Measured:
    made = ingest.Measured("json", 1_000, 170, 1_000, 2_000_000, store_bytes=5_000_000)
    made.wall_s, made.cpu_s, made.peak_bytes = [2.0, 4.0, 1.0], [3.0, 3.0, 3.0], [2**20, 3 * 2**20, 2 * 2**20]
    made.steps = [{"import_s": 0.1, "ingest_s": 0.5, "derive_s": 0.2}]
    slow, quick = ({"wall_s": wall, "cpu_s": 1.0, "peak_bytes": 2**20, "load_s": wall / 2} for wall in (6.0, 3.0))
    made.peer = {"one way": [slow], "another": [quick]}
    return made


def printed(peer: ingest.Peer) -> str:
    row = measured()
    if not peer.version:
        row.peer = {}
    found = {"machine": {"processor": "p"}, "rows": [row], "limits": {1_000: {"read the file": 4_000.0}}}
    return ingest.markdown(found, argparse.Namespace(rounds=3, seed=1, zstd=False), peer)


def test_a_table_gives_medians_and_their_range() -> None:
    line = next(line for line in printed(ingest.Peer(None)).splitlines() if line.startswith("| json"))
    assert line == "| json | 1,000 | 2.0 | 2.00 | 1.00 to 4.00 | 0.5 | 1.0 | 3.00 | 2 | 0.10 | 0.50 | 0.20 | 5.0 |"


def test_the_peer_stands_with_its_quickest_way_and_the_ratio_is_its_time_over_ours() -> None:
    text = printed(ingest.Peer(Path("python"), version="chdb 1"))
    assert "Beside chdb 1, the same bytes" in text
    assert "| json | 1,000 | 2.00 | 3.00 | 1.50 | 0.50 | 1.50 | 3.00 | 1 | another |" in text


def test_a_missing_peer_is_said() -> None:
    text = printed(ingest.Peer(None, "chdb is not installed here"))
    assert "No peer was measured: chdb is not installed here." in text


def test_a_limit_is_told_in_spans_as_well() -> None:
    assert "| read the file | 1,000 | 4,000 | 2,000 |" in printed(ingest.Peer(None))


def test_a_program_that_fails_stops_the_benchmark(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="ended with 3: why"):
        timed.run([sys.executable, "-c", "import sys; print('why', file=sys.stderr); sys.exit(3)"], tmp_path)


def test_a_program_is_measured_whole(tmp_path: Path) -> None:
    run = timed.run(
        [sys.executable, "-c", "import time; held = bytearray(64 << 20); time.sleep(0.05); print('x')"], tmp_path
    )
    assert run.out == "x\n"
    assert run.wall_s >= 0.05
    assert 64 << 20 < run.peak_bytes < 1 << 30


def test_messages_for_the_peer_have_varints_before_them(tmp_path: Path) -> None:
    file = tmp_path / "messages"
    file.write_bytes(b"".join(len(body).to_bytes(4, "big") + body for body in (b"a", b"", b"b" * 300)))
    assert ingest._with_varints(file).read_bytes() == b"\x01a\x00\xac\x02" + b"b" * 300


def test_it_runs_and_finds_everything_that_was_made(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, BENCHMARK, "--spans", "300", "--rounds", "1", "--no-peer", "--forms", "json", "--json"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    (row,) = found["rows"]
    assert (row["form"], row["records"] >= 300, len(row["wall_s"]), len(row["steps"])) == ("json", True, 1, 1)
    assert set(found["limits"]["300"]) == {
        "read the file", "SHA-256", "`json_valid` of every line, DuckDB", "unpack zstd, level 3, one thread",
    }  # fmt: skip
