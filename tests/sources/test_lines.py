"""Files as lines, whatever lengths those have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.sources.opening import lines

if TYPE_CHECKING:
    from pathlib import Path


def test_a_rest_that_is_longer_than_a_line_may_be_belongs_to_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "given"
    for after in (b"", b"\nwhole\n"):
        path.write_bytes(b"x" * 100 + after)
        blocks = list(lines(path, 10, begins_inside=True))
        assert [broken for block in blocks for broken in block.broken] == []
        assert [line for block in blocks for line in block.table["line"].to_pylist()] == after.decode().split()
