"""What `analyze export --perfetto` writes: strict JSON, every nanosecond of each clock, threads that nest, whole files."""

from __future__ import annotations

import io
import json
import random
import subprocess
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from building import BASE_NS, declare, lines, span, write
from running import COMMAND, analyze, refusal, surroundings, well

from analyzer.jobs import exporting, ingesting, trace_json, trace_lanes, whole_file

if TYPE_CHECKING:
    from collections.abc import Callable

SAMPLES = Path(__file__).parents[2] / "sample_traces"
Event = dict[str, Any]

# Two hosts, one of them with a clock that counts from its start.
RUN = """
a sent 0 tenant=acme streamed=true
a first_content 200.000001 tokens=1
a last_content 500 output_tokens=11
a done 510 outcome=ok
b sent 100
b first_content 300
"""
ENGINE = """
a arrived 3 side=engine clock=boot clock_kind=monotonic
a admitted 4 side=engine clock=boot clock_kind=monotonic
a started 50 side=engine clock=boot clock_kind=monotonic
a first_token 190.000123 side=engine clock=boot clock_kind=monotonic
"""
AT_LARGE: list[dict[str, Any]] = [
    {"event": "gauge", "name": "running", "value": 2.5, "ns": str(BASE_NS + 7), "clock": "c", "side": "engine", "worker": "w1"},
    {"event": "gauge", "name": "running", "value": 3, "ns": str(BASE_NS + 9 * 10**9), "clock": "c", "side": "engine", "worker": "w1"},
    {"event": "ready", "ns": str(BASE_NS - 10**9), "clock": "c", "side": "engine", "worker": "w1"},
]  # fmt: skip


def read(text: str | bytes) -> dict[str, Any]:
    def never(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    found: dict[str, Any] = json.loads(text, parse_float=Decimal, parse_constant=never)
    assert found["displayTimeUnit"] == "ns"
    return found


def exported(work: Path, **selection: Any) -> dict[str, Any]:
    """The trace of the store in a folder."""
    written = io.BytesIO()
    exporting.perfetto(str(work / "analyze.duckdb"), exporting.Selection(**selection), written, None)
    return read(written.getvalue())


def stored_in(work: Path, *files: str | Path, run: str | None = None) -> Path:
    how = ingesting.How(run=run)
    ingesting.run([str(work / file) for file in files], str(work / "analyze.duckdb"), how=how)
    return work


def shown(trace: dict[str, Any], part: str) -> list[Event]:
    return [event for event in trace["traceEvents"] if event.get("cat") == part]


def titles(trace: dict[str, Any], what: str = "process_name") -> dict[int, str]:
    key = "pid" if what == "process_name" else "tid"
    return {event[key]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == what}


def on_its_clock(trace: dict[str, Any], event: Event) -> tuple[int, int]:
    """Start and end of an event, ns on its clock."""
    (origin,) = [int(clock["origin_ns"]) for clock in trace["otherData"]["clocks"] if clock["pid"] == event["pid"]]
    ends = origin + event["ts"] * 1000, origin + (event["ts"] + event.get("dur", 0)) * 1000
    assert all(end == int(end) for end in ends)
    return int(ends[0]), int(ends[1])


def misplaced(trace: dict[str, Any]) -> list[Event]:
    """Slices that Perfetto drops: they begin inside an open slice of their thread and end after it."""
    threads: dict[tuple[int, int], list[Event]] = defaultdict(list)
    for event in trace["traceEvents"]:
        if event["ph"] == "X" or (event["ph"] == "i" and event["s"] == "t"):
            threads[event["pid"], event["tid"]].append(event)
    wrong = []
    for events in threads.values():
        stack: list[Decimal] = []
        for event in sorted(events, key=lambda event: event["ts"]):
            end = event["ts"] + event.get("dur", 0)
            while stack and stack[-1] <= event["ts"]:
                stack.pop()
            if stack and stack[-1] < end:
                wrong.append(event)
            stack.append(end)
    return wrong


@pytest.fixture(scope="module")
def two_clocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a store of two attempts on two clocks, gauges and a control event."""
    work = tmp_path_factory.mktemp("two-clocks")
    write(work / "log.jsonl", [*lines(RUN), *lines(ENGINE), *AT_LARGE])
    declare(
        work,
        ["log.jsonl"],
        name="night",
        clocks=[{"clocks": ["c", "boot"], "relation": "offset", "offset_ms": -0.000005, "error_ms": 0.002}],
    )
    stored_in(work, "log.jsonl")
    return work


@pytest.fixture(scope="module")
def three_services(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the store of the sample with three sides."""
    return stored_in(tmp_path_factory.mktemp("three-services"), SAMPLES / "three-services")


# -- what is in it ----------------------------------------------------------------------------------------------------


def test_every_time_is_that_of_the_store_to_the_nanosecond(two_clocks: Path) -> None:
    trace = exported(two_clocks)
    timed = [*shown(trace, "attempt"), *shown(trace, "stage")]
    assert timed
    for event in timed:
        assert on_its_clock(trace, event) == (int(event["args"]["start_ns"]), int(event["args"]["end_ns"]))
    boundaries = shown(trace, "boundary")
    assert {(e["name"], on_its_clock(trace, e)[0]) for e in boundaries} >= {
        ("first_content", BASE_NS + 200_000_001),
        ("first_token", BASE_NS + 190_000_123),
    }


def test_each_clock_is_a_process_that_says_its_kind_its_zero_and_its_relations(two_clocks: Path) -> None:
    trace = exported(two_clocks)
    assert titles(trace) == {
        1: f"clock boot (monotonic), 0 is {BASE_NS + 3_000_000} ns; c = this +5 ns, give or take 2000 ns",
        2: "clock c (wall), 0 is 2025-12-31T23:59:59.000000000Z; boot = this -5 ns, give or take 2000 ns",
    }
    clocks = [(clock["clock"], clock["clock_kind"], clock["origin_ns"]) for clock in trace["otherData"]["clocks"]]
    assert clocks == [("boot", "monotonic", str(BASE_NS + 3_000_000)), ("c", "wall", str(BASE_NS - 10**9))]


def test_an_attempt_lasts_from_its_first_boundary_to_its_last_and_says_where_no_end_was_seen(two_clocks: Path) -> None:
    trace = exported(two_clocks)
    found = {(e["args"]["side"], e["name"]): on_its_clock(trace, e) for e in shown(trace, "attempt")}
    assert found == {
        ("client", "a/1"): (BASE_NS, BASE_NS + 510_000_000),
        ("client", "b/1 (unresolved)"): (BASE_NS + 100_000_000, BASE_NS + 300_000_000),
        ("engine", "a/1 (unresolved)"): (BASE_NS + 3_000_000, BASE_NS + 190_000_123),
    }
    args = next(e["args"] for e in shown(trace, "attempt") if e["name"] == "a/1")
    assert (args["outcome"], args["end_seen_here"], args["tenant"], args["output_tokens"]) == ("ok", "ok", "acme", 11)
    assert None not in args.values()


def test_stages_and_boundaries_tell_their_owner_and_their_evidence(two_clocks: Path) -> None:
    trace = exported(two_clocks)
    stages = {event["name"]: (event["ph"], event["args"]["owner"]) for event in shown(trace, "stage")}
    assert stages["queue"] == ("X", "scheduler")
    assert stages["terminal"] == ("X", "stream")
    (sent,) = [e for e in shown(trace, "boundary") if e["name"] == "sent" and e["args"]["request"] == "a"]
    assert (sent["ph"], sent["s"], sent["args"]["owner"], sent["args"]["evidence"]) == ("i", "t", "client", "measured")


def test_what_is_only_bounded_is_a_slice_from_its_low_to_its_high_end(three_services: Path) -> None:
    trace = exported(three_services)
    bounded = [event for event in shown(trace, "boundary") if event["args"]["evidence"] == "bounded"]
    assert bounded
    for event in bounded:
        assert event["ph"] == "X"
        assert on_its_clock(trace, event) == (int(event["args"]["low_ns"]), int(event["args"]["high_ns"]))
        assert titles(trace, "thread_name")[event["tid"]].partition(", ")[2].startswith("bounded ")
    stages = [event["args"] for event in shown(trace, "stage") if event["args"]["evidence"] == "bounded"]
    assert stages
    assert all(args["low_ms"] < args["high_ms"] for args in stages)


def test_gauges_are_counters_and_control_events_instants_of_their_clock(two_clocks: Path) -> None:
    trace = exported(two_clocks)
    counters = [(e["ph"], e["name"], e["args"], on_its_clock(trace, e)[0]) for e in shown(trace, "gauge")]
    assert counters == [
        ("C", "running (engine, w1)", {"value": Decimal("2.5")}, BASE_NS + 7),
        ("C", "running (engine, w1)", {"value": 3}, BASE_NS + 9 * 10**9),
    ]
    (ready,) = shown(trace, "control")
    assert (ready["ph"], ready["s"], ready["name"], ready["args"]["worker"]) == ("i", "p", "ready w1", "w1")


CONTROL = """
[[rule]]
name = "loading"
span = ["load weights"]
looks = "control"
control = "load"
"""


def test_a_control_event_that_a_span_tells_has_a_length(work: Path) -> None:
    loading = span("1" * 32, 1, service="w1", scope="s", kind=1, name="load weights", start=5, end=900, host="c")
    (work / "spans.jsonl").write_text(json.dumps(loading) + "\n")
    (work / "own.toml").write_text(CONTROL)
    write(work / "log.jsonl", lines("a sent 0\na done 1000 outcome=ok"))
    ingesting.run(
        [str(work / "log.jsonl"), str(work / "spans.jsonl")],
        str(work / "analyze.duckdb"),
        rules=[str(work / "own.toml")],
    )
    trace = exported(work)
    (load,) = shown(trace, "control")
    assert (load["ph"], load["name"], load["args"]["origin"]) == ("X", "load w1", "span")
    assert on_its_clock(trace, load) == (BASE_NS + 5_000_000, BASE_NS + 900_000_000)
    assert titles(trace, "thread_name")[load["tid"]] == "control 1"


def test_wall_clocks_keep_their_distance_but_for_one_that_is_set_years_off(work: Path) -> None:
    rows = [*lines("a sent 0\na done 9 outcome=ok"), *lines("a arrived 3\na done 8", side="gateway", clock="g")]
    early = {"request": "z", "event": "arrived", "side": "engine", "clock": "early", "ns": "1000000000000000001"}
    write(work / "log.jsonl", [*rows, early])
    trace = exported(stored_in(work, "log.jsonl"))
    origins = {clock["clock"]: clock["origin_ns"] for clock in trace["otherData"]["clocks"]}
    assert origins == {"early": "1000000000000000001", "c": str(BASE_NS), "g": str(BASE_NS)}


@pytest.mark.parametrize("sample", ["three-services", "vllm-direct", "burst-64"])
def test_slices_of_one_thread_nest_as_perfetto_wants_them(work: Path, sample: str) -> None:
    trace = exported(stored_in(work, SAMPLES / sample))
    assert len(shown(trace, "attempt")) > 10
    assert misplaced(trace) == []
    assert all(event["ts"] >= 0 and event.get("dur", 0) >= 0 for event in trace["traceEvents"] if event["ph"] != "M")


def test_attempts_one_after_the_other_share_a_thread_and_attempts_at_once_do_not() -> None:
    lanes = trace_lanes.Lanes()
    assert lanes.place("client", "a", 0, 10) == (1_000_001, "client 1")
    assert lanes.place("client", "b", 5, 20) == (1_000_002, "client 2")
    assert lanes.place("client", "a", 10, 10) == (1_000_001, None)
    assert lanes.place("client", "c", 11, 15) == (1_000_001, None)
    assert lanes.place("client", "b", 15, 25) == (1_000_003, "client 3")
    assert lanes.place("engine", "b", 15, 25) == (3_000_001, "engine 1")


@pytest.mark.parametrize("seed", range(20))
def test_any_slices_nest_on_the_threads_that_they_are_given(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    rows = []
    for _ in range(400):
        start = chance.randrange(300)
        rows.append((start, start + chance.choice((0, 1, chance.randrange(60))), chance.randrange(40)))
    rows.sort(key=lambda row: (row[0], -row[1], row[2]))
    lanes = trace_lanes.Lanes()
    events = [
        {
            "ph": "X",
            "pid": 1,
            "tid": lanes.place("client", str(attempt), start, end)[0],
            "ts": start,
            "dur": end - start,
        }
        for start, end, attempt in rows
    ]
    assert misplaced({"traceEvents": events}) == []


def test_perfetto_reads_every_nanosecond_of_the_first_26_days() -> None:
    chance = random.Random(1)  # noqa: S311 (repeatable, not secret)
    for _ in range(20_000):
        ns = chance.randrange(2 ** chance.randrange(1, 52))
        text = trace_json._us(ns)
        assert Decimal(text) * 1000 == ns
        # Its importer: the number as a double, times 1000, rounded.
        assert round(float(text) * 1000.0) == ns


HOSTILE = [
    'say "so" \\',
    "\u2028\u2029",
    "a\x00b\x1f\x7f\x85",
    "🚀" * 3,
    "</script>",
    "x" * 5000,
    "/bin/c",
    "{}],",
    "\ud800",
]


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_names_stay_names(work: Path, hostile: str) -> None:
    rows = lines("a sent 0\na done 10 outcome=ok")
    for row in rows:
        row |= {"request": hostile, "tenant": hostile, "clock": hostile, "worker": hostile}
    gauge = {"event": "gauge", "name": hostile, "value": 1, "ns": str(BASE_NS), "clock": hostile, "side": "engine"}
    write(work / "log.jsonl", [*rows, gauge, *lines("fine sent 0\nfine done 5 outcome=ok")])
    trace = exported(stored_in(work, "log.jsonl"))
    named = {event["args"]["request"]: event["name"] for event in shown(trace, "attempt")}
    assert named["fine"] == "fine/1"
    raw = io.BytesIO()
    exporting.perfetto(str(work / "analyze.duckdb"), exporting.Selection(), raw, None)
    assert b"\\ud8" not in raw.getvalue()
    assert b"\x7f" not in raw.getvalue()
    if hostile == "\ud800":
        return  # no text: the lines are refused when they are read
    assert named[hostile] == f"{hostile}/1"
    attempt = next(event["args"] for event in shown(trace, "attempt") if event["args"]["request"] == hostile)
    assert (attempt["tenant"], attempt["worker"]) == (hostile, hostile)
    assert {clock["clock"] for clock in trace["otherData"]["clocks"]} == {hostile, "c"}
    assert any(hostile in title for title in titles(trace).values())
    assert shown(trace, "gauge")[0]["name"] == f"{hostile} (engine)"


# -- the selection ----------------------------------------------------------------------------------------------------


def test_a_part_of_a_run_brings_only_what_happened_meanwhile(two_clocks: Path) -> None:
    trace = exported(two_clocks, requests=("a",))
    assert {event["args"]["request"] for event in shown(trace, "attempt")} == {"a"}
    assert [event["args"]["value"] for event in shown(trace, "gauge")] == [Decimal("2.5")]
    assert shown(trace, "control") == []


def test_requests_a_condition_and_a_limit_each_narrow_the_selection(two_clocks: Path) -> None:
    def asked(**selection: Any) -> set[str]:
        return {event["args"]["request"] for event in shown(exported(two_clocks, **selection), "attempt")}

    assert asked() == asked(requests=("a", "b")) == {"a", "b"}
    assert asked(where="outcome = 'ok' -- and no more") == {"a"}
    assert asked(where="attempt_id IN (SELECT attempt_id FROM attempt_metric WHERE ttft_ms > 200.0000005)") == {"a"}
    assert asked(limit=1) == {"a"}
    assert asked(run="night", where="tenant IS NULL") == {"b"}


def test_runs_are_processes_of_their_own(work: Path) -> None:
    for name in ("day", "night"):
        write(work / f"{name}.jsonl", lines("r sent 0\nr done 20 outcome=ok"))
        stored_in(work, f"{name}.jsonl", run=name)
    both = titles(exported(work))
    assert [title.partition(" (")[0] for title in both.values()] == ["run day, clock c", "run night, clock c"]
    one = exported(work, run="day")
    assert [title.partition(" (")[0] for title in titles(one).values()] == ["clock c"]
    assert len(shown(one, "attempt")) == 1


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--run", "noon"], 2, "the store has no run 'noon'; it has default"),
        (["--request", "a", "--request", "q"], 2, "analyze.duckdb holds no request q"),
        (["--where", "false"], 5, "there is nothing to export: no attempt of analyze.duckdb"),
        (["--where", "outcom = 'ok'"], 2, '--where does not run: Binder Error: Referenced column "outcom" not found'),
        (["--where", ""], 2, "--where does not run: "),
        (["--where", "tenant"], 2, "--where does not run: Conversion Error"),
        (["--where", "true) ; DROP TABLE attempt; SELECT (1"], 2, "--where does not run: Parser Error"),
        (["--where", "true))); SELECT ((((1"], 2, "--where "),
        (["--limit", "0"], 2, "Invalid value for '--limit'"),
    ],
)
@pytest.mark.usefixtures("stored")
def test_a_selection_that_is_wrong_or_empty_is_one_sentence_and_no_file(
    work: Path, options: list[str], code: int, said: str
) -> None:
    before = sorted(path.name for path in work.iterdir())
    assert refusal(analyze("export", "--perfetto", "out.json", *options, cwd=work), code).startswith(said)
    assert sorted(path.name for path in work.iterdir()) == before


# -- the file ---------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("stored")
def test_the_counts_are_a_note_for_people_and_json_for_machines(work: Path) -> None:
    ran = well("export", "--perfetto", "out.json", cwd=work)
    many = sum(event["ph"] != "M" for event in read((work / "out.json").read_bytes())["traceEvents"])
    assert ran.out == ""
    assert ran.notes == [
        f"3 attempts on 1 clock, {many} events, in out.json; ui.perfetto.dev opens it in the browser, nothing is sent"
    ]
    (row,) = json.loads(well("export", "--perfetto", "out.json", "--json", cwd=work).out)
    assert row == {"path": "out.json", "attempts": 3, "clocks": 1, "events": many}


@pytest.mark.usefixtures("stored")
def test_a_dash_writes_the_same_bytes_to_stdout(work: Path) -> None:
    well("export", "--perfetto", "out.json", cwd=work)
    done = subprocess.run(
        [COMMAND, "export", "--perfetto", "-"], cwd=work, env=surroundings(work.parent / ".home"),
        capture_output=True, check=True,
    )  # fmt: skip
    assert done.stdout == (work / "out.json").read_bytes()
    assert b"on stdout" in done.stderr
    assert refusal(analyze("export", "--perfetto", "-", "--json", cwd=work), 2).startswith("--json and --perfetto -")


def test_the_same_store_gives_the_same_bytes(work: Path, three_services: Path) -> None:
    store = three_services / "analyze.duckdb"
    well("export", "--perfetto", "one.json", "--store", store, cwd=work)
    well(
        "export",
        "--perfetto",
        "two.json",
        "--store",
        store,
        cwd=work,
        TZ="Asia/Kathmandu",
        LC_ALL="C",
        PYTHONHASHSEED="7",
    )
    assert (work / "one.json").read_bytes() == (work / "two.json").read_bytes()


@pytest.mark.usefixtures("stored")
def test_neither_the_store_nor_a_raw_file_is_overwritten(work: Path) -> None:
    for name, what in (("analyze.duckdb", "the store"), ("log.jsonl", "a raw file of the store")):
        before = (work / name).read_bytes()
        assert refusal(analyze("export", "--perfetto", name, cwd=work), 2).startswith(f"{name} is {what}")
        assert (work / name).read_bytes() == before
    (work / "folder").mkdir()
    assert refusal(analyze("export", "--perfetto", "folder", cwd=work), 2).startswith("folder is a directory")
    assert refusal(analyze("export", "--perfetto", "no/x.json", cwd=work), 2).startswith("no does not exist")
    assert refusal(analyze("export", "--perfetto", "/dev/null", cwd=work), 2).startswith("/dev/null is no regular file")


def test_a_full_disk_leaves_the_file_that_was_there(
    work: Path, three_services: Path, mounted: Callable[[str], Path]
) -> None:
    small = mounted("size=64k")
    (small / "out.json").write_text("before")
    said = refusal(
        analyze("export", "--perfetto", small / "out.json", "--store", three_services / "analyze.duckdb", cwd=work), 2
    )
    assert said.startswith(f"{small}/out.json cannot be written: No space left on device")
    assert [path.name for path in small.iterdir()] == ["out.json"]
    assert (small / "out.json").read_text() == "before"


def test_whatever_stops_it_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("before")

    def half() -> None:
        with whole_file.replacing(path, "--perfetto") as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert [(found.name, found.read_text()) for found in tmp_path.iterdir()] == [("out.json", "before")]


@pytest.mark.usefixtures("stored")
def test_rows_that_come_in_small_batches_give_the_same_trace(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from analyzer.store import Store

    batches = Store.batches
    store = str(work / "analyze.duckdb")
    whole = exporting.perfetto(store, exporting.Selection(), str(work / "whole.json"), None)
    monkeypatch.setattr(Store, "batches", lambda self, query: batches(self, query, size=1))
    assert exporting.perfetto(store, exporting.Selection(), str(work / "small.json"), None) == whole
    assert (work / "small.json").read_bytes() == (work / "whole.json").read_bytes()


def test_attempts_without_a_time_are_counted_and_left_out(work: Path) -> None:
    unset = {"request": "z", "event": "sent", "side": "client", "clock": "unset", "ns": "5"}
    write(work / "log.jsonl", [*lines("a sent 0\na done 9 outcome=ok"), unset])
    stored_in(work, "log.jsonl")
    ran = well("export", "--perfetto", "out.json", cwd=work)
    assert ran.notes[0] == "attempts without a time, which the trace leaves out: 1"
    assert ran.notes[1].startswith("1 attempt on 1 clock, ")
    said = refusal(analyze("export", "--perfetto", "z.json", "--request", "z", cwd=work), 5)
    assert said.startswith("there is nothing to export: ")
    assert not (work / "z.json").exists()
