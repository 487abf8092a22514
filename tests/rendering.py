"""Reports of small runs, and a page taken apart by the standard library's parser."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

from analyzer import manifest, report

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.manifest import Manifest
    from analyzer.store import Store

# plotly.js as the page carries it: two megabytes that no test reads.
PACKED = re.compile(r'<script type="text/plain" id="plotly-gzip">[^<]*</script>')
_VOID = {"meta", "br", "link", "img", "input", "hr"}


def facts(declared: Manifest, labels: dict[str, str] | None = None, **changes: Any) -> report.ReportFacts:
    """What a caller knows of a manifest; raw files are stored under their own path unless `labels` say otherwise."""
    known: dict[str, Any] = {
        "run": declared.name,
        "manifest": declared.document,
        "run_id": declared.run_id,
        "status": "verified",
        "status_note": "every raw file is the one that was sealed",
        "post_hoc": [],
        "unknowns": declared.unknowns(),
        "analyzer_version": "1.2.3",
        "raw_files": [(raw.given, raw.bytes, raw.sha256, raw.rows) for raw in declared.raw_files()],
        "labels": labels if labels is not None else {str(raw.path): raw.given for raw in declared.raw_files()},
    }
    return report.ReportFacts(**{**known, **changes})


def of_run(made: Store, folder: Path, **changes: Any) -> report.Report:
    """The report of run `r` that `building.store` made in this folder."""
    return report.build(made, facts(manifest.load(folder / "r.json"), **changes))


@dataclass(slots=True)
class Element:
    """One element: its tag, attributes, and all the text inside."""

    tag: str
    attributes: dict[str, str]
    text: str = ""
    above: tuple[str, ...] = ()


@dataclass
class Page(HTMLParser):
    """Every element of a page in the order in which it opens; `tables` maps an id to rows of (text, full value)."""

    html: str
    elements: list[Element] = field(default_factory=list)
    tables: dict[str, list[list[tuple[str, str]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()
        self._open: list[Element] = []
        self._table: list[list[tuple[str, str]]] = []
        self.feed(PACKED.sub("", self.html))
        assert self._open == [], f"left open: {[element.tag for element in self._open]}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs}, above=tuple(e.tag for e in self._open))
        self.elements.append(element)
        if tag == "figure" and element.attributes.get("class") == "table":
            self._table = self.tables.setdefault(element.attributes["id"], [])
        if tag == "tr":
            self._table.append([])
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(Element(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        element = self._open.pop()
        assert element.tag == tag, f"{tag} closes {element.tag}"
        if tag in ("td", "th"):
            text = element.text.strip()
            self._table[-1].append((text, element.attributes.get("data-v", text)))

    def handle_data(self, data: str) -> None:
        if any(element.tag == "small" for element in self._open):
            return
        for element in self._open:
            element.text += data

    def all(self, tag: str) -> list[Element]:
        """Elements of one kind."""
        return [element for element in self.elements if element.tag == tag]

    def headings(self) -> dict[str, str]:
        """Heading of each section by the section's id, spaces as they are typed."""
        return {e.attributes["id"].removesuffix("-heading"): e.text.replace("\xa0", " ") for e in self.all("h2")}
