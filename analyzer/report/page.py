"""From sections to one HTML file that needs nothing else."""

from __future__ import annotations

import base64
import gzip
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from analyzer import resources

if TYPE_CHECKING:
    from jinja2 import Environment

    from analyzer.report.facts import ReportFacts
    from analyzer.report.section import Section

# Control characters have no shape of their own, or turn the text around them: shown as a replacement character.
_CONTROL = (*range(9), 11, 12, *range(14, 32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_INVISIBLE = dict.fromkeys(_CONTROL, "\N{REPLACEMENT CHARACTER}")
_UNIT = re.compile(r"(\d) (%|m?s\b)")
_IN_SCRIPT = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def render(sections: tuple[Section, ...], facts: ReportFacts, verdict: str | None) -> str:
    """The page. The same sections and facts give the same bytes."""
    figures = [figure for section in sections for figure in section.figures]
    specs = {figure.id: figure.spec for figure in figures}
    page = _environment().get_template("report.html.j2")
    text = page.render(
        sections=sections,
        facts=facts,
        verdict=verdict,
        style=Markup(resources.text("templates", "style.css")),  # noqa: S704 (ours)
        script=Markup(resources.text("templates", "script.js")),  # noqa: S704 (ours)
        specs=in_script(specs),
        plotly=_plotly() if figures else "",
    )
    return text.rstrip("\n") + "\n"


def in_script(value: Any) -> Markup:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(value, sort_keys=True, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return Markup(text.translate(_IN_SCRIPT))  # noqa: S704 (escaped on this line)


def tied(text: str) -> str:
    """Prose in which a number stays on the line of its unit."""
    return _UNIT.sub("\\1\N{NO-BREAK SPACE}\\2", text)


def visible(value: Any) -> Any:
    """What a template prints: text without control characters."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return value.translate(_INVISIBLE)
    return value


@cache
def _plotly() -> str:
    """plotly.js, gzipped and in base64: the same bytes each time."""
    from plotly.offline import get_plotlyjs

    packed = bytearray(gzip.compress(get_plotlyjs().encode(), mtime=0))
    packed[9] = 255  # the operating system in the header, which Python versions fill differently
    return base64.b64encode(packed).decode()


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    made = Environment(
        loader=FileSystemLoader(resources.folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["tied"] = tied
    return made
