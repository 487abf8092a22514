"""Files that one log was rotated into: a line that was cut is one record, in the file where it begins."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from building import lines as events
from building import rows
from reading import document, span

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LINES = [json.dumps(document(span(spanId=f"{n:016x}"))).encode() + b"\n" for n in range(1, 7)]
COLLECTOR = ("traces-2022-09-14T05-02-14.173.json", "traces-2022-09-14T06-00-00.000.json", "traces.json")
NUMBERED = ("traces.json.2", "traces.json.1", "traces.json")
AS_USUAL = ingest.How()
LEDGER = "SELECT path, records, kept + set_aside AS taken, refused, duplicates FROM source_file ORDER BY path"


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Store]:
    with Store(tmp_path / "s.duckdb", create=True) as store:
        yield store


def write(folder: Path, names: tuple[str, ...], cuts: tuple[int, ...]) -> list[Path]:
    """The lines as files, cut so many bytes after every second line."""
    content = b"".join(LINES)
    ends = [sum(map(len, LINES[: 2 * (n + 1)])) + cut for n, cut in enumerate(cuts)]
    begins = [0, *ends]
    folder.mkdir(exist_ok=True)
    paths = [folder / name for name in names]
    for path, begin, end in zip(paths, begins, [*ends, len(content)], strict=True):
        path.write_bytes(content[begin:end])
    return paths


def take(made: Store, *paths: Path, how: ingest.How = AS_USUAL) -> list[str]:
    found = [ingest.Found(path, path.name, named=False) for path in paths]
    outcomes = ingest.ingest_files(made, found, how)
    ingest.apply_defaults(made)
    made.derive()
    ledger = made.fetch("SELECT records - kept - set_aside - refused - duplicates AS lost FROM source_file")
    assert [row["lost"] for row in ledger] == [0] * len(ledger)
    return [outcome.state for outcome in outcomes]


def spans(made: Store) -> int:
    return int(rows(made, "SELECT count(*) FROM span")[0][0])


@pytest.mark.parametrize("names", [COLLECTOR, NUMBERED])
@pytest.mark.parametrize("cuts", [(20, 20), (1, 150), (0, 0), (-1, 0), (200, -30)])
def test_a_line_that_a_rotation_has_cut_is_read_once(
    made: Store, tmp_path: Path, names: tuple[str, ...], cuts: tuple[int, ...]
) -> None:
    take(made, *reversed(write(tmp_path / "logs", names, cuts)))
    assert spans(made) == 6
    assert rows(made, "FROM refused") == []
    ledger = {row["path"]: row for row in made.fetch(LEDGER)}
    assert [ledger[name]["records"] for name in names] == [
        2 + (cuts[0] > 0),
        2 - (cuts[0] > 0) + (cuts[1] > 0),
        2 - (cuts[1] > 0),
    ]


def test_the_line_stands_in_the_file_where_it_begins(made: Store, tmp_path: Path) -> None:
    take(made, *write(tmp_path / "logs", NUMBERED[1:], (20,)))
    where = "SELECT source_file, position FROM span WHERE span_id = '0000000000000003'"
    assert rows(made, where) == [("traces.json.1", 3)]
    notes = dict(rows(made, "SELECT path, note FROM source_file"))
    assert "was read with its rest" in notes["traces.json.1"]
    assert "was read with that one" in notes["traces.json"]


def test_a_torn_line_whose_rest_is_not_there_is_refused(made: Store, tmp_path: Path) -> None:
    first, second, third = write(tmp_path / "logs", COLLECTOR, (20, 150))
    take(made, first, third)
    found = rows(made, "SELECT source_file, position, reason FROM refused ORDER BY source_file")
    assert found == [
        (first.name, "line 3", "torn last line: the file ends inside it"),
        (third.name, "line 1", "not valid JSON"),
    ]
    assert spans(made) == 3
    # When the file between them comes, what it joins is read again.
    assert take(made, first, second, third) == ["read", "read", "read"]
    assert (spans(made), rows(made, "FROM refused")) == (6, [])
    assert take(made, first, second, third) == ["unchanged"] * 3


def test_over_a_missing_number_nothing_is_joined(made: Store, tmp_path: Path) -> None:
    # The halves of two lines would make a third, which nobody wrote.
    first, _, third = write(tmp_path / "logs", NUMBERED, (20, 20))
    take(made, first, third)
    assert (spans(made), len(rows(made, "FROM refused"))) == (3, 2)


def test_files_of_other_names_or_folders_are_never_joined(made: Store, tmp_path: Path) -> None:
    first, second = write(tmp_path / "logs", ("traces.json.1", "spans.json"), (20,))
    take(made, first, second)
    assert len(rows(made, "FROM refused")) == 2


def test_whole_lines_are_never_joined(made: Store, tmp_path: Path) -> None:
    first, second = write(tmp_path / "logs", NUMBERED[1:], (0,))
    first.write_bytes(first.read_bytes().rstrip(b"\n"))
    take(made, first, second)
    assert (spans(made), rows(made, "SELECT DISTINCT note FROM source_file")) == (6, [(None,)])


def test_a_rest_that_is_all_of_a_file_makes_it_known(made: Store, tmp_path: Path) -> None:
    first, second = write(tmp_path / "logs", NUMBERED[1:], (20,))
    second.write_bytes(second.read_bytes().split(b"\n")[0] + b"\n")
    assert take(made, first, second) == ["read", "read"]
    assert [tuple(row.values()) for row in made.fetch(LEDGER)] == [
        ("traces.json", 0, 0, 0, 0),
        ("traces.json.1", 3, 3, 0, 0),
    ]


def test_packed_files_are_read_by_themselves(made: Store, tmp_path: Path) -> None:
    first, second = write(tmp_path / "logs", NUMBERED[1:], (20,))
    first.write_bytes(gzip.compress(first.read_bytes()))
    take(made, first, second)
    assert len(rows(made, "FROM refused")) == 2


def test_an_event_log_is_joined_too(made: Store, tmp_path: Path) -> None:
    text = "".join(
        json.dumps(line) + "\n" for line in events("a sent 0\na done 5 outcome=ok\nb sent 1\nb done 9 outcome=ok")
    )
    first, second = tmp_path / "log.jsonl.1", tmp_path / "log.jsonl"
    cut = text.index('"done"')
    first.write_text(text[:cut])
    second.write_text(text[cut:])
    take(made, first, second)
    assert rows(made, "SELECT count(*) FROM event") == [(4,)]
    assert rows(made, "FROM refused") == []


# -- reading again ------------------------------------------------------------------------------------------------------


def test_the_same_bytes_with_another_redaction_are_read_again(made: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    said = [{"key": key, "value": {"stringValue": "x"}} for key in ("gen_ai.prompt", "user.id", "n")]
    path.write_text(json.dumps(document(span(attributes=said))))
    keys = "SELECT json_keys(attributes) FROM span"
    assert take(made, path, how=ingest.How(keep_content=True)) == ["read"]
    assert rows(made, keys) == [(["gen_ai.prompt", "user.id", "n"],)]
    assert take(made, path) == ["read"]
    assert rows(made, keys) == [(["user.id", "n"],)]
    assert take(made, path, how=ingest.How(drop=("user.*",))) == ["read"]
    assert rows(made, keys) == [(["n"],)]
    assert rows(made, "SELECT dropped, reading FROM source_file") == [(2, "content left out; left out by name: user.*")]
    assert take(made, path, how=ingest.How(drop=("user.*",))) == ["unchanged"]


def test_what_is_dropped_later_is_not_left_with_a_copy(made: Store, tmp_path: Path) -> None:
    text = json.dumps(document(span(attributes=[{"key": "user.id", "value": {"stringValue": "a secret"}}])))
    paths = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for path in paths:
        path.write_text(text)
    assert take(made, *paths) == ["read", "copy"]
    assert take(made, paths[0], how=ingest.How(drop=("user.id",))) == ["read"]
    assert rows(
        made, "SELECT count(*) FROM (FROM span UNION ALL FROM span_copy) WHERE attributes::VARCHAR LIKE '%secret%'"
    ) == [(0,)]
    assert rows(made, "SELECT path, records FROM source_file ORDER BY path") == [("a.jsonl", 1), ("b.jsonl", 0)]


def test_another_limit_reads_again(made: Store, tmp_path: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(LINES[0] + json.dumps(document(span(name="x" * 900))).encode())
    take(made, path, how=ingest.How(limits=ingest.Limits(max_line_bytes=500)))
    assert (spans(made), len(rows(made, "FROM refused"))) == (1, 1)
    assert take(made, path) == ["read"]
    assert (spans(made), rows(made, "FROM refused")) == (2, [])


def test_records_of_another_kind_stay_set_aside_when_tables_are_made_again(made: Store, tmp_path: Path) -> None:
    path, later = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    path.write_bytes(b'{"resourceMetrics": [{}, {}]}\n' + LINES[0])
    take(made, path)
    counts = "SELECT records, kept, set_aside, duplicates, other_kind FROM source_file WHERE path = 'one.jsonl'"
    assert rows(made, counts) == [(3, 0, 3, 0, 2)]
    # The only span of the first file becomes a copy of one that ends later.
    end = 1_796_069_035_972_662_081 + 5
    later.write_text(json.dumps(document(span(spanId=f"{1:016x}", endTimeUnixNano=str(end)))))
    take(made, later)
    assert rows(made, counts) == [(3, 0, 2, 1, 2)]
    assert rows(made, "SELECT flag FROM span") == [("copies differ, the later end was kept",)]


def test_a_flag_survives_that_copies_came_and_went(made: Store, tmp_path: Path) -> None:
    path, other = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    path.write_text(json.dumps(document(span(startTimeUnixNano="-1"))))
    other.write_text(json.dumps(document(span(endTimeUnixNano="5"))))
    take(made, path, other)
    assert rows(made, "SELECT flag FROM span") == [("time out of range; copies differ, the later end was kept",)]
    other.write_bytes(LINES[1])
    take(made, other)
    assert rows(made, "SELECT flag FROM span ORDER BY flag NULLS LAST") == [("time out of range",), (None,)]
