"""What a source is: it knows a file by its first bytes and turns it into rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pyarrow as pa

HEAD_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is to be read. `label` is its path as the user gave it; rows carry it as their source_file."""

    label: str
    run_forced: str | None = None
    run_default: str = "default"
    keep_content: bool = False

    @property
    def run(self) -> str:
        """The run of rows that name none themselves."""
        return self.run_forced or self.run_default


@dataclass(frozen=True, slots=True)
class Frame:
    """Rows for one base table: Arrow columns under its names, or a SELECT over them (as `input`) that gives such."""

    table: str
    rows: pa.Table
    select: str = ""


@dataclass(frozen=True, slots=True)
class Frames:
    """One piece of a file: frames, how many records they stand for, how many bytes of the file are behind them."""

    frames: tuple[Frame, ...] = ()
    records: int = 0
    bytes_read: int = 0
    tool: str | None = None
    notes: tuple[str, ...] = field(default=())


class Source(Protocol):
    """A reader of one format. Registered under the entry-point group `analyzer.sources`."""

    name: str

    def sniff(self, head: bytes, path: Path) -> bool:
        """Whether the (decompressed) first bytes are of this format. Content decides, not the name."""

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """The file's rows, piece by piece. A record that cannot be taken becomes a row of `refused`, never nothing.

        Raises SourceError when the file as a whole cannot be what it looked like.
        """
