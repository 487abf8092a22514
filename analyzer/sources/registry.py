"""Which sources are installed, and which of them knows a file."""

from __future__ import annotations

import difflib
from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, cast

from analyzer.errors import SourceError, UsageFault
from analyzer.sources.base import HEAD_BYTES, Source
from analyzer.sources.opening import head

if TYPE_CHECKING:
    from pathlib import Path


@cache
def known() -> dict[str, Source]:
    """Every installed source by name. SourceError when one does not load."""
    found: dict[str, Source] = {}
    for point in sorted(entry_points(group="analyzer.sources"), key=lambda p: p.name):
        try:
            found[point.name] = cast("Source", point.load())
        except Exception as fault:  # a foreign package may fail in any way
            raise SourceError(
                f"source {point.name} ({point.value}) does not load: {fault}", "mend or uninstall it"
            ) from fault
    return found


def named(name: str) -> Source:
    """The source of this name. UsageFault lists those that are installed."""
    try:
        return known()[name]
    except KeyError:
        near = difflib.get_close_matches(name, known(), 1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise UsageFault(f"there is no source {name}", f"{meant}installed: {', '.join(known())}") from None


def explain(path: Path) -> str | None:
    """Why no source knows a file, from one that knows its kin; the rest of a sentence about the file."""
    start = head(path, HEAD_BYTES)
    for source in known().values():
        explanation = getattr(source, "explain", None)
        if explanation and (said := explanation(start, path)):
            return str(said)
    return None


def recognise(path: Path) -> Source | None:
    """The one source that knows this file, None when none does. SourceError when two do, or it cannot be read."""
    start = head(path, HEAD_BYTES)
    knowing = [source for source in known().values() if source.sniff(start, path)]
    if len(knowing) > 1:
        names = " and ".join(source.name for source in knowing)
        raise SourceError(f"{path} could be read by {names}", "say which with --source")
    return knowing[0] if knowing else None
