"""Rule files of a user's own, read before a store is touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.errors import UsageFault
from analyzer.store import rules

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BYTES = 1_000_000


def read(paths: Sequence[str]) -> list[tuple[str, str]]:
    """Name and text of each file. UsageFault when one cannot be read or is no file of rules."""
    found = []
    for given in paths:
        path = Path(given)
        try:
            raw = path.read_bytes()
        except OSError as fault:
            raise UsageFault(
                f"{given} cannot be read: {fault.strerror}", "name a file of rules with --rules"
            ) from fault
        if len(raw) > _MOST_BYTES:
            raise UsageFault(f"{given} is larger than any file of rules", "docs/rules.md says what it holds")
        try:
            text = raw.decode()
        except UnicodeDecodeError as fault:
            raise UsageFault(f"{given} is no UTF-8 text", "docs/rules.md says what a rule file holds") from fault
        rules.parse(text, path.name)
        found.append((path.name, text))
    return found
