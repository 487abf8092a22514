"""What a source is: it knows a file by its first bytes and turns it into rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pyarrow as pa

HEAD_BYTES = 65_536
MEGABYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is to be read. `label` is its path as the user gave it; rows carry it as their source_file."""

    label: str
    run_forced: str | None = None
    run_default: str = "default"
    keep_content: bool = False
    drop: tuple[str, ...] = ()
    """Names of attributes, or globs of such, that are left out besides those of content."""
    max_line_bytes: int = 64 * MEGABYTE
    max_document_bytes: int = 256 * MEGABYTE
    """The most that is held in memory at once of a document, or of the part of it that is read by itself."""
    max_depth: int = 256
    line_rest: bytes = b""
    """What ends the file's last line, when a rotation has cut it: the first line of the next file."""
    begins_inside_line: bool = False
    """Whether the first line is such a rest, and was read with the file before."""
    careful: bool = False
    """Read record by record, even where whole columns could be read at once."""

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
class Columns:
    """Records that are read as whole columns, by SQL over `rows` (as `input`), and what becomes of those that cannot.

    `stage` is kept as the table `staged`. `judge` is given the rows of `shapes`, a SELECT over it, and its answer is
    the table `judged`. With both, `select` gives rows for the base table, `counts` what is to be said of them in one
    row, and `left` what they do not stand for; `take` is given the latter two.
    """

    table: str
    rows: pa.Table
    stage: str
    shapes: str
    judge: Callable[[pa.Table], pa.Table]
    select: str
    counts: str
    left: str
    take: Callable[[dict[str, int], pa.Table], None]


@dataclass(frozen=True, slots=True)
class Frames:
    """One piece of a file: frames, how many records they stand for, how many bytes of the file are behind them.

    `set_aside` of the records are of a kind that has no table; `dropped` attributes of the others were left out.
    Records of `Columns` are counted with a later piece, once it is known which could be taken.
    """

    frames: tuple[Frame | Columns, ...] = ()
    records: int = 0
    set_aside: int = 0
    dropped: int = 0
    bytes_read: int = 0
    tool: str | None = None
    notes: tuple[str, ...] = field(default=())


class Source(Protocol):
    """A reader of one format. Registered under the entry-point group `analyzer.sources`.

    A source may also have `explain(head, path) -> str | None`: why a file that looks like its own is not, as the rest
    of a sentence about the file. With `joins_lines = True` it minds `line_rest` and `begins_inside_line`. What it gives
    of a file may hang on more than the file: `reading` says on what, and the file is read again when that changes.
    """

    name: str

    def sniff(self, head: bytes, path: Path) -> bool:
        """Whether the (decompressed) first bytes are of this format. Content decides, not the name."""

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """The file's rows, piece by piece. A record that cannot be taken becomes a row of `refused`, never nothing.

        Raises SourceError when the file as a whole cannot be what it looked like.
        """
