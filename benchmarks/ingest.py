"""How fast files become a store: whole process, its steps, a peer on the same bytes, and the machine's own limits.

    python benchmarks/ingest.py --spans 200000 --peer-python .venv-chdb/bin/python

Prints Markdown, or JSON with --json. Every run is a new process with a new store on disk, ours and the peer's by
turns; figures are medians. What a store holds afterwards is compared with what the generator knows, and a run that
lost or made up anything stops the benchmark.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import chdb_load
import machine
import timed
import traffic

HERE = Path(__file__).parent
TOTAL = " AND ".join(
    f"{key} = '(all)'" for key in ("load_point", "tenant", "input_bin", "output_bin", "window_start")
)  # fmt: skip
_STEPS = ("import_s", "ingest_s", "derive_s")


@dataclass(slots=True)
class Peer:
    """The Python that runs the peer, None when there is none, and then why."""

    python: Path | None
    absent: str = ""
    version: str = ""


@dataclass(slots=True)
class Measured:
    """One form at one size: what was read, in bytes as they are unpacked, and the figures of each round."""

    form: str
    spans: int
    requests: int
    records: int
    bytes: int
    store_bytes: int = 0
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    peak_bytes: list[int] = field(default_factory=list)
    steps: list[dict[str, float]] = field(default_factory=list)
    peer: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    """Rounds of the peer, by the way in which it read."""

    def step_s(self, name: str) -> float:
        """Median seconds of a step."""
        return statistics.median(step[name] for step in self.steps)

    def best_peer(self) -> tuple[str, dict[str, float]] | None:
        """The peer's quickest way, and the medians of its rounds."""
        middle = {
            way: {name: statistics.median(one[name] for one in rounds) for name in rounds[0]}
            for way, rounds in self.peer.items()
        }
        return min(middle.items(), key=lambda item: item[1]["wall_s"], default=None)


# -- one run of each ---------------------------------------------------------------------------------------------------


def _ours(file: traffic.Written, folder: Path) -> tuple[timed.Timed, Path]:
    """The command as a user runs it; stops the benchmark when the ledger is not the generator's."""
    store = folder / "whole.duckdb"
    run = timed.run([sys.executable, "-m", "analyzer", "ingest", file.path, "--store", store, "--json"], folder)
    ledger = json.loads(run.out)
    told = [{name: row[name] for name in ("records", "kept", "refused", "duplicates")} for row in ledger]
    if told != [{"records": file.records, "kept": file.records, "refused": 0, "duplicates": 0}]:
        timed.stop(f"{file.records} records were written, the ledger says {told}")
    return run, store


def _check(file: traffic.Written, store: Path, folder: Path) -> dict[str, int]:
    """The store's spans, traces and summed durations; stops the benchmark when it differs from what was made."""
    queries = {
        "outcomes": f"SELECT outcome, requests FROM outcome_count WHERE {TOTAL} ORDER BY outcome",
        "times": "SELECT min(arrived_ns)::VARCHAR AS first_ns, max(done_ns)::VARCHAR AS last_ns FROM request",
        "spans": "SELECT count(*) AS spans, count(DISTINCT trace_id) AS traces,"
        " coalesce(sum(end_ns - start_ns), 0)::BIGINT AS duration_ns FROM span",
    }
    command = [sys.executable, "-m", "analyzer", "sql", "--json", "--store", str(store)]
    found = {name: json.loads(timed.run([*command, query], folder).out) for name, query in queries.items()}
    (spans,) = found.pop("spans")
    known = file.summary()
    expected = [{"outcome": outcome, "requests": count} for outcome, count in known["outcomes"].items()]
    times = [{name: known[name] for name in ("first_ns", "last_ns")}]
    if found != {"outcomes": expected, "times": times}:
        timed.stop(f"the store holds {found}, the generator made {known}")
    return {name: int(value) for name, value in spans.items()}


def _peer_load(peer: Peer, form: str, way: str, file: Path, folder: Path) -> dict[str, Any]:
    """One load by the peer."""
    place = folder / "peer"
    place.mkdir()
    run = timed.run([str(peer.python), HERE / "chdb_load.py", form, way, file, place], folder)
    shutil.rmtree(place)
    load = json.loads(run.out)
    peer.version = load["version"]
    return {**load, "wall_s": run.wall_s, "cpu_s": run.cpu_s, "peak_bytes": run.peak_bytes}


def _with_varints(file: Path) -> Path:
    """A copy in which a message's length is a varint, as the peer wants it; made before any clock starts."""
    path = file.with_name(f"varint-{file.name}")
    with file.open("rb") as source, path.open("wb") as copy:
        while prefix := source.read(4):
            length = left = int.from_bytes(prefix, "big")
            while left >= 0x80:  # noqa: PLR2004 (the bit that says that more follows)
                copy.write(bytes([left & 0x7F | 0x80]))
                left >>= 7
            copy.write(bytes([left]) + source.read(length))
    return path


# -- all rounds --------------------------------------------------------------------------------------------------------


def _measure(file: traffic.Written, spans: int, folder: Path, rounds: int, peer: Peer) -> Measured:
    """Every round of one form."""
    made = Measured(file.form, spans, file.totals.requests, file.records, file.unpacked_bytes)
    ways = chdb_load.WAYS.get(file.form, {}) if peer.python else {}
    if file.path.suffix == ".zst" and file.form == "protobuf":
        ways = {}  # its messages would have to be framed anew, unpacked
    theirs = _with_varints(file.path) if ways and file.form == "protobuf" else file.path
    held: dict[str, int] = {}
    for _ in range(rounds):
        run, store = _ours(file, folder)
        held = held or _check(file, store, folder)
        made.store_bytes = store.stat().st_size
        store.unlink()
        made.wall_s.append(run.wall_s)
        made.cpu_s.append(run.cpu_s)
        made.peak_bytes.append(run.peak_bytes)
        for way in ways:
            load = _peer_load(peer, file.form, way, theirs, folder)
            if (theirs_held := {name: load[name] for name in held}) != held:
                timed.stop(f"by {way} the peer holds {theirs_held}, the store {held}")
            figures = ("wall_s", "cpu_s", "peak_bytes", "load_s")
            made.peer.setdefault(way, []).append({name: load[name] for name in figures})
        steps = folder / "steps.duckdb"
        split = timed.run([sys.executable, HERE / "steps.py", file.path, steps], folder)
        steps.unlink()
        made.steps.append(json.loads(split.out))
    if theirs != file.path:
        theirs.unlink()
    return made


def _limits(path: Path, wanted: argparse.Namespace, folder: Path) -> dict[str, float]:
    found: dict[str, float] = json.loads(
        timed.run([sys.executable, HERE / "limits.py", path, str(wanted.rounds)], folder).out
    )
    return found


def measure(wanted: argparse.Namespace, peer: Peer) -> dict[str, Any]:
    """All sizes and forms: rows of measurements, and the limits of each size."""
    rows: list[Measured] = []
    limits: dict[int, dict[str, float]] = {}
    with tempfile.TemporaryDirectory(dir=wanted.folder) as name:
        folder = Path(name)
        for spans in wanted.spans:
            for form in wanted.forms:
                file = traffic.write(folder, form, seed=wanted.seed, least_spans=spans, zstd=wanted.zstd)
                rows.append(_measure(file, spans, folder, wanted.rounds, peer))
                if form == "json" and not wanted.zstd:
                    limits[spans] = _limits(file.path, wanted, folder)
                file.path.unlink()
    return {"machine": machine.described(), "rows": rows, "limits": limits}


# -- what is printed ---------------------------------------------------------------------------------------------------


def _table(head: str, rows: list[list[str]]) -> str:
    names = head.split(" | ")
    numbers = ["---" if name in ("form", "limit", "it read by") else "---:" for name in names]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (names, numbers, *rows))


def _own_rows(rows: list[Measured]) -> list[list[str]]:
    made = []
    for row in rows:
        wall = statistics.median(row.wall_s)
        made.append(
            [
                row.form, f"{row.records:,}", f"{row.bytes / 1e6:,.1f}", f"{wall:.2f}",
                f"{min(row.wall_s):.2f} to {max(row.wall_s):.2f}", f"{row.records / wall / 1e3:.1f}",
                f"{row.bytes / 1e6 / wall:.1f}", f"{statistics.median(row.cpu_s):.2f}",
                f"{statistics.median(row.peak_bytes) / 2**20:,.0f}", *(f"{row.step_s(step):.2f}" for step in _STEPS),
                f"{row.store_bytes / 1e6:,.1f}",
            ]
        )  # fmt: skip
    return made


def _peer_rows(rows: list[Measured]) -> list[list[str]]:
    made = []
    for row in rows:
        if (best := row.best_peer()) is None:
            continue
        way, middle = best
        wall = statistics.median(row.wall_s)
        made.append(
            [
                row.form, f"{row.records:,}", f"{wall:.2f}", f"{middle['wall_s']:.2f}",
                f"{middle['wall_s'] / wall:.2f}",
                f"{row.step_s('ingest_s'):.2f}", f"{middle['load_s']:.2f}",
                f"{middle['load_s'] / row.step_s('ingest_s'):.2f}",
                f"{middle['peak_bytes'] / 2**20:,.0f}", way,
            ]
        )  # fmt: skip
    return made


def _limit_rows(rows: list[Measured], limits: dict[int, dict[str, float]]) -> list[list[str]]:
    made = []
    for row in rows:
        if row.form == "json" and row.spans in limits:
            a_span = row.bytes / row.records
            made += [
                [name, f"{row.records:,}", f"{speed:,.0f}", f"{speed * 1e3 / a_span:,.0f}"]
                for name, speed in limits[row.spans].items()
            ]
    return made


def markdown(found: dict[str, Any], wanted: argparse.Namespace, peer: Peer) -> str:
    """The tables, with what they were measured on."""
    rows: list[Measured] = found["rows"]
    facts = [f"- {name}: {value}" for name, value in found["machine"].items()]
    facts.append(
        f"- rounds: {wanted.rounds}, medians; seed {wanted.seed}; files {'zstd' if wanted.zstd else 'unpacked'}"
    )
    own = (
        "form | records | MB | whole s | from, to | k records/s | MB/s | CPU s | peak MiB"
        " | imports s | ingest s | derive s | store MB"
    )
    parts = ["\n".join(facts), "**`analyze ingest`**", _table(own, _own_rows(rows))]
    if peers := _peer_rows(rows):
        theirs = (
            "form | records | ours, whole s | peer, whole s | ratio, whole | ours, ingest s | peer, load s"
            " | ratio, load | peer, peak MiB | it read by"
        )
        parts += [f"**Beside {peer.version}, the same bytes**", _table(theirs, peers)]
    else:
        parts.append(f"**No peer was measured: {peer.absent}.**")
    if limits := _limit_rows(rows, found["limits"]):
        parts += ["**Limits, the JSON file**", _table("limit | spans | MB/s | k spans/s", limits)]
    return "\n\n".join(parts)


def _as_json(found: dict[str, Any], wanted: argparse.Namespace, peer: Peer) -> str:
    whole = {**found, "rows": [asdict(row) for row in found["rows"]], "peer": peer.version or None}
    return json.dumps({**whole, "seed": wanted.seed, "rounds": wanted.rounds}, indent=2)


def _found_peer(named: str | None, *, wanted: bool) -> Peer:
    """The Python that was named, else this one if it has chdb."""
    if not wanted:
        return Peer(None, "none was wanted")
    # Absolute, but a link stays as it is: a virtual environment's Python is one.
    python = Path(named or sys.executable).absolute()
    if subprocess.run([python, "-c", "import chdb"], capture_output=True, check=False).returncode == 0:
        return Peer(python)
    if named:
        timed.stop(f"{named} cannot import chdb")
    return Peer(None, "chdb is not installed here; --peer-python names a Python that has it")


def main() -> None:
    """Read the arguments, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[200_000], help="sizes (default %(default)s)")
    parser.add_argument("--forms", nargs="+", choices=traffic.FORMS, default=list(traffic.FORMS), help="(default: all)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds whose median counts (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the traffic (default %(default)s)")
    parser.add_argument("--zstd", action="store_true", help="read files packed with zstd")
    parser.add_argument("--folder", type=Path, help="where files and stores go for the time being (default: system's)")
    parser.add_argument("--peer-python", help="a Python that can import chdb (default: this one, if it can)")
    parser.add_argument("--no-peer", action="store_true", help="leave the peer out")
    parser.add_argument("--json", action="store_true", help="print JSON, with the figures of every round")
    wanted = parser.parse_args()
    peer = _found_peer(wanted.peer_python, wanted=not wanted.no_peer)
    found = measure(wanted, peer)
    print(_as_json(found, wanted, peer) if wanted.json else markdown(found, wanted, peer))


if __name__ == "__main__":
    main()
