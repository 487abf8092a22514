"""Values of a trace may hold anything; none of it becomes markup, script, or a formula."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from building import BASE_NS, slo, store
from rendering import Page, of_run

from analyzer import report
from analyzer.report.evidence import literal, relabelled
from analyzer.report.page import in_script, visible

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "</script><script>alert(1)</script>"
NAMES = [
    SCRIPT, "<img src=x onerror=alert(1)>", "{{ 7*7 }}{% raw %}", "it's; DROP TABLE attempt --", '"><svg/onload=alert(1)>',
    "=HYPERLINK(1)", "-2+3", "tab\there", "nul\x00bell\x07", "\u202eright to left", "(all)", "(none)", "x" * 400,
]  # fmt: skip


def hostile_lines() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    for i, name in enumerate(NAMES):
        same = {"request": f"{name}-{i}", "side": "client", "clock": SCRIPT, "tenant": name, "load_point": SCRIPT}
        for event, ms, more in (
            ("sent", 0, {}),
            ("first_content", 10 + i, {}),
            ("done", 30, {"outcome": "error" if name.startswith(("it's", "=")) else "ok"}),
        ):
            found.append({**same, "event": event, "ns": str(BASE_NS + ms * 1_000_000), **more})
    return found


def test_nothing_of_a_trace_becomes_markup(tmp_path: Path) -> None:
    promise = slo("ttft", 50, name='"><b>' + SCRIPT)
    built = of_run(store(tmp_path, hostile_lines(), slo=[promise]), tmp_path)
    page = Page(built.html)
    assert [e.attributes.get("type") for e in page.all("script")] == ["application/json", None]
    assert page.all("img") == []
    assert not any(name.startswith("on") for e in page.elements for name in e.attributes)
    tenants = [line[0][1] for line in page.tables["table-outcomes"][1:]]
    for name in ("=HYPERLINK(1)", "{{ 7*7 }}{% raw %}", SCRIPT, "x" * 400):
        assert f"tenant {name}" in tenants
    assert "\x00" not in built.html
    assert "\x07" not in built.html
    json.loads(report.to_json(built.summary))
    buttons = [e.attributes["data-sql"] for e in page.all("button") if e.attributes["data-copy"] == "sql"]
    assert any("it''s; DROP TABLE attempt --" in sql for sql in buttons)


def test_data_in_a_script_element_cannot_end_it() -> None:
    text = in_script({"text": f"{SCRIPT}<!--&\u2028\u2029"})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"text": f"{SCRIPT}<!--&\u2028\u2029"}


def test_control_characters_are_shown_as_what_they_are_not() -> None:
    assert visible("a\x00b\x1bc\x85d\te\nf\u202eg") == "a\ufffdb\ufffdc\ufffdd\te\nf\ufffdg"
    assert visible(3) == 3


def test_a_quote_stays_inside_its_literal() -> None:
    assert literal("o'x''y") == "'o''x''''y'"


def test_stored_paths_are_shown_as_the_manifest_writes_them() -> None:
    labels = {"/data/a.jsonl": "a.jsonl", "/data/a.jsonl.gz": "raw/a.jsonl.gz", "b.jsonl": "../b.jsonl"}
    assert relabelled("/data/a.jsonl.gz", labels) == "raw/a.jsonl.gz"
    assert relabelled("same bytes as /data/a.jsonl: none taken", labels) == "same bytes as a.jsonl: none taken"
    assert relabelled("/other/data/a.jsonl", labels) == "/other/data/a.jsonl"
    assert relabelled("b.jsonl", labels) == "../b.jsonl"


def test_the_page_names_no_place_of_the_machine(tmp_path: Path) -> None:
    (tmp_path / "torn").mkdir()
    made = store(tmp_path, hostile_lines()[:3])
    path = made.fetch("SELECT path FROM source_file")[0]["path"]
    assert str(tmp_path) in path
    built = of_run(made, tmp_path)
    assert str(tmp_path) not in built.html
    assert str(tmp_path) not in report.to_json(built.summary)
    assert "events.jsonl" in [line[0][0] for line in Page(built.html).tables["table-files"]]
