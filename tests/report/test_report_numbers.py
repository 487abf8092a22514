"""How numbers are written, and that the page shows those of the summary and no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from building import lines, slo, store
from hypothesis import given
from hypothesis import strategies as st
from rendering import Page, of_run

from analyzer.report import numbers

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.report import Report

RUNS = ("three-services", "vllm-direct", "serialized", "vllm")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0265390, "0.0265"),
        (0.99951, "1.00"),
        (90.798, "90.8"),
        (408.0, "408"),
        (1234.5, "1,230"),
        (-2.5, "-2.50"),
    ],
)
def test_three_figures_are_significant(value: float, text: str) -> None:
    assert numbers.significant(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "—"),
        (0.0, "0 %"),
        (1.0, "100 %"),
        (0.9999999999999999, "100 %"),
        (0.19791666, "19.8 %"),
        (0.99999, "99.999 %"),
    ],
)
def test_only_the_whole_is_a_hundred_per_cent(value: float | None, text: str) -> None:
    assert numbers.share(value) == text


@pytest.mark.parametrize(
    ("ms", "text"), [(5000.0, "5 s"), (400.0, "400 ms"), (1500.0, "1.5 s"), (0.25, "0.25 ms"), (60000, "60 s")]
)
def test_a_declared_time_is_not_rounded(ms: float, text: str) -> None:
    assert numbers.exact_time(ms) == text


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_what_is_shown_is_within_half_a_unit_of_the_third_figure(value: float) -> None:
    assert float(numbers.significant(value).replace(",", "")) == pytest.approx(value, rel=0.005000001)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_full_value_reads_back_equal(value: float) -> None:
    assert float(numbers.raw(value)) == value


def of_population(rows: list[dict[str, Any]], key: tuple[str, ...], population: str) -> dict[str, Any] | None:
    keys = ("load_point", "tenant", "input_bin", "output_bin")
    found = [row for row in rows if row["population"] == population and tuple(row[k] for k in keys) == key]
    return found[0] if found else None


def expected_cell(row: dict[str, Any] | None, level: str) -> str:
    """The full value that a cell must carry, from a row of the summary."""
    if row is None:
        return "—"
    for name, n in (("p95", 20), ("p99", 100)):
        if level == name and row["n"] < n:
            return f"n < {n}"
    low, high = row[level], row[f"{level}_high"]
    if low is None and high is None:
        return ""
    if low == high:
        return str(low)
    return f"{'unknown' if low is None else low} … {'unknown' if high is None else high}"


@pytest.mark.parametrize("run", RUNS)
def test_every_number_of_the_percentile_tables_is_in_the_summary(
    sample_report: Callable[[str], Report], run: str
) -> None:
    built = sample_report(run)
    page = Page(built.html)
    rows = [row for row in built.summary["views"]["percentile"] if row["window_start"] == "(all)"]
    checked = 0
    for name, table in page.tables.items():
        if not name.startswith("table-percentile-"):
            continue
        metric, _, chunk = name.removeprefix("table-percentile-").partition("-")
        mine = [row for row in rows if row["metric"] == metric and row["first_chunk"] == (chunk or None)]
        head = [key for _, key in table[0]]
        for line in table[1:]:
            key = stratum(line[0][1], rows)
            for population in ("ok", "all"):
                row = of_population(mine, key, population)
                for level in ("p50", "p95", "p99"):
                    assert line[head.index(f"{level}_{population}_ms")][1] == expected_cell(row, level), (name, line)
                    checked += 1
            whole = of_population(mine, key, "all")
            if whole:
                counts = {key: value for key, (_, value) in zip(head, line, strict=True)}
                assert counts["n"] == str(whole["n"])
                assert counts["failed"] == str(whole["failed"])
                assert counts.get("undetermined", "0") == str(whole["undetermined"])
                assert counts.get("unknown", "0") == str(whole["unknown"])
                assert counts.get("not_applicable", "0") == str(whole["not_applicable"])
    assert checked >= 12


def stratum(name: str, rows: list[dict[str, Any]]) -> tuple[str, ...]:
    """The key of a stratum in a run with one load point, from the name that the page gives it."""
    if name == "(all)":
        return ("(all)",) * 4
    (point,) = {row["load_point"] for row in rows} - {"(all)"}
    if name.startswith("tenant "):
        return (point, name.removeprefix("tenant "), "(all)", "(all)")
    side, _, value = name.partition(" tokens ")
    value = value if value == "(none)" else value.partition(" (")[0]
    return (point, "(all)", value, "(all)") if side == "input" else (point, "(all)", "(all)", value)


def test_p95_of_the_bursts_is_that_of_the_published_figures(sample_report: Callable[[str], Report]) -> None:
    for run, p95, n_ok, failed in (("serialized", "53251.0", "38", "154"), ("vllm", "523.0", "192", "0")):
        head, row = Page(sample_report(run).html).tables["table-percentile-ttft"][:2]
        cells = {key: value for (_, key), (_, value) in zip(head, row, strict=True)}
        assert (cells["p95_ok_ms"], cells["n_ok"], cells["failed"]) == (p95, n_ok, failed)
    html = sample_report("serialized").html
    assert "95 %: 49.9 to no upper bound at n = 38" in html.replace("\xa0", " ")


def test_parts_sum_to_the_whole_in_the_outcome_table(sample_report: Callable[[str], Report]) -> None:
    table = Page(sample_report("three-services").html).tables["table-outcomes"]
    head = [key for _, key in table[0]]
    for line in table[1:]:
        counts = {key: int(value) for key, (_, value) in zip(head, line, strict=True) if value.isdigit()}
        assert counts["offered"] == counts["ok"] + counts["cancelled"]
    offered = {line[0][1]: int(line[1][1]) for line in table[1:]}
    assert offered["tenant acme"] + offered["tenant globex"] + offered["tenant initech"] == offered["(all)"] == 36


def test_a_missing_tenant_is_not_the_total(tmp_path: Path) -> None:
    rows = [
        *lines("a sent 0 tenant=acme\na first_content 10\na done 20 outcome=ok"),
        *lines("b sent 5\nb first_content 30\nb done 40 outcome=ok"),
    ]
    page = Page(of_run(store(tmp_path, rows), tmp_path).html)
    names = [line[0][1] for line in page.tables["table-percentile-ttft"][1:]]
    assert names == ["(all)", "tenant acme", "tenant (none)"]


def test_load_points_are_in_order_and_name_their_tenants(tmp_path: Path) -> None:
    rows = [
        line
        for point in ("rate 10", "rate 9")
        for tenant in ("x", "y")
        for line in lines(
            f"{point[-2:].strip()}{tenant} sent 0\n{point[-2:].strip()}{tenant} first_content 10\n"
            f"{point[-2:].strip()}{tenant} done 20 outcome=ok",
            load_point=point,
            tenant=tenant,
        )
    ]
    page = Page(of_run(store(tmp_path, rows, slo=[slo("ttft", 50)]), tmp_path).html)
    names = [line[0][1] for line in page.tables["table-outcomes"][1:]]
    assert names[:3] == ["(all)", "load point rate 9", "load point rate 10"]
    assert names[3:] == ["tenant rate 9 · x", "tenant rate 9 · y", "tenant rate 10 · x", "tenant rate 10 · y"]


def test_known_and_assumed_first_chunks_are_in_tables_of_their_own(tmp_path: Path) -> None:
    rows = [
        *lines("a sent 0\na content 10 tokens=4\na content 40 tokens=4\na done 50 outcome=ok output_tokens=8"),
        *lines("b sent 0\nb first_content 10\nb last_content 40\nb done 50 outcome=ok output_tokens=8"),
    ]
    page = Page(of_run(store(tmp_path, rows), tmp_path).html)
    known, assumed = page.tables["table-percentile-tpot-known"], page.tables["table-percentile-tpot-assumed"]
    at = [key for _, key in known[0]].index("p50_ok_ms")
    assert known[1][at][1] == "7.5"
    assert float(assumed[1][at][1]) == pytest.approx(30 / 7)


def test_engine_only_runs_head_with_the_engine(tmp_path: Path) -> None:
    rows = lines("a arrived 0\na first_token 10\na last_token 20\na done 20 outcome=ok", side="engine")
    page = Page(of_run(store(tmp_path, rows), tmp_path).html)
    assert page.headings()["percentiles"].startswith("Time to first token, engine: p50 10.0 ms")
    assert page.headings()["attainment"] == "The one request got first token within 10.0 ms"
