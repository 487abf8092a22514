"""Faults with files: cut by a rotation, alike at the beginning, several in one, with records of nothing."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from building import lines
from reading import document, given, span
from running import asked, well

from analyzer.sources.otel_console import SOURCE as CONSOLE

if TYPE_CHECKING:
    from pathlib import Path

SPANS = [json.dumps(document(span(spanId=f"{n:016x}", attributes=[]))) + "\n" for n in range(1, 4)]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_a_line_that_was_cut_between_two_names_costs_no_other_line(work: Path) -> None:
    first, second, third = SPANS
    cut = len('{"resourceSp')
    (work / "a.json").write_text(first + second[:cut])
    (work / "a-2.json").write_text(second[cut:] + third)
    ran = well("ingest", ".", cwd=work)
    assert [(row["path"], row["records"], row["refused"]) for row in ran.rows] == [
        ("./a-2.json", "2", "1"),
        ("./a.json", "2", "1"),
    ]
    assert ran.notes[:2] == [
        "refused: ./a-2.json, line 1: not valid JSON",
        "refused: ./a.json, line 2: torn last line: the file ends inside it",
    ]
    assert asked("SELECT span_id FROM span ORDER BY 1", cwd=work) == [(f"{n:016x}",) for n in (1, 3)]


def test_two_files_that_begin_alike_are_two_files(work: Path) -> None:
    head = "".join(json.dumps(line) + "\n" for line in lines("\n".join(f"r{i} sent {i}" for i in range(20))))
    assert len(head) > 1024
    for name in ("a", "b"):
        own = "".join(json.dumps(line) + "\n" for line in lines(f"{name} sent 100\n{name} done 105 outcome=ok"))
        (work / f"{name}.jsonl").write_text(head + own)
    ran = well("ingest", ".", cwd=work)
    assert [row["kept"] for row in ran.rows] == ["22", "22"]
    assert asked("SELECT request_id FROM request WHERE outcome = 'ok' ORDER BY 1", cwd=work) == [("a",), ("b",)]


def test_every_member_of_a_gzip_file_is_read(work: Path) -> None:
    one, two, three = (json.dumps(line).encode() + b"\n" for line in lines("a sent 0\nb sent 1\nc sent 2"))
    (work / "log.jsonl.gz").write_bytes(gzip.compress(one + two) + gzip.compress(three))
    assert [row["records"] for row in well("ingest", "log.jsonl.gz", cwd=work).rows] == ["3"]
    assert asked("SELECT request FROM event ORDER BY 1", cwd=work) == [("a",), ("b",), ("c",)]


@pytest.mark.parametrize("empty", [9, 10])
def test_empty_records_change_no_type_and_cost_no_record(work: Path, empty: int) -> None:
    full = lines("a sent 0 tenant=x deadline_ms=5.5 output_tokens=3")[0]
    (work / "log.jsonl").write_text(json.dumps(full) + "\n" + "{}\n" * empty)
    (work / "spans.jsonl").write_text(
        json.dumps(document(span(attributes=[{"key": "a", "value": {"intValue": "1"}}])))
        + "\n"
        + "".join(json.dumps(document(span(spanId=f"{n + 1:016x}", attributes=None))) + "\n" for n in range(empty))
    )
    assert [(row["kept"], row["set_aside"], row["refused"]) for row in well("ingest", ".", cwd=work).rows] == [
        ("1", "0", str(empty)),
        ("0", str(empty + 1), "0"),
    ]
    assert asked("SELECT tenant, deadline_ms, output_tokens FROM event", cwd=work) == [("x", 5.5, 3)]
    kinds = "SELECT DISTINCT typeof(attributes), typeof(events) FROM span"
    assert asked(kinds, cwd=work) == [("JSON", "JSON")]
    assert asked("SELECT count(*)::INT FROM span WHERE (attributes ->> '$.a')::INT = 1", cwd=work) == [(1,)]


def test_times_with_and_without_a_fraction_stand_in_one_file(tmp_path: Path) -> None:
    def printed(number: int, written: str) -> str:
        context = {"trace_id": "0x" + "1" * 32, "span_id": f"0x{number:016x}", "trace_state": "[]"}
        shown: dict[str, Any] = {
            "name": "n", "context": context, "kind": "SpanKind.CLIENT", "parent_id": None, "start_time": written,
            "end_time": "2026-11-30T19:59:00Z", "status": {"status_code": "UNSET"}, "attributes": {}, "events": [],
            "links": [], "resource": {"attributes": {"service.name": "s"}, "schema_url": ""},
        }  # fmt: skip
        return json.dumps(shown, indent=4) + "\n"

    text = printed(1, "2026-11-30T19:58:00Z") + printed(2, "2026-11-30T19:58:00.229Z")
    taken = given(tmp_path, text, source=CONSOLE)
    assert [row["start_ns"] for row in taken.spans] == [1796068680_000000000, 1796068680_229000000]
    assert taken.refused == []
