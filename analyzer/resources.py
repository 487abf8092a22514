"""Where schemas, queries and templates live: inside an installed package, else in the checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def folder(name: str) -> Path:
    """Folder `name` (schemas, queries or templates) of this installation."""
    packed = _PACKAGE / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


def text(name: str, *parts: str) -> str:
    """The text of one data file."""
    return folder(name).joinpath(*parts).read_text(encoding="utf-8")
