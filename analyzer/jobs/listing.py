"""`analyze sources`: what can be read, and a first mapping for what cannot yet."""

from __future__ import annotations

from pathlib import Path

from analyzer import sources as installed
from analyzer.errors import SourceError


def sources() -> list[tuple[str, str]]:
    """Name and description of every installed source, and of what a mapping reads."""
    listed = [(name, _described(source)) for name, source in installed.known().items()]
    return [*listed, ("--map FILE", _described(installed.Mapped))]


def suggestion(path: str) -> str:
    """A mapping for a file, drafted from its own columns. SourceError when it cannot be read."""
    if not Path(path).is_file():
        raise SourceError(f"{path} is not a regular file", "name a CSV, JSONL or Parquet file")
    return installed.draft(Path(path))


def _described(source: object) -> str:
    kind = source if isinstance(source, type) else type(source)
    module = __import__(kind.__module__, fromlist=["__doc__"])
    return (module.__doc__ or "").strip().splitlines()[0].rstrip(".") if module.__doc__ else ""
