"""`analyze timeline`: one request from arrival to final byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from building import engine_span, lines, put_empty_store, write
from running import analyze, refusal, well

if TYPE_CHECKING:
    from pathlib import Path

    from running import Ran

TOLD = """
a sent 0 tenant=acme
a first_content 323
a last_content 3117
a done 3120 outcome=ok output_tokens=128
a arrived 0 side=gateway
a admitted 8 side=gateway
a arrived 8 side=engine
a admitted 8 side=engine
a started 228 side=engine
a first_token 318 side=engine
a last_token 3112 side=engine
a done 3113 side=engine
"""


def ingested(work: Path, text: str = TOLD, run: str = "night") -> None:
    write(work / f"{run}.jsonl", lines(text))
    put_empty_store(work)
    well("ingest", f"{run}.jsonl", "--run", run, cwd=work)


def entries(ran: Ran) -> list[dict[str, str]]:
    names, *rows = [line.split("\t") for line in ran.out.split("\n\n")[-1].splitlines()]
    return [dict(zip(names, row, strict=True)) for row in rows]


def test_each_wait_stands_with_its_owner_its_clock_and_how_it_is_known(work: Path) -> None:
    ingested(work)
    ran = well("timeline", "a", cwd=work)
    waits = {row["what"]: row for row in entries(ran) if row["entry"] == "wait"}
    shown = {what: (row["at_ms"], row["wait_ms"], row["owner"]) for what, row in waits.items()}
    assert shown == {
        "edge": ("0.000", "8.000", "gateway"),
        "queue": ("8.000", "220.000", "scheduler"),
        "prefill": ("228.000", "90.000", "worker"),
        "delivery": ("318.000", "5.000", "stream"),
        "decode": ("318.000", "2794.000", "worker"),
        "terminal": ("3117.000", "3.000", "stream"),
        "unattributed": ("", "0.000", "nobody"),
    }
    assert {row["clock"] for row in waits.values()} == {"c"}
    assert waits["queue"]["evidence"] == "measured"
    assert "ttft_ms\t323.0\n" in ran.out
    assert ran.err == ""


def test_a_side_on_a_clock_of_its_own_counts_from_its_own_zero(work: Path) -> None:
    ingested(work, TOLD.replace("side=engine", "side=engine clock=e"))
    rows = entries(well("timeline", "a", cwd=work))
    (token,) = [row for row in rows if row["what"] == "first_token"]
    assert (token["at_ms"], token["clock"]) == ("310.000 (own zero)", "e")
    assert [row for row in rows if row["what"] == "delivery"] == []


def test_a_bounded_boundary_and_a_bounded_wait_show_both_their_ends(work: Path) -> None:
    one = engine_span("1" * 32, 1, start=0, ttft=300, queue=220, prefill=70, decode=2794, tokens=128)
    (work / "spans.jsonl").write_text(json.dumps(one))
    well("ingest", "spans.jsonl", cwd=work)
    told = json.loads(well("timeline", f"{'1' * 32}/{1:016x}", "--json", cwd=work).out)
    (started,) = [row for row in told["entries"] if row["what"] == "started"]
    assert (started["at_ms"], started["until_ms"], started["evidence"]) == (220.0, 230.0, "bounded")
    (edge,) = [row for row in told["entries"] if row["what"] == "edge"]
    assert (edge["low_ms"], edge["high_ms"]) == (0.0, 10.0)


def test_attempts_are_listed_with_what_each_was_made_for(work: Path) -> None:
    ingested(
        work, "a sent 0\na done 50 outcome=error error_type=Reset\na sent 70 attempt=2\na done 90 attempt=2 outcome=ok"
    )
    told = json.loads(well("timeline", "a", "--json", cwd=work).out)
    assert [(row["kind"], row["outcome"], row["backoff_ms"]) for row in told["attempts"]] == [
        ("first", "error", None),
        ("retry", "ok", 20.0),
    ]
    assert "retry" in well("timeline", "a", cwd=work).out


def test_a_diagnosis_says_what_it_cannot(work: Path) -> None:
    ingested(work)
    told = json.loads(well("timeline", "a", "--json", cwd=work).out)
    assert [(row["about"], row["finding"]) for row in told["diagnosis"]] == [
        ("first content", "no excess"),
        ("end", "no excess"),
    ]


def test_a_part_of_an_id_is_answered_with_the_ids_that_it_is_part_of(work: Path) -> None:
    ingested(work, TOLD.replace("a ", "req-17-abc "))
    assert "has no request 'req-17'; did you mean req-17-abc?" in refusal(analyze("timeline", "req-17", cwd=work), 2)


def test_a_request_of_two_runs_is_asked_for_by_its_run(work: Path) -> None:
    ingested(work)
    ingested(work, run="day")
    assert "in several runs: day, night; name one with --run" in refusal(analyze("timeline", "a", cwd=work), 2)
    assert "run\tday\n" in well("timeline", "a", "--run", "day", cwd=work).out


@pytest.mark.parametrize("name", ["'; DROP TABLE span; --", "%", "\u202eevil"])
def test_a_hostile_id_is_an_id(name: str, work: Path) -> None:
    (work / "log.jsonl").write_text("".join(json.dumps(line | {"request": name}) + "\n" for line in lines(TOLD)))
    well("ingest", "log.jsonl", cwd=work)
    told = json.loads(well("timeline", name, "--json", cwd=work).out)
    assert told["request"]["request_id"] == name


def test_a_request_of_another_run_is_said_to_be_there(work: Path) -> None:
    ingested(work)
    ingested(work, TOLD.replace("a ", "b "), run="day")
    assert "run day has no request 'a'; it is in night" in refusal(
        analyze("timeline", "a", "--run", "day", cwd=work), 2
    )
