"""Faults with reports: groups that vanish, numbers that are no JSON, names that are markup, code pages or paths."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

from building import declare, lines, rows, slo, store, write
from rendering import Page, of_run
from running import well

from analyzer import report

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT, IMAGE = "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>"
ANSWERED = "{0} sent {1} streamed=true\n{0} first_content {2} tokens=1\n{0} last_content {3} output_tokens=3\n{0} done {3} outcome=ok"


def answered(name: str, ms: int = 0, **facts: Any) -> list[dict[str, Any]]:
    return [line | facts for line in lines(ANSWERED.format(name, ms, ms + 20, ms + 40))]


def strict(text: str) -> Any:
    def refuse(word: str) -> NoReturn:
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


def test_requests_of_no_known_tenant_are_a_group_of_their_own(tmp_path: Path) -> None:
    made = store(tmp_path, [*answered("r", tenant="a"), *answered("s"), *answered("t", tenant="b")])
    found = rows(
        made,
        "SELECT tenant, n FROM percentile WHERE metric = 'ttft' AND population = 'ok' AND load_point <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' AND tenant <> '(all)' ORDER BY 1",
    )
    assert found == [("(none)", 1), ("a", 1), ("b", 1)]
    table = Page(of_run(made, tmp_path).html).tables["table-outcomes"]
    assert [(line[0][0], line[1][0]) for line in table[1:]] == [
        ("(all)", "3"), ("tenant a", "1"), ("tenant b", "1"), ("tenant (none)", "1"),
    ]  # fmt: skip


def test_a_group_without_any_value_leaves_the_json_of_a_page_strict(tmp_path: Path) -> None:
    lost = lines("x sent 0 tenant=empty\nx done 900 outcome=timeout")
    built = of_run(store(tmp_path, [*answered("r", tenant="a"), *lost], slo=[slo("ttft", 50)]), tmp_path)
    data = [e.text for e in Page(built.html).all("script") if e.attributes.get("type") == "application/json"]
    assert len(data) == 1
    strict(data[0])
    summary = strict(report.to_json(built.summary))
    (empty,) = [
        row for row in summary["views"]["percentile"]
        if (row["tenant"], row["metric"], row["population"], row["window_start"], row["input_bin"], row["output_bin"])
        == ("empty", "ttft", "ok", "(all)", "(all)", "(all)")
    ]  # fmt: skip
    assert (empty["n"], empty["failed"], empty["p50"]) == (0, 1, None)


def test_names_that_are_markup_are_shown_and_never_run(tmp_path: Path) -> None:
    # A tenant of one is not listed by name.
    of_two = [*answered("r", tenant=SCRIPT, model=IMAGE), *answered("s", tenant="other", model=IMAGE)]
    html = of_run(store(tmp_path, of_two), tmp_path).html
    for text in ("<script>alert", "<img"):
        assert text not in html
    assert f"tenant {SCRIPT}" in [line[0][0] for line in Page(html).tables["table-outcomes"]]


def test_one_load_point_one_tenant_and_one_bin_make_a_whole_page(tmp_path: Path) -> None:
    one = answered("r", load_point="8/s", tenant="a", input_tokens=10, output_tokens=3)
    page = Page(of_run(store(tmp_path, one, slo=[slo("ttft", 50)]), tmp_path).html)
    assert list(page.headings()) == [
        "promise", "glance", "outcomes", "percentiles", "attainment", "stages", "timelines", "audits", "files",
        "boundaries", "manifest", "method",
    ]  # fmt: skip
    for table in ("outcomes", "percentile-ttft", "percentile-e2e", "percentile-tpot-known", "attainment-1"):
        assert len(page.tables[f"table-{table}"]) > 1, table


def test_a_page_is_utf_8_whatever_the_locale_and_stays_in_its_folder_whatever_the_names(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    tenants = ["Łódź ✓", "a/b", "a_b", "x:y", "../x"]
    write(work / "log.jsonl", [
        line for i, tenant in enumerate(tenants) for line in answered(f"r{i}", i, tenant=tenant, model="google/gemma-2-9b-it")
    ])  # fmt: skip
    path = declare(work, ["log.jsonl"], name="run")
    document = json.loads(path.read_text())
    document["name"] = "../google/gemma: 9b"
    path.write_text(json.dumps(document))
    other = {"PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONIOENCODING": "cp1252"}
    well("seal", "--no-promise", "run.json", cwd=work, **other)
    well("report", "--manifest", "run.json", cwd=work, **other)
    html = (work / "run.html").read_bytes().decode("utf-8")
    page = Page(html)
    assert [e.attributes["charset"] for e in page.all("meta") if "charset" in e.attributes] == ["utf-8"]
    shown = [line[0][0] for line in page.tables["table-outcomes"][1:]]
    assert {f"tenant {tenant}" for tenant in tenants} < set(shown)
    found = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if ".home" not in path.parts}
    assert found == {
        "work", "work/log.jsonl", "work/run.json", "work/run.html", "work/run.summary.json", "work/.analyze",
        "work/.analyze/run.duckdb",
    }  # fmt: skip
