"""Foreign files through a mapping: exact times, nothing guessed, every row kept or refused with its line and column."""

from __future__ import annotations

import gzip
import json
import math
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from building import rows

from analyzer import ingest
from analyzer.errors import SourceError, UsageFault
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterable

MAPS = Path(__file__).parent / "maps"
WALL = 1_796_068_960_313_318_612


def columns(text: str, source: str = 'side = "client"\nclock = "c"', values: str = "") -> str:
    return f"[source]\n{source}\n[columns]\n{text}\n{values}"


def read(folder: Path, mapping: str | Path, content: str | bytes | Path, name: str = "given") -> Store:
    """A new store of a text, or of a file that is there, read through a mapping or the text of one."""
    toml = mapping if isinstance(mapping, Path) else folder / "map.toml"
    if isinstance(mapping, str):
        toml.write_text(mapping, encoding="utf-8")
    path = content if isinstance(content, Path) else folder / name
    if not isinstance(content, Path):
        path.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)
    files, _ = ingest.find([str(path)])
    store = Store(folder / f"{len(list(folder.glob('*.duckdb')))}.duckdb", create=True)
    ingest.ingest_files(store, files, ingest.How(mapping=str(toml)))
    return store


def derived(store: Store) -> Store:
    ingest.apply_defaults(store)
    store.derive()
    return store


def jsonl(*objects: Any) -> str:
    return "".join(json.dumps(one) + "\n" for one in objects)


def times(store: Store, event: str = "sent") -> list[int]:
    return [ns for (ns,) in rows(store, f"SELECT time_ns FROM event WHERE event = '{event}' ORDER BY position")]


def refusals(store: Store) -> list[tuple[str, str]]:
    return [(place, why) for place, why in rows(store, "SELECT position, reason FROM refused ORDER BY rowid")]


def counts(store: Store) -> tuple[int, int, int]:
    (found,) = rows(store, "SELECT records, kept, refused FROM source_file")
    return found


def nearest_rank(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[math.ceil(share * len(ordered)) - 1]


# -- the log of the mock server ---------------------------------------------------------------------------------------


@pytest.fixture
def server_log(shared_data: Path) -> Path:
    return shared_data / "made" / "aiperf" / "conc16" / "server_events.jsonl"


@pytest.mark.shared
def test_the_servers_log_balances_and_its_endings_are_those_of_the_file(server_log: Path, tmp_path: Path) -> None:
    store = derived(read(tmp_path, MAPS / "server_events.toml", server_log))
    log = [json.loads(line) for line in server_log.read_text().splitlines()]
    told = {
        200: "ok",
        429: "rejected",
        500: "error",
        "client_gone": "cancelled",
        "cut": "truncated",
        "midstream": "truncated",
    }
    expected = Counter(told[row["status"]] for row in log)
    assert expected == {"ok": 214, "rejected": 3, "error": 1, "cancelled": 19, "truncated": 8}
    assert counts(store) == (245, 245, 0)
    assert dict(rows(store, "SELECT outcome, count(*) FROM attempt GROUP BY 1")) == expected
    assert rows(store, "SELECT source, tool FROM source_file") == [("mapped", "mock-server")]
    codes = Counter(row["status"] if isinstance(row["status"], int) else None for row in log)
    assert dict(rows(store, "SELECT status_code, count(*) FROM attempt GROUP BY 1")) == codes


@pytest.mark.shared
def test_every_boundary_of_the_servers_log_is_the_one_written_to_the_nanosecond(
    server_log: Path, tmp_path: Path
) -> None:
    store = read(tmp_path, MAPS / "server_events.toml", server_log)
    ours = {"arrived": "arrive", "started": "admitted", "first_token": "first", "last_token": "last", "done": "done"}
    expected = set()
    for line in server_log.read_text().splitlines():
        row = json.loads(line)
        expected |= {(row["rid"], event, row[key]) for event, key in ours.items() if key in row}
        if "admitted" in row:
            expected.add((row["rid"], "admitted", row["arrive"]))
    # arrived and done of all; admitted and started of 241; first and last token of 218.
    assert len(expected) == 2 * 245 + 2 * 241 + 2 * 218
    found = rows(store, "SELECT request, event, time_ns FROM event")
    assert len(found) == len(expected)
    assert set(found) == expected


@pytest.mark.shared
def test_queue_and_prefill_of_the_requests_that_went_well_are_those_of_the_log(
    server_log: Path, tmp_path: Path
) -> None:
    store = derived(read(tmp_path, MAPS / "server_events.toml", server_log))
    well = set()
    for line in (server_log.parent / "profile_export.jsonl").read_text().splitlines():
        row = json.loads(line)
        if row["metadata"]["benchmark_phase"] == "profiling" and not row.get("error"):
            well.add(row["metadata"]["x_request_id"])
    assert len(well) == 209
    found = [
        (low, high, prefill)
        for request, low, high, prefill in rows(
            store, "SELECT request_id, queue_low_ms, queue_high_ms, prefill_low_ms FROM attempt_metric"
        )
        if request in well
    ]
    assert nearest_rank((low for low, _, _ in found), 0.5) == pytest.approx(329.381, abs=5e-4)
    assert nearest_rank((high for _, high, _ in found), 0.5) == pytest.approx(329.381, abs=5e-4)
    assert nearest_rank((prefill for _, _, prefill in found), 0.5) == pytest.approx(17.942, abs=5e-4)


# -- times ------------------------------------------------------------------------------------------------------------


WRITTEN = [
    ("ns", "1796068960313318612", WALL),
    ("ns", "1796068960313318612.0", WALL),
    ("us", "1796068960313318.612", WALL),
    ("ms", "1796068960313.318612", WALL),
    ("s", "1796068960.313318612", WALL),
    ("s", "1.796068960313318612e9", WALL),
    ("s", "1.796068960313318612E+09", WALL),
    ("s", "1796068960", 1_796_068_960_000_000_000),
]
AS_TEXT = [
    *WRITTEN,
    ("s", "+1796068960", 1_796_068_960_000_000_000),
    ("s", "1796068960.", 1_796_068_960_000_000_000),
    ("iso", "2026-11-30T20:02:40.313318612Z", WALL),
    ("iso", "2026-11-30T20:02:40.3133186Z", 1_796_068_960_313_318_600),
    ("iso", "2026-11-30 20:02:40,313318612+00:00", WALL),
    ("iso", "2026-11-30T22:02:40.313318612+02:00", WALL),
    ("iso", "2026-11-30T16:32:40.313318612-0330", WALL),
    ("iso", "2026-11-30T12:02:40.313318612-08", WALL),
    ("iso", "2026-11-30t20:02:40z", 1_796_068_960_000_000_000),
    ("iso", "2026-11-30 20:02:40 UTC", 1_796_068_960_000_000_000),
]


@pytest.mark.parametrize(("unit", "written", "ns"), AS_TEXT)
def test_times_as_text_are_exact_to_the_nanosecond(tmp_path: Path, unit: str, written: str, ns: int) -> None:
    mapping = columns(f'sent = {{column = "t0", unit = "{unit}"}}')
    assert times(read(tmp_path, mapping, f't0\n"{written}"\n')) == [ns]
    assert times(read(tmp_path, mapping, f'{{"t0": "{written}"}}\n', "lines")) == [ns]


@pytest.mark.parametrize(("unit", "written", "ns"), WRITTEN)
def test_times_as_numbers_of_json_are_exact_to_the_nanosecond(tmp_path: Path, unit: str, written: str, ns: int) -> None:
    mapping = columns(f'sent = {{column = "a.t0", unit = "{unit}"}}')
    assert times(read(tmp_path, mapping, f'{{"t0": 7, "a": {{"t0":{written}}}, "b": {{"t0": {written}1}}}}\n')) == [ns]


def test_whole_numbers_beyond_what_a_database_holds_are_refused_and_the_rest_kept(tmp_path: Path) -> None:
    content = '{"t0": 9223372036854775807}\n{"t0": 9223372036854775808}\n{"t0": 18446744073709551616}\n{"t0": 1e400}\n'
    content += '{"t0": 123456789012345678901234567890123456789012345678901234567890}\n'
    store = read(tmp_path, columns('sent = {column = "t0", unit = "ns"}'), content)
    assert times(store) == [2**63 - 1]
    why = 'column "t0" as sent: the time is out of range; is the unit right?'
    assert refusals(store) == [(f"line {line}", why) for line in (2, 3, 4, 5)]
    assert counts(store) == (5, 1, 4)


def test_a_time_in_the_wrong_unit_is_refused_and_not_taken_for_1970(tmp_path: Path) -> None:
    content = "t0\n1796068960313\n"
    store = read(tmp_path, columns('sent = {column = "t0", unit = "ns"}'), content)
    ((_, why),) = refusals(store)
    assert why.endswith("before the year 2000; is the unit right, or does it count from another boundary (add_to)?")
    store = read(tmp_path, columns('sent = {column = "t0", unit = "s"}'), content)
    ((_, why),) = refusals(store)
    assert why.endswith("the time is out of range; is the unit right?")


def test_durations_count_from_the_boundary_that_is_said_and_from_one_another(tmp_path: Path) -> None:
    mapping = columns(
        'sent = {column = "t0", unit = "ns"}\n'
        'last_content = {column = "stream_us", unit = "us", add_to = "first_content"}\n'
        'first_content = {column = "ttft", unit = "ms", add_to = "sent"}\n'
        'done = {column = "e2e", unit = "s", add_to = "sent"}'
    )
    content = jsonl({"t0": WALL, "ttft": 21.5000007, "stream_us": 100, "e2e": "0.030000001"}, {"t0": WALL, "e2e": 1})
    store = read(tmp_path, mapping, content)
    assert times(store, "first_content") == [WALL + 21_500_001]  # ns of 0.7 are rounded
    assert times(store, "last_content") == [WALL + 21_500_001 + 100_000]
    assert times(store, "done") == [WALL + 30_000_001, WALL + 10**9]
    assert counts(store) == (2, 2, 0)


def test_a_duration_without_the_boundary_it_counts_from_is_refused(tmp_path: Path) -> None:
    mapping = columns(
        'sent = {column = "t0", unit = "ns"}\nfirst_content = {column = "ttft", unit = "ms", add_to = "sent"}'
    )
    store = read(
        tmp_path,
        mapping,
        jsonl({"t0": WALL, "ttft": 1}, {"t0": None, "ttft": 2}, {"t0": WALL, "ttft": -1}, {"t0": WALL, "ttft": 2e9}),
    )
    assert refusals(store) == [
        ("line 2", 'column "ttft" as first_content: it counts from sent, which the row does not have'),
        ("line 3", 'column "ttft" as first_content: negative'),
        ("line 4", 'column "ttft" as first_content: longer than 1000000 s; is the unit right, or is it a time of its own?'),
    ]  # fmt: skip


def test_null_and_empty_are_not_recorded_and_zero_is_zero_unless_it_is_said(tmp_path: Path) -> None:
    content = jsonl(*({"t0": WALL, "ttft": ttft} for ttft in (0, "0.000", None, "", " ", 3)), {"t0": WALL})
    as_it_is = columns(
        'sent = {column = "t0", unit = "ns"}\nfirst_content = {column = "ttft", unit = "ms", add_to = "sent"}'
    )
    assert times(read(tmp_path, as_it_is, content), "first_content") == [WALL, WALL, WALL + 3_000_000]
    said = as_it_is.replace('add_to = "sent"', 'add_to = "sent", zero_is_missing = true')
    store = read(tmp_path, said, content)
    assert times(store, "first_content") == [WALL + 3_000_000]
    assert counts(store) == (7, 7, 0)


def test_a_file_of_durations_has_requests_that_begin_at_zero_and_no_windows(tmp_path: Path) -> None:
    mapping = columns(
        'request = "id"\nfirst_content = {column = "ttft", unit = "s"}\ndone = {column = "e2e", unit = "s", add_to = "sent"}',
        'side = "client"\nclock = "c"\nclock_kind = "duration"\nload_point = "8/s"',
    )
    store = derived(read(tmp_path, mapping, "id,ttft,e2e\na,0.25,1.5\nb,,\n"))
    assert rows(
        store, "SELECT request, event, time_ns, clock_kind, load_point FROM event ORDER BY position, time_ns"
    ) == [
        ("a", "sent", 0, "duration", None),
        ("a", "first_content", 250_000_000, "duration", None),
        ("a", "done", 1_500_000_000, "duration", "8/s"),
        ("b", "sent", 0, "duration", "8/s"),
    ]
    assert rows(store, "SELECT first_ns FROM source_file") == [(None,)]
    assert rows(store, "SELECT request_id, ttft_ms, e2e_ms FROM attempt_metric ORDER BY 1") == [
        ("a", 250.0, 1500.0),
        ("b", None, None),
    ]


def test_iso_times_without_a_zone_are_refused_until_a_zone_is_said(tmp_path: Path) -> None:
    mapping = columns('sent = {column = "t0", unit = "iso"}')
    content = "t0\n2026-11-30T20:02:40.5\n2026-11-30T20:02:40.5+01:00\n2026-02-30T00:00:00Z\n9999-12-31T00:00:00Z\nyesterday\n"
    store = read(tmp_path, mapping, content)
    assert times(store) == [1_796_065_360_500_000_000]
    assert [why.partition(": ")[2] for _, why in refusals(store)] == [
        "the time has no zone; say source.zone",
        "the time is out of range; is the unit right?",
        "the time is out of range; is the unit right?",
        "not an ISO 8601 time",
    ]
    store = read(tmp_path, mapping.replace('clock = "c"', 'clock = "c"\nzone = "-02:30"'), content)
    assert times(store) == [(1_796_068_960 + 9000) * 10**9 + 500_000_000, 1_796_065_360_500_000_000]


# -- facts and words --------------------------------------------------------------------------------------------------

FACTS = """
request = "id"
sent = {column = "t", unit = "ns"}
status_code = "code"
output_tokens = "n"
streamed = "stream"
deadline_ms = {column = "timeout", unit = "s"}
trace_id = "tp"
outcome = "how"
phase = "kind"
attempt = "try"
"""


def test_facts_have_their_types(tmp_path: Path) -> None:
    trace = "0AF7651916CD43DD8448EB211C80319C"
    content = jsonl(
        {"id": 7, "t": WALL, "code": "200.0", "n": 12, "stream": True, "timeout": 2.5, "tp": f"00-{trace.lower()}-b7ad6b7169203331-01", "how": "ok", "kind": "warmup", "try": 2},
        {"id": "x y", "t": WALL, "code": 429, "n": "0", "stream": "False", "timeout": None, "tp": trace, "how": "rejected", "kind": None, "try": None},
    )  # fmt: skip
    store = read(tmp_path, columns(FACTS), content)
    found = rows(
        store,
        "SELECT request, status_code, output_tokens, streamed, deadline_ms, trace_id, outcome, phase, attempt FROM event ORDER BY position",
    )
    assert found == [
        ("7", 200, 12, True, 2500.0, trace.lower(), "ok", "warmup", 2),
        ("x y", 429, 0, False, None, trace.lower(), "rejected", None, 1),
    ]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("code", 200.5, 'column "code" as status_code: not a whole number, or out of range'),
        ("code", 0, 'column "code" as status_code: none of HTTP'),
        ("code", "OK", 'column "code" as status_code: not a number'),
        ("n", -1, 'column "n" as output_tokens: negative'),
        ("n", 2**70, 'column "n" as output_tokens: not a whole number, or out of range'),
        ("n", "1_000", 'column "n" as output_tokens: not a number'),
        ("n", "0x10", 'column "n" as output_tokens: not a number'),
        ("n", True, 'column "n" as output_tokens: not a number'),
        ("stream", "perhaps", 'column "stream" as streamed: neither true nor false'),
        ("timeout", "1e999", 'column "timeout" as deadline_ms: must be above 0'),
        ("timeout", -5, 'column "timeout" as deadline_ms: must be above 0'),
        ("try", 0, 'column "try" as attempt: attempts count from 1'),
        ("how", "weird", 'column "how" as outcome: weird is none of ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved; name it under values.outcome'),
        ("how", "a secret of 12 words", 'column "how" as outcome: 20 characters of text is none of ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved; name it under values.outcome'),
        ("kind", "main", 'column "kind" as phase: main is none of warmup, measured, cold; name it under values.phase'),
        ("id", {"a": 1}, 'column "id": an object or a list, not a value'),
        ("t", None, "no time is recorded: sent"),
        ("t", "nan", 'column "t" as sent: not a number'),
        ("t", float("nan"), 'column "t" as sent: not a number'),
    ],
)  # fmt: skip
def test_a_value_that_is_none_refuses_its_row_with_line_and_column(
    tmp_path: Path, field: str, value: Any, why: str
) -> None:
    good = {
        "id": "a",
        "t": WALL,
        "code": 200,
        "n": 1,
        "stream": True,
        "timeout": 1,
        "tp": None,
        "how": "ok",
        "kind": None,
        "try": 1,
    }
    store = read(tmp_path, columns(FACTS), jsonl(good, good | {"id": "b", field: value}, good | {"id": "c"}))
    assert refusals(store) == [("line 2", why)]
    assert rows(store, "SELECT request FROM event ORDER BY position") == [("a",), ("c",)]
    assert "secret" not in str(rows(store, "SELECT sample FROM refused"))


def test_their_words_become_ours_by_word_number_range_and_the_rest(tmp_path: Path) -> None:
    values = '[values.outcome]\n"*" = "error"\nsuccess = "ok"\n200 = "ok"\n"400..499" = "rejected"\ntrue = "ok"\n"it\'s" = "timeout"\ngone = ""'
    mapping = columns('sent = {column = "t", unit = "ns"}\noutcome = "how"', values=values)
    told = ["success", 200, "200.0", 400, "499", 500, True, False, "it's", "gone", None, "Success"]
    store = read(tmp_path, mapping, jsonl(*({"t": WALL, "how": how} for how in told)))
    found = [outcome for (outcome,) in rows(store, "SELECT outcome FROM event ORDER BY position")]
    assert found == ["ok", "ok", "ok", "rejected", "rejected", "error", "ok", "error", "timeout", None, None, "error"]


def test_words_for_missing_are_said_and_never_guessed(tmp_path: Path) -> None:
    mapping = columns('sent = {column = "t", unit = "ns"}\noutput_tokens = "n"')
    content = f"t,n\n{WALL},-\n{WALL},NaN\n{WALL},4\n"
    assert counts(read(tmp_path, mapping, content)) == (3, 1, 2)
    store = read(tmp_path, mapping.replace('clock = "c"', 'clock = "c"\nmissing = ["-", "NaN"]'), content)
    assert rows(store, "SELECT output_tokens FROM event ORDER BY position") == [(None,), (None,), (4,)]


def test_a_value_may_count_only_where_another_column_has_one(tmp_path: Path) -> None:
    mapping = columns(
        'arrived = {column = "t", unit = "ns"}\nadmitted = {column = "t", unit = "ns", only_with = "slot"}',
        'side = "engine"\nclock = "c"',
    )
    store = read(tmp_path, mapping, f"t,slot\n{WALL},\n{WALL + 1},x\n")
    assert times(store, "admitted") == [WALL + 1]


def test_side_and_clock_may_come_from_columns_and_are_never_made_up(tmp_path: Path) -> None:
    mapping = columns(
        'request = "id"\nsent = {column = "t", unit = "ns"}\nclock = "host"\nside = "who"',
        "",
        '[values.side]\nproxy = "gateway"',
    )
    store = read(
        tmp_path, mapping, f"id,t,host,who\na,{WALL},h1,client\nb,{WALL},h2,proxy\nc,{WALL},,client\nd,{WALL},h1,\n"
    )
    assert rows(store, "SELECT request, clock, side FROM event ORDER BY position") == [
        ("a", "h1", "client"),
        ("b", "h2", "gateway"),
    ]
    assert refusals(store) == [
        ("line 4", 'column "host" as clock: not recorded'),
        ("line 5", 'column "who" as side: not recorded'),
    ]


# -- CSV --------------------------------------------------------------------------------------------------------------

CSV_MAP = columns('request = "id"\nsent = {column = "t", unit = "ns"}\ntenant = "who, exactly"\noutput_tokens = "n"')


def test_quotes_commas_and_ends_of_line_inside_cells_are_part_of_them(tmp_path: Path) -> None:
    content = (
        '\ufeffid,prompt,t,"who, exactly",n\r\n'
        f'a,"two\nlines, and ""quotes""",{WALL},"acme, ""inc""",1\r\n'
        f'"b",,{WALL + 1}," x ",2\r\n'
        "\r\n"
        f'c,"\r\n\r\n",{WALL + 2},,3'
    )
    store = read(tmp_path, CSV_MAP, content)
    found = rows(store, "SELECT request, time_ns, tenant, output_tokens, position FROM event ORDER BY position")
    assert found == [("a", WALL, 'acme, "inc"', 1, 2), ("b", WALL + 1, "x", 2, 4), ("c", WALL + 2, None, 3, 6)]
    assert counts(store) == (3, 3, 0)


def test_rows_that_cannot_be_split_are_refused_by_line_and_the_rest_kept(tmp_path: Path) -> None:
    content = (
        'id,t,"who, exactly",n\n'
        f"a,{WALL},x,1\n"
        f"b,{WALL},x\n"
        f"c,{WALL},x,1,2\n"
        f'd,{WALL},"open,1\n'
        f'e,{WALL},"x",1\n'
        f"f,{WALL},x,1\n"
        f'g,{WALL},"secret'
    )
    store = read(tmp_path, CSV_MAP, content)
    assert rows(store, "SELECT request FROM event ORDER BY position") == [("a",), ("f",)]
    assert refusals(store) == [
        ("line 3", "3 cells where the first line names 4 columns"),
        ("line 4", "5 cells where the first line names 4 columns"),
        ("line 5", "a quote does not stand where it may (read as one record up to line 6)"),
        ("line 8", "torn: the file ends inside a quoted cell"),
    ]
    assert counts(store) == (6, 2, 4)
    assert "secret" not in str(rows(store, "SELECT sample FROM refused"))


def test_a_torn_last_line_is_called_so(tmp_path: Path) -> None:
    store = read(tmp_path, CSV_MAP, f'id,t,"who, exactly",n\na,{WALL},x,1\nb,{WALL}')
    assert refusals(store) == [("line 3", "torn last line: 2 cells where the first line names 4 columns")]


def test_bytes_that_are_no_text_refuse_their_row_only_where_they_are_asked_for(tmp_path: Path) -> None:
    content = f'id,t,"who, exactly",n,prompt\na,{WALL},x,1,\xff\nb,{WALL},\xff,1,x\nc,{WALL},x,1,x\n'.encode("latin-1")
    store = read(tmp_path, CSV_MAP, content)
    assert rows(store, "SELECT request FROM event ORDER BY position") == [("a",), ("c",)]
    assert refusals(store) == [("line 3", "not UTF-8")]


def test_other_delimiters_and_packed_files_are_read(tmp_path: Path) -> None:
    content = gzip.compress(f"id;t\na;{WALL}\n".encode())
    mapping = columns(
        'request = "id"\nsent = {column = "t", unit = "ns"}', 'side = "client"\nclock = "c"\ndelimiter = ";"'
    )
    assert times(read(tmp_path, mapping, content, "x.csv.gz")) == [WALL]
    with pytest.raises(UsageFault, match="its columns may be separated otherwise"):
        read(tmp_path, mapping.replace('delimiter = ";"', ""), content, "y.csv.gz")


def test_a_long_line_is_refused_and_never_held(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text(f"id,t,prompt\na,{WALL},{'x' * 5000}\nb,{WALL},x\n", encoding="utf-8")
    (tmp_path / "map.toml").write_text(columns('request = "id"\nsent = {column = "t", unit = "ns"}'), encoding="utf-8")
    files, _ = ingest.find([str(path)])
    store = Store(tmp_path / "s.duckdb", create=True)
    how = ingest.How(mapping=str(tmp_path / "map.toml"), limits=ingest.Limits(max_line_bytes=1000))
    ingest.ingest_files(store, files, how)
    assert rows(store, "SELECT request FROM event") == [("b",)]
    assert refusals(store) == [("line 2", "the line is longer than 1000 bytes, the limit for one line")]


def test_a_file_of_many_blocks_is_read_as_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.sources.mapped.csv_cells._AT_ONCE", 1000)
    content = "id,t,prompt\n" + "".join(f'r{n},{WALL + n},"a\n{"b" * (n % 50)}"\n' for n in range(500))
    store = read(tmp_path, columns('request = "id"\nsent = {column = "t", unit = "ns"}'), content)
    assert times(store) == [WALL + n for n in range(500)]
    assert rows(store, "SELECT min(position), max(position), count(DISTINCT position) FROM event") == [(2, 1000, 500)]


# -- JSON lines -------------------------------------------------------------------------------------------------------


def test_dots_lead_into_objects_unless_a_key_has_that_very_name(tmp_path: Path) -> None:
    mapping = columns('request = "a.b"\nsent = {column = "m.t/0~1", unit = "ns"}\noutput_tokens = "u.n"')
    content = jsonl(
        {"a.b": "flat", "a": {"b": "deep"}, "m": {"t/0~1": WALL}, "u": {"n": 3}, "n": 9},
        {"a.b": None, "m": {"t/0~1": WALL}, "u": None},
        {"a.b": "x", "m": [1], "u": 4},
    )
    store = read(tmp_path, mapping, content)
    assert rows(store, "SELECT request, output_tokens FROM event ORDER BY position") == [
        ("flat", 3),
        ("given#2".replace("given", str(tmp_path / "given")), None),
    ]
    assert refusals(store) == [("line 3", "no time is recorded: sent")]


def test_lines_that_are_no_objects_are_refused_by_line(tmp_path: Path) -> None:
    good = json.dumps({"id": "a", "t": WALL})
    content = (
        f'{good}\n[1]\n"secret"\n{{"id": "secret", }} x\n{{"id": 1, "id": 2, "t": {WALL}}}\n\n{good}\n{{"id": "secr'
    )
    store = read(tmp_path, columns('request = "id"\nsent = {column = "t", unit = "ns"}'), content)
    assert refusals(store) == [
        ("line 2", "not a JSON object"),
        ("line 3", "not a JSON object"),
        ("line 4", "not valid JSON"),
        ("line 5", "a key stands twice"),
        ("line 8", "torn last line: the file ends inside it"),
    ]
    assert counts(store) == (7, 2, 5)
    assert "secret" not in str(rows(store, "SELECT sample FROM refused"))


def test_numbers_inside_of_texts_are_left_alone(tmp_path: Path) -> None:
    content = (
        '{"id": "say \\"1.5\\", 2 \\\\", "note": "\\\\", "t": '
        + str(WALL)
        + ', "tenant": "7: 8, [9]", "x": [1, {"y": -2.50e+3}]}\n'
    )
    store = read(tmp_path, columns('request = "id"\nsent = {column = "t", unit = "ns"}\ntenant = "tenant"'), content)
    assert rows(store, "SELECT request, tenant FROM event") == [('say "1.5", 2 \\', "7: 8, [9]")]


def test_a_column_that_comes_late_is_no_missing_column(tmp_path: Path) -> None:
    lines = [{"t": WALL}] * 1500 + [{"t": WALL, "err": {"kind": "Boom"}}]
    store = read(tmp_path, columns('sent = {column = "t", unit = "ns"}\nerror_type = "err.kind"'), jsonl(*lines))
    assert rows(store, "SELECT error_type, count(*) FROM event GROUP BY 1 ORDER BY 1 NULLS FIRST") == [
        (None, 1500),
        ("Boom", 1),
    ]


# -- Parquet ----------------------------------------------------------------------------------------------------------


def test_parquet_keeps_whole_numbers_decimals_and_times_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    table = pa.table(
        {
            "id": pa.array(["a", "b", None]).dictionary_encode(),
            "ns": pa.array([WALL, WALL + 1, None], pa.int64()),
            "dec": pa.array(
                [Decimal("1796068960.313318612"), None, Decimal("1796068960.000000001")], pa.decimal128(30, 9)
            ),
            "at": pa.array([WALL, None, WALL + 2], pa.timestamp("ns", "Europe/Berlin")),
            "took": pa.array([1500, 0, 7], pa.duration("us")),
            "use": pa.array([{"n": 3}, None, {"n": None}], pa.struct([("n", pa.int32())])),
            "ok": pa.array([True, False, None]),
            "prompt": ["secret"] * 3,
        }
    )
    pq.write_table(table, path, row_group_size=2)
    mapping = columns(
        'request = "id"\nscheduled = {column = "ns", unit = "ns"}\nsent = {column = "dec", unit = "s"}\n'
        'first_content = {column = "at", unit = "iso"}\ndone = {column = "took", unit = "us", add_to = "first_content"}\n'
        'output_tokens = "use.n"\noutcome = "ok"',
        values='[values.outcome]\ntrue = "ok"\nfalse = "error"',
    )
    store = read(tmp_path, mapping, path)
    assert times(store, "scheduled") == [WALL]
    assert times(store, "sent") == [WALL, 1_796_068_960_000_000_001]
    assert times(store, "first_content") == [WALL, WALL + 2]
    assert times(store, "done") == [WALL + 1_500_000, WALL + 2 + 7000]
    assert rows(store, "SELECT output_tokens, outcome FROM event WHERE event = 'done' ORDER BY position") == [
        (3, "ok"),
        (None, None),
    ]
    assert refusals(store) == [
        ("row 2", 'column "took" as done: it counts from first_content, which the row does not have')
    ]
    assert counts(store) == (3, 2, 1)


@pytest.mark.parametrize(
    ("kind", "line", "why"),
    [
        (pa.timestamp("us"), 'sent = {column = "x", unit = "iso"}', "names no zone; say source.zone"),
        (pa.timestamp("us", "UTC"), 'sent = {column = "x", unit = "us"}', 'say unit = "iso", without add_to'),
        (pa.duration("ms"), 'sent = {column = "t", unit = "ns"}\ndone = {column = "x", unit = "s", add_to = "sent"}', 'durations in ms; say unit = "ms"'),
        (pa.list_(pa.int64()), 'sent = {column = "x", unit = "ns"}', "holds list<.*>, not values"),
        (pa.timestamp("us", "UTC"), 'sent = {column = "t", unit = "ns"}\ntenant = "x"', "tenant is no time"),
    ],
)  # fmt: skip
def test_a_parquet_type_that_contradicts_the_mapping_is_said(
    tmp_path: Path, kind: pa.DataType, line: str, why: str
) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"t": pa.array([WALL], pa.int64()), "x": pa.nulls(1, kind)}), path)
    with pytest.raises(UsageFault, match=why):
        read(tmp_path, columns(line), path)


def test_naive_times_of_parquet_are_of_the_zone_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": pa.array([1_796_068_960_313_318], pa.timestamp("us"))}), path)
    mapping = columns('sent = {column = "x", unit = "iso"}', 'side = "client"\nclock = "c"\nzone = "+01:00"')
    assert times(read(tmp_path, mapping, path)) == [1_796_068_960_313_318_000 - 3600 * 10**9]


def test_a_torn_parquet_file_is_refused_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"x": list(range(WALL, WALL + 1000))}), path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(SourceError, match="cannot be read as Parquet"):
        read(tmp_path, columns('sent = {column = "x", unit = "ns"}'), path)


# -- what does not fit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_column_that_the_file_lacks_is_named_with_the_nearest_and_nothing_is_stored(
    tmp_path: Path, form: str
) -> None:
    path = tmp_path / "x"
    if form == "parquet":
        pq.write_table(pa.table({"start_ns": [WALL], "ttft_ms": [1.0]}), path)
    else:
        path.write_text(f"start_ns,ttft_ms\n{WALL},1\n" if form == "csv" else jsonl({"start_ns": WALL, "ttft_ms": 1}))
    mapping = columns(
        'sent = {column = "strat_ns", unit = "ns"}\nfirst_content = {column = "ttft", unit = "ms", add_to = "sent"}'
    )
    (tmp_path / "map.toml").write_text(mapping)
    store = Store(tmp_path / "s.duckdb", create=True)
    with pytest.raises(UsageFault) as fault:
        ingest.ingest_files(store, ingest.find([str(path)])[0], ingest.How(mapping=str(tmp_path / "map.toml")))
    assert str(fault.value) == (
        f'{path} has no column "strat_ns"; did you mean "start_ns"?; {path} has no column "ttft"; did you mean "ttft_ms"?;'
        ' it has "start_ns", "ttft_ms"'
    )
    assert rows(store, "SELECT count(*) FROM source_file") == [(0,)]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_a_file_may_lack_a_column_that_is_optional(tmp_path: Path, form: str) -> None:
    path = tmp_path / "x"
    if form == "parquet":
        pq.write_table(pa.table({"t": [WALL]}), path)
    else:
        path.write_text(f"t\n{WALL}\n" if form == "csv" else jsonl({"t": WALL}))
    store = read(
        tmp_path, columns('sent = {column = "t", unit = "ns"}\nerror_type = {column = "err", optional = true}'), path
    )
    assert rows(store, "SELECT time_ns, error_type FROM event") == [(WALL, None)]


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "holds no record"),
        (b"[{}]", "is one JSON list"),
        (b'{\n "a": 1\n}\n', "does not begin with lines of JSON objects"),
        (b"\x00\x01\x02\x03" * 10, "is neither CSV nor JSONL nor Parquet"),
        (b"PAR1 and no more", "cannot be read as Parquet"),
        (b'"open', "has no line of column names"),
    ],
)
def test_a_file_that_is_none_of_the_three_is_one_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        read(tmp_path, columns('sent = {column = "t", unit = "ns"}'), content)


def test_a_name_stands_twice_in_the_first_line(tmp_path: Path) -> None:
    with pytest.raises(UsageFault, match='has the column "t" twice'):
        read(tmp_path, columns('sent = {column = "t", unit = "ns"}'), "t,t\n1,2\n")


HOSTILE = [
    "'; DROP TABLE event; --",
    "\"quoted\" and 'single' and `back` and $dollar {brace} %s \\1 \\",
    "two\nlines\tand a tab",
    "\x1b[31mred\x1b[0m",
    "a/b~c.d['x']$",
    "ключ ✓ 🚀",
    "input",
    "c0",
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_hostile_names_and_values_are_data_and_nothing_else(tmp_path: Path, name: str, form: str) -> None:
    path = tmp_path / "x"
    row = {"t": str(WALL), name: name, f"{name}.n": "0"}
    if form == "parquet":
        pq.write_table(pa.table({key: [value] for key, value in row.items()}), path)
    elif form == "jsonl":
        path.write_text(jsonl(row))
    else:
        cells = [[cell.replace('"', '""') for cell in line] for line in (row.keys(), row.values())]
        path.write_text("".join(",".join(f'"{cell}"' for cell in line) + "\n" for line in cells), newline="")
    quoted, inner, other = (json.dumps(text, ensure_ascii=False) for text in (name, f"{name}.n", f"now {name}"))
    mapping = columns(
        f'sent = {{column = "t", unit = "ns"}}\ntenant = {quoted}\nstop_reason = {quoted}\noutput_tokens = {inner}',
        f'side = "client"\nclock = {quoted}\nmodel = {quoted}\nmissing = [{other}]\ntool = {quoted}',
        f"[values.stop_reason]\n{quoted} = {other}",
    )
    store = read(tmp_path, mapping, path)
    found = rows(store, "SELECT clock, model, tenant, stop_reason, output_tokens FROM event")
    assert found == [(name, name, name, "now " + name, 0)]
    broken = read(tmp_path, columns(f'sent = {{column = {quoted}, unit = "ns"}}'), path)
    ((_, why),) = refusals(broken)
    assert why.startswith("column ")
    assert why.isprintable()


def test_a_changed_mapping_reads_the_file_again_and_the_same_does_not(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(f"t,u\n{WALL},{WALL + 5}\n")
    toml = tmp_path / "map.toml"
    store = Store(tmp_path / "s.duckdb", create=True)
    states, found = [], []
    for column in ("t", "t", "u"):
        toml.write_text(columns(f'sent = {{column = "{column}", unit = "ns"}}'))
        files, _ = ingest.find([str(path)])
        (outcome,) = ingest.ingest_files(store, files, ingest.How(mapping=str(toml)))
        states.append(outcome.state)
        found.append(times(store))
    assert states == ["read", "unchanged", "read"]
    assert found == [[WALL], [WALL], [WALL + 5]]


def test_a_folder_is_not_read_through_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "x.csv").write_text("t\n1\n")
    with pytest.raises(UsageFault, match="was not named itself, and a mapping is for files that are; name the files"):
        read(tmp_path, columns('sent = {column = "t", unit = "ns"}'), tmp_path / "logs")
