"""Settings are what a manifest declares, with defaults for what it does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.manifest import LengthBin, Manifest, Settings, default_settings, settings, skeleton, to_ns
from analyzer.manifest.times import offset_to_ns, seconds_to_ms, seconds_to_ns


def settings_with(**fields: object) -> Settings:
    """Give the settings of a manifest with these fields of the measurement (or artifact_clocks)."""
    dotted = {key.replace("__", "."): value for key, value in fields.items()}
    return settings(Manifest(Path("run.json"), skeleton({"name": "r", **dotted})))


def test_what_is_unknown_takes_the_default() -> None:
    found, plain = settings_with(), default_settings("r")
    assert replace(found, boundary_policies=()) == plain
    assert (found.run, found.why, found.client_cancel, found.population_unit) == (
        "r",
        "",
        "interval",
        "request",
    )
    assert found.entry is None
    assert (found.window_start_ns, found.window_end_ns, found.window_width_ns) == (None, None, None)
    assert found.warmup_ns is None
    assert found.tenant_keys[0] == "tenant"
    assert found.tenant_keys[-1] == "litellm.end_user.id"
    declared = (found.slos, found.load_points, found.clock_relations)
    assert declared == ((), (), ())
    assert {(owner, policy, bool(why)) for _, owner, policy, why in found.boundary_policies} == {(None, None, True)}


def test_a_client_that_does_not_retry_has_one_attempt_a_request() -> None:
    found = settings_with(workload__retry="none")
    assert (found.max_attempts, found.retry_budget_share) == (1, None)


def test_the_default_bins_are_short_and_long() -> None:
    assert default_settings("r").length_bins == (
        LengthBin("input", "short", 0, 512),
        LengthBin("input", "long", 512, None),
        LengthBin("output", "short", 0, 128),
        LengthBin("output", "long", 128, None),
    )


def test_several_edges_name_their_bins_by_their_ends() -> None:
    found = settings_with(measurement__length_bins={"input_tokens": [512, 4096.0]}).length_bins
    assert found[:3] == (
        LengthBin("input", "[0, 512)", 0, 512),
        LengthBin("input", "[512, 4096)", 512, 4096),
        LengthBin("input", "[4096, inf)", 4096, None),
    )
    assert [b.bin for b in found[3:]] == ["short", "long"]


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=5, unique=True).map(sorted),
    st.integers(0, 2 * 10**6),
)
def test_each_count_is_in_exactly_one_bin_and_an_edge_in_the_upper(edges: list[int], count: int) -> None:
    bins = settings_with(measurement__length_bins={"output_tokens": edges}).length_bins
    output = [b for b in bins if b.dimension == "output"]
    for value in (count, *edges):
        holding = [b for b in output if b.low <= value and (b.high is None or value < b.high)]
        assert len(holding) == 1
        assert value not in edges or holding[0].low == value


def test_declared_values_come_through() -> None:
    found = settings_with(
        why="Does it hold?",
        measurement__population={
            "entry": "sent",
            "unit": "attempt",
            "select": {"tenant": "acme", "phase": "cold"},
        },
        measurement__window={
            "start": "2026-11-30T10:00:00+02:00",
            "end": "1796033700000000001",
            "width_s": 0.5,
        },
        measurement__warmup={"duration_s": 30},
        measurement__failure_rules={"client_cancel": "bad"},
        workload__retry={"max_attempts": 3, "budget_share": 0.2},
        measurement__tenant_keys=["team"],
        measurement__load_points=[{"name": "low", "start": "1", "end": "2"}],
        measurement__boundaries={
            "done": {"owner": "gateway", "policy": {"unknown": "not written down"}},
            "admitted": {"owner": {"unknown": "?"}, "policy": "queue of 128"},
        },
    )
    assert found.why == "Does it hold?"
    assert (found.entry, found.population_unit) == ("sent", "attempt")
    assert found.population_select == (("phase", "cold"), ("tenant", "acme"))
    assert found.window_start_ns == int(datetime(2026, 11, 30, 8, tzinfo=UTC).timestamp()) * 10**9
    assert found.window_end_ns == 1796033700000000001
    assert (found.window_width_ns, found.warmup_ns) == (500_000_000, 30 * 10**9)
    assert (found.client_cancel, found.tenant_keys) == ("bad", ("team",))
    assert (found.max_attempts, found.retry_budget_share) == (3, 0.2)
    assert found.load_points == (("low", 1, 2),)
    assert found.boundary_policies == (
        ("admitted", None, "queue of 128", None),
        ("done", "gateway", None, "not written down"),
    )


def test_promises_become_numbered_conditions_in_milliseconds() -> None:
    slo = {
        "name": "interactive",
        "good": [{"metric": "ttft", "op": "<=", "s": 0.0023}, {"metric": "tpot", "op": "<=", "ms": 80}],
        "target": 0.95,
        "select": {"tenant": "acme", "load_point": "rate-8"},
    }
    found = settings_with(measurement__slo=[slo, {**slo, "name": "strict", "confidence": 0.99, "select": {}}])
    rows = [(c.slo, c.condition, c.metric, c.op, c.limit_ms, c.target, c.confidence) for c in found.slos]
    assert rows == [
        ("interactive", 1, "ttft", "<=", 2.3, 0.95, 0.95),
        ("interactive", 2, "tpot", "<=", 80.0, 0.95, 0.95),
        ("strict", 1, "ttft", "<=", 2.3, 0.95, 0.99),
        ("strict", 2, "tpot", "<=", 80.0, 0.95, 0.99),
    ]
    assert found.slo_select == (("interactive", "load_point", "rate-8"), ("interactive", "tenant", "acme"))


def test_clocks_of_one_machine_relate_in_every_order_without_offset() -> None:
    names = ["client-1", "gw-1", "node-a"]
    found = settings_with(artifact__clocks=[{"clocks": names, "relation": "same machine"}]).clock_relations
    assert {(r.clock_a, r.clock_b) for r in found} == {(a, b) for a in names for b in names if a != b}
    assert {(r.relation, r.offset_ns, r.error_ns) for r in found} == {("same machine", 0, 0)}


def test_an_offset_turns_its_sign_with_the_order_of_the_clocks() -> None:
    offset = {"clocks": ["a", "b"], "relation": "offset", "offset_ms": 1.25, "error_ms": 0.2}
    found = settings_with(artifact__clocks=[offset, offset]).clock_relations
    assert [(r.clock_a, r.clock_b, r.offset_ns, r.error_ns) for r in found] == [
        ("a", "b", 1_250_000, 200_000),
        ("b", "a", -1_250_000, 200_000),
    ]


def test_what_rounding_an_offset_loses_is_added_to_its_error() -> None:
    assert offset_to_ns(0.0000004, 0.1) == (0, 100_001)
    assert offset_to_ns(-1e12, 0) == (-(10**18), 0)


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00Z", 0),
        ("1969-12-31T23:59:59.999999999Z", -1),
        ("2026-11-30T10:00:00.123456789Z", 1796032800123456789),
        ("2026-11-30T12:00:00.123456789+02:00", 1796032800123456789),
        ("2026-11-30T04:30:00.1-05:30", 1796032800100000000),
        ("2024-02-29T00:00:00Z", 1709164800000000000),
        ("1796032800123456789", 1796032800123456789),
        ("-5", -5),
    ],
)
def test_a_time_is_read_to_the_nanosecond(text: str, ns: int) -> None:
    assert to_ns(text) == ns


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30",
        "2026-11-30T10:00:00",
        "2026-11-30T24:00:00Z",
        "2026-11-30T10:00:60Z",
        "2026-02-29T10:00:00Z",
        "2026-11-30T10:00:00.1234567891Z",
        "2026-11-30T10:00:00Z\n",
        "2026-11-30T10:00:00+25:00",
        "2300-01-01T00:00:00Z",
        "9999999999999999999",
        "\u0661",
        "1e9",
        "",
    ],
)
def test_what_is_no_time_with_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^is (no|out of) "):
        to_ns(text)


@given(
    st.datetimes(datetime(1700, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 (the zone is drawn apart)
    st.integers(-23 * 60, 23 * 60),
    st.integers(0, 999),
)
def test_iso_times_agree_with_the_calendar(moment: datetime, minutes: int, nanos: int) -> None:
    sign = "-" if minutes < 0 else "+"
    zone = f"{sign}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"
    aware = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    micros = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    text = f"{moment.year:04}-{moment:%m-%dT%H:%M:%S.%f}{nanos:03}{zone}"
    assert to_ns(text) == micros * 1000 + nanos


@given(st.integers(1, 10**15))
def test_decimals_are_taken_as_written(ns: int) -> None:
    assert seconds_to_ns(float(f"{ns}e-9")) == ns
    assert seconds_to_ms(float(f"{ns}e-9")) == float(f"{ns}e-6")


@given(st.permutations(["model", "runtime", "hardware", "workload", "measurement"]))
def test_settings_do_not_depend_on_the_order_of_keys(order: list[str]) -> None:
    select = {"tenant": "acme", "phase": "measured"}
    document: dict[str, Any] = skeleton({"measurement.population.select": select})
    turned = {key: document[key] for key in [*order, "artifact", "why", "name", "manifest"]}
    turned["measurement"] = dict(reversed(document["measurement"].items()))
    turned["measurement"]["population"] = {"select": dict(reversed(select.items()))}
    assert settings(Manifest(Path("a"), turned)) == settings(Manifest(Path("b"), document))
