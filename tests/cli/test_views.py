"""The commands that print a view: what may be wrong, what may be subtracted, what can be pointed to."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

import pytest
from building import lines, put_empty_store, write
from running import COMMAND, analyze, refusal, surroundings, well

if TYPE_CHECKING:
    from pathlib import Path

TOLD = """
a sent 0
a first_content 110
a done 201 outcome=ok
a arrived 41 side=gateway clock=g
a done 239 side=gateway clock=g outcome=ok
"""


def ingested(work: Path, text: str = TOLD) -> None:
    write(work / "log.jsonl", lines(text))
    put_empty_store(work)
    well("ingest", "log.jsonl", "--run", "night", cwd=work)


def test_clocks_prints_the_bounds_and_offers_an_entry_that_a_manifest_takes(work: Path) -> None:
    ingested(work)
    ran = well("clocks", cwd=work)
    (row,) = ran.rows
    assert (row["clock_a"], row["clock_b"], row["low_ms"], row["high_ms"]) == ("c", "g", "38.0", "41.0")
    (note,) = ran.notes
    offered = json.loads(note.partition(": ")[2])
    assert offered == {"clocks": ["c", "g"], "relation": "offset", "offset_ms": 39.5, "error_ms": 1.5}


def test_clocks_of_a_run_on_one_side_says_that_there_is_nothing_to_compare(work: Path) -> None:
    ingested(work, "a sent 0\na done 5 outcome=ok")
    ran = well("clocks", "--json", cwd=work)
    assert json.loads(ran.out) == []
    assert ran.notes == ["no attempt was seen on two clocks of one kind"]


def test_audit_lists_the_worst_first(work: Path) -> None:
    ingested(work, TOLD + "b sent 5\nb done 1 outcome=ok")
    severities = [row["severity"] for row in well("audit", cwd=work).rows]
    assert severities[0] == "fault"
    assert severities == sorted(severities, key=["fault", "warning", "note"].index)


def test_audit_coverage_tells_what_was_seen_what_must_be_decided_there_and_whether_it_was_declared(work: Path) -> None:
    ingested(work)
    found = json.loads(well("audit", "--coverage", "--json", cwd=work).out)
    (arrived,) = [row for row in found if (row["side"], row["boundary"]) == ("gateway", "arrived")]
    assert (arrived["seen"], arrived["missing"], arrived["owner"]) == (1, 0, "gateway")
    assert (arrived["handover"], arrived["required_policy"]) == ("edge to admission", "quota and deadline check")
    assert (arrived["policy"], arrived["policy_state"]) == (None, "not declared")
    places = [row["place"] for row in found]
    assert places == sorted(places)


def test_a_file_that_is_read_into_another_run_is_said_to_have_moved(work: Path) -> None:
    ingested(work)
    ran = well("ingest", "log.jsonl", "--run", "day", cwd=work)
    assert any(note.startswith("1 file moved from run night to run day") for note in ran.notes)


def test_rules_that_others_take_the_place_of_are_named(work: Path) -> None:
    for name in ("one", "two"):
        (work / f"{name}.toml").write_text('[[failure]]\nname = "x"\nclass = "client"\nstatus = 418\n')
    ingested(work)
    well("ingest", "log.jsonl", "--run", "night", "--rules", "one.toml", cwd=work)
    ran = well("ingest", "log.jsonl", "--run", "night", "--rules", "two.toml", cwd=work)
    assert any(note.startswith("given up: the rules of one.toml") for note in ran.notes)


def test_a_run_that_is_not_there_is_named_with_those_that_are(work: Path) -> None:
    ingested(work)
    for command in ("audit", "clocks"):
        assert "has no run 'day'; it has night" in refusal(analyze(command, "--run", "day", cwd=work), 2)


def test_of_many_findings_of_a_kind_the_first_three_stand_for_the_rest_unless_all_are_asked_for(work: Path) -> None:
    ingested(work, "\n".join(f"r{i} sent 0\nr{i} done 5 outcome=ok tenant=a\nr{i} sent 0 tenant=b" for i in range(9)))
    (kind,) = {
        row["audit"]
        for row in well("audit", "--all", cwd=work).rows
        if int(row["n"]) == 1 and row["subject"].startswith("r")
    }
    some, every = well("audit", cwd=work), well("audit", "--all", cwd=work)
    assert len([row for row in some.rows if row["audit"] == kind]) == 3
    assert len([row for row in every.rows if row["audit"] == kind]) == 9
    assert any(note.startswith(f"6 more of night: {kind}") for note in some.notes)
    assert len([row for row in json.loads(well("audit", "--json", cwd=work).out) if row["audit"] == kind]) == 9


@pytest.mark.parametrize("command", ["audit", "clocks --json", "timeline a"])
def test_a_process_that_was_started_with_its_stdout_closed_ends_well(command: str, work: Path) -> None:
    ingested(work)
    done = subprocess.run(
        ["/bin/sh", "-c", f'"{COMMAND}" {command} >&-'],
        cwd=work,
        env=surroundings(work.parent / ".home"),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert b"fault of analyze" not in done.stderr
