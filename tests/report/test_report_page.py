"""The page as a reader without network, and perhaps without scripts, gets it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from building import lines, slo, store
from rendering import PACKED, Page, of_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from analyzer.report import Report
    from analyzer.store import Store

RUNS = ("three-services", "vllm-direct", "serialized", "vllm")
SECTIONS = [
    "promise", "glance", "outcomes", "percentiles", "attainment", "stages", "timelines", "audits", "files", "boundaries",
    "manifest", "method",
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
def test_sections_stand_in_the_order_of_the_argument(sample_report: Callable[[str], Report], run: str) -> None:
    page = Page(sample_report(run).html)
    assert [e.attributes["id"] for e in page.all("section")] == SECTIONS
    links = [e.attributes["href"] for e in page.all("a") if "nav" in e.above]
    assert links == [f"#{name}" for name in SECTIONS]


def test_headings_are_findings_of_the_serialized_burst(sample_report: Callable[[str], Report]) -> None:
    headings = Page(sample_report("serialized").html).headings()
    assert headings["promise"] == "Promise broken"
    assert headings["outcomes"] == "154 of 192 requests timed out; nothing was rejected early"
    assert headings["percentiles"] == (
        "Time to first content, client side: p50 and p95 not reached, over all 192 requests"
    )
    assert headings["attainment"] == "The curve stops at 19.8 %: 154 of 192 failed with no first content recorded"
    assert headings["stages"] == "Where the time to first content went"
    assert headings["boundaries"].endswith("nothing recorded by the gateway and engine")


def test_headings_of_a_run_in_which_everyone_was_answered(sample_report: Callable[[str], Report]) -> None:
    headings = Page(sample_report("vllm").html).headings()
    assert headings["promise"] == "Promise kept"
    assert headings["outcomes"] == "All 192 requests were answered"
    assert headings["attainment"].startswith("All 192 requests got first content within ")


def test_cancelled_requests_make_a_range_and_no_verdict(sample_report: Callable[[str], Report]) -> None:
    headings = Page(sample_report("three-services").html).headings()
    assert headings["promise"] == "Cannot tell"
    assert headings["outcomes"] == "5 of 36 requests were cancelled by the client"
    assert headings["percentiles"].endswith("p50 90.8 ms, p95 408 ms or never, over all 36 requests")
    expected = "The curve stops between 86.1 and 100 %, because 5 requests left before it was decided"
    assert headings["attainment"] == expected
    assert re.fullmatch(r"Queue holds [\d.]+ % of the mean 128 ms to first content", headings["stages"])


@pytest.mark.parametrize("run", RUNS)
def test_no_request_leaves_the_page(sample_report: Callable[[str], Report], run: str) -> None:
    html = sample_report(run).html
    page = Page(html)
    policy = next(e for e in page.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy")
    expected = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"
    assert policy.attributes["content"] == expected
    for element in page.elements:
        assert not {"src", "srcset", "action", "data", "poster", "xlink:href"} & element.attributes.keys()
        assert element.attributes.get("href", "#").startswith("#")
    ours = [e.text for e in page.elements if e.tag in ("style", "script")]
    assert not any(re.search(r"https?:|@import|url\(", text) for text in ours)


@pytest.mark.parametrize("run", ["three-services", "serialized", "vllm"])
def test_no_address_stands_in_the_page_at_all(sample_report: Callable[[str], Report], run: str) -> None:
    html = PACKED.sub("", sample_report(run).html)
    assert not re.search(r"https?:|[\"'(]//", html)


@pytest.mark.parametrize("run", RUNS)
def test_every_id_is_once_and_every_link_leads_somewhere(sample_report: Callable[[str], Report], run: str) -> None:
    page = Page(sample_report(run).html)
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert {e.attributes["href"][1:] for e in page.all("a")} <= set(ids)


@pytest.mark.parametrize("run", RUNS)
def test_without_scripts_tables_numbers_and_timelines_remain(sample_report: Callable[[str], Report], run: str) -> None:
    html = re.sub(r"<script.*?</script>", "", sample_report(run).html, flags=re.DOTALL)
    page = Page(html)
    expected = {
        "table-outcomes",
        "table-percentile-ttft",
        "table-attainment-1",
        "table-attainment-curve",
        "table-files",
    }
    assert expected <= page.tables.keys()
    assert all(len(rows) > 1 for rows in page.tables.values())
    assert any(e.attributes.get("class") == "track" for e in page.all("svg"))
    assert "its numbers are in the table below" in html


@pytest.mark.parametrize("run", RUNS)
def test_rows_of_a_table_are_as_wide_as_its_head(sample_report: Callable[[str], Report], run: str) -> None:
    for name, rows in Page(sample_report(run).html).tables.items():
        assert {len(row) for row in rows} == {len(rows[0])}, name


def test_the_sql_of_every_table_is_on_the_page_and_runs(
    sample_report: Callable[[str], Report], sample_store: Store
) -> None:
    page = Page(sample_report("three-services").html)
    buttons = [e for e in page.all("button") if e.attributes["data-copy"] == "sql"]
    assert len(buttons) == len(page.tables)
    for button in buttons:
        assert sample_store.fetch(button.attributes["data-sql"])
    explained = {e.attributes["id"] for e in page.all("details") if e.attributes.get("class") == "sql"}
    assert {"sql-percentile", "sql-quantile", "sql-metric_end", "sql-attempt", "sql-verdict"} <= explained


def test_timelines_show_four_of_each_kind_once(sample_report: Callable[[str], Report]) -> None:
    page = Page(sample_report("serialized").html)
    who = [e.text.split()[0] for e in page.all("p") if e.attributes.get("class") == "who"]
    assert len(who) == len(set(who)) == 10
    assert who[-2:] == ["serialized-w0-r00", "serialized-w0-r01"]
    rows = {row[0][0]: row for row in page.tables["table-timelines"][1:]}
    assert [text for text, _ in rows["serialized-w0-r02"]][-3:] == ["0", "not recorded", "60.0"]


def test_a_page_of_unverified_data_says_so_at_the_top(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0\na first_content 10\na done 20 outcome=ok"))
    html = of_run(made, tmp_path, status="unverified", status_note="raw files differ").html
    assert "✕ not verified" in html
    assert '<p class="banner bad" role="alert"><b>Not verified.</b> raw files differ</p>' in html
    html = of_run(made, tmp_path, post_hoc=[{"why": "wrong tenant", "when": "2026-01-02T00:00:00Z"}]).html
    assert "The contract was changed after it was frozen.</b> wrong tenant (2026-01-02T00:00:00Z)" in html


def test_a_run_without_a_promise_says_that_nothing_was_promised(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 0\na first_content 10\na done 20 outcome=ok"))
    built = of_run(made, tmp_path)
    assert Page(built.html).headings()["promise"] == "Nothing was promised"
    assert built.verdicts == ()
    assert built.summary["promise"]["verdict"] is None


def test_several_promises_have_a_card_each_and_the_gravest_speaks(tmp_path: Path) -> None:
    rows = [
        line
        for i in range(60)
        for line in lines(f"r{i} sent 0\nr{i} first_content 10\nr{i} last_content 90\nr{i} done 90 outcome=ok")
    ]
    promises = [slo("ttft", 50, name="fast"), slo("e2e", 50, name="whole")]
    built = of_run(store(tmp_path, rows, slo=promises), tmp_path)
    assert built.verdicts == (("fast", "kept"), ("whole", "broken"))
    assert built.summary["promise"]["slo"] == "whole"
    page = Page(built.html)
    assert page.headings()["promise"] == "1 of 2 promises: broken"
    cards = [e.attributes["class"] for e in page.all("article")]
    assert cards == ["promise kept", "promise broken"]
    assert "table-attainment-2" in page.tables


def test_a_run_with_no_counted_request_says_why_each_section_is_empty(tmp_path: Path) -> None:
    window = {"start": "2027-01-01T00:00:00Z", "end": "2027-01-02T00:00:00Z", "width_s": 60, "edge": "arrival"}
    made = store(tmp_path, lines("a sent 0\na done 20 outcome=ok"), window=window, slo=[slo("ttft", 50)])
    page = Page(of_run(made, tmp_path).html)
    assert page.headings()["promise"] == "Cannot tell"
    told = [e.text for e in page.all("p") if e.attributes.get("class") == "empty"]
    assert any(text.startswith("No request is counted") for text in told)
    assert [e.attributes["id"] for e in page.all("section")] == SECTIONS
