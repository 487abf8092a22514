"""What may be subtracted from what: clocks apart, declared to relate, and what their own traffic says of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import lines, rows, store

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store


def two_hosts(delay: float, *, apart: float = 40.0) -> list[dict[str, Any]]:
    """One answer whose first token reaches the client after `delay` ms; the engine's clock is ahead by `apart` ms."""
    return lines(
        f"""
a sent 0
a first_content {100 + delay}
a last_content 200
a done 201 outcome=ok
a arrived {1 + apart} side=engine clock=e
a started {50 + apart} side=engine clock=e
a first_token {100 + apart} side=engine clock=e
a last_token {190 + apart} side=engine clock=e
a done {195 + apart} side=engine clock=e
"""
    )


RELATED = [{"clocks": ["c", "e"], "relation": "offset", "offset_ms": 40, "error_ms": 2}]
DELIVERY = "SELECT duration_ms, low_ms, high_ms, evidence, error_ms, note FROM stage WHERE stage = 'delivery'"


def test_two_hosts_40_ms_apart_have_no_delivery_and_the_audit_says_why(tmp_path: Path) -> None:
    made = store(tmp_path, two_hosts(10))
    assert rows(made, DELIVERY) == []
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'different clocks'") == [("e and c", 1)]


def test_a_declared_offset_of_40_give_or_take_2_gives_a_delivery_give_or_take_2(tmp_path: Path) -> None:
    made = store(tmp_path, two_hosts(10), clocks=RELATED)
    assert rows(made, DELIVERY) == [(None, 8.0, 12.0, "bounded", 2.0, None)]


def test_a_delivery_of_1_ms_is_indistinguishable_from_zero_where_the_clocks_may_be_2_ms_off(tmp_path: Path) -> None:
    made = store(tmp_path, two_hosts(1), clocks=RELATED)
    assert rows(made, DELIVERY) == [(None, 0.0, 3.0, "bounded", 2.0, "indistinguishable from zero")]


def test_a_delivery_of_1_ms_on_one_clock_is_1_ms(tmp_path: Path) -> None:
    told = [line | {"clock": "c"} for line in two_hosts(1, apart=0)]
    assert rows(store(tmp_path, told), DELIVERY) == [(1.0, 1.0, 1.0, "measured", 0.0, None)]


def advice(made: Store) -> list[tuple[Any, ...]]:
    return rows(made, "SELECT low_ms, high_ms, offset_ms, error_ms, declared, finding FROM clock_advice")


def test_traffic_bounds_the_offset_between_the_way_there_and_the_way_back(tmp_path: Path) -> None:
    """1 ms on the way there and 10 on the way back: between 40 - 10 and 40 + 1."""
    made = store(tmp_path, two_hosts(10))
    assert advice(made) == [(30.0, 41.0, 35.5, 5.5, "not declared", "to be declared in the manifest if it is believed")]
    assert rows(made, "SELECT * FROM audit WHERE audit = 'clocks contradicted'") == []


def test_the_entry_that_is_offered_can_be_declared_and_is_then_agreed_with(tmp_path: Path) -> None:
    (tmp_path / "first").mkdir()
    (offered,) = rows(store(tmp_path / "first", two_hosts(10)), "SELECT entry FROM clock_advice")
    (tmp_path / "second").mkdir()
    made = store(tmp_path / "second", two_hosts(10), clocks=[json.loads(offered[0])])
    assert [row[4:] for row in advice(made)] == [("offset", "agrees with what is taken for true")]
    assert rows(made, DELIVERY) == [(None, 0.0, 11.0, "bounded", 5.5, "indistinguishable from zero")]


def test_the_tightest_of_many_requests_bounds_the_offset_and_one_that_failed_bounds_no_way_back(tmp_path: Path) -> None:
    told = two_hosts(10) + lines(
        """
b sent 1000
b first_content 1103
b done 1200 outcome=ok
b arrived 1048 side=engine clock=e
b first_token 1140 side=engine clock=e
f sent 2000
f done 2010 outcome=cancelled
f arrived 2045 side=engine clock=e
f first_token 2400 side=engine clock=e
"""
    )
    made = store(tmp_path, told)
    assert advice(made)[0][:4] == (37.0, 41.0, 39.0, 2.0)
    assert rows(made, "SELECT low_from, high_from, attempts FROM clock_advice") == [("r/b/1", "r/a/1", 3)]


@pytest.mark.parametrize(
    ("offset", "severity", "finding"),
    [(45.001, "fault", "contradicts what is taken for true"), (43, None, "agrees with what is taken for true")],
)
def test_a_declared_offset_that_the_traffic_forbids_is_a_fault(
    offset: int, severity: str | None, finding: str, tmp_path: Path
) -> None:
    relation = [{"clocks": ["c", "e"], "relation": "offset", "offset_ms": offset, "error_ms": 2}]
    made = store(tmp_path, two_hosts(10), clocks=relation)
    assert [row[5] for row in advice(made)] == [finding]
    found = rows(made, "SELECT severity FROM audit WHERE audit = 'clocks contradicted'")
    assert found == ([(severity,)] if severity else [])


def test_clocks_that_no_offset_can_reconcile_are_a_warning_and_no_offset_is_offered(tmp_path: Path) -> None:
    later = [
        line | {"request": "b", "ns": str(int(line["ns"]) + (900_000_000 if line["side"] == "engine" else 10**9))}
        for line in two_hosts(10)
    ]
    made = store(tmp_path, two_hosts(10) + later)
    assert advice(made)[0][:4] == (30.0, -59.0, None, None)
    assert rows(made, "SELECT severity FROM audit WHERE audit = 'clocks contradicted'") == [("warning",)]
    assert rows(made, "SELECT entry FROM clock_advice") == [(None,)]


def test_one_clock_by_which_the_server_was_first_is_a_fault(tmp_path: Path) -> None:
    told = [line | {"clock": "c"} for line in two_hosts(10, apart=-5)]
    made = store(tmp_path, told)
    assert rows(made, "SELECT severity, subject FROM audit WHERE audit = 'clocks contradicted'") == [
        ("fault", "c at client and engine")
    ]


def test_how_fine_a_clock_was_written_is_the_coarsest_step_that_fits_its_times(tmp_path: Path) -> None:
    told = lines(
        "a sent 0\na first_content 101\na done 205 outcome=ok\nb sent 7.25 clock=d\nb done 9.5 clock=d outcome=ok"
    )
    made = store(tmp_path, told)
    assert rows(made, "SELECT clock, times, step_ms FROM clock_resolution ORDER BY clock") == [
        ("c", 3, 1.0),
        ("d", 2, 0.001),
    ]


def test_a_contradiction_no_wider_than_the_step_of_the_clocks_is_none(tmp_path: Path) -> None:
    told = lines("a sent 0\na done 9 outcome=ok\na arrived -0.5 side=gateway\na done 8.5 side=gateway outcome=ok")
    made = store(tmp_path, told)
    assert rows(made, "SELECT * FROM audit WHERE audit = 'clocks contradicted'") == []


def test_a_misspelt_clock_of_a_relation_is_named_with_those_that_there_are(tmp_path: Path) -> None:
    relation = [{"clocks": ["c", "ee"], "relation": "offset", "offset_ms": 40, "error_ms": 2}]
    made = store(tmp_path, two_hosts(10), clocks=relation)
    ((subject, detail),) = rows(made, "SELECT subject, detail FROM audit WHERE audit = 'clock not seen'")
    assert subject == "ee"
    assert detail.endswith("There are: c, e")
    (tmp_path / "right").mkdir()
    assert (
        rows(
            store(tmp_path / "right", two_hosts(10), clocks=RELATED),
            "SELECT * FROM audit WHERE audit = 'clock not seen'",
        )
        == []
    )
