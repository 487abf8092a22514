"""`analyze sources`: what can be read."""

from __future__ import annotations

from analyzer import sources as installed


def sources() -> list[tuple[str, str]]:
    """Name and description of every installed source."""
    return [(name, _described(source)) for name, source in installed.known().items()]


def _described(source: installed.Source) -> str:
    module = __import__(type(source).__module__, fromlist=["__doc__"])
    return (module.__doc__ or "").strip().splitlines()[0].rstrip(".") if module.__doc__ else ""
