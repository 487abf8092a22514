"""One module per format, all through the same entry-point door."""

from analyzer.sources.base import HEAD_BYTES, Columns, Frame, Frames, Options, Source
from analyzer.sources.mapped import Mapped, draft
from analyzer.sources.registry import explain, known, named, recognise

__all__ = [
    "HEAD_BYTES",
    "Columns",
    "Frame",
    "Frames",
    "Mapped",
    "Options",
    "Source",
    "draft",
    "explain",
    "known",
    "named",
    "recognise",
]
