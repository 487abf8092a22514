"""Bytes of a file, read once in pieces: how many, and their SHA-256."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from analyzer.errors import SourceError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_PIECE = 2**20


@dataclass(frozen=True, slots=True)
class Digest:
    """What was read. `first_sha256` covers the first `first` bytes asked for; None if there are fewer."""

    bytes: int
    sha256: str
    first_sha256: str | None = None


def hash_file(path: Path, progress: Callable[[int], None] | None = None, *, first: int | None = None) -> Digest:
    """Hash a regular file; `progress` hears how many bytes are done. SourceError if it cannot be read."""
    try:
        # Opening a pipe would wait for a writer for ever; what is no regular file is never opened.
        if not stat.S_ISREG(path.stat().st_mode):
            raise SourceError(f"{path} is not a regular file", "name the files themselves")
        with path.open("rb", buffering=0) as file:
            return _digest(file, progress or _deaf, first)
    except OSError as fault:
        raise SourceError(f"{path} cannot be read: {fault.strerror or fault}") from None


def is_regular(path: Path) -> bool:
    """Whether a path, links followed, is a regular file."""
    try:
        return stat.S_ISREG(os.stat(path).st_mode)  # noqa: PTH116 (Path.is_file raises on names that are too long)
    except OSError:
        return False


def _digest(file: BinaryIO, progress: Callable[[int], None], first: int | None) -> Digest:
    whole, begun, done = hashlib.sha256(), None, 0
    piece = memoryview(bytearray(_PIECE))
    if first == 0:
        begun = whole.hexdigest()
    while count := file.readinto(piece):  # type: ignore[attr-defined]
        cut = None if first is None else first - done
        if cut is not None and 0 < cut <= count:
            whole.update(piece[:cut])
            begun = whole.hexdigest()
            whole.update(piece[cut:count])
        else:
            whole.update(piece[:count])
        done += count
        progress(done)
    return Digest(done, whole.hexdigest(), begun)


def _deaf(_done: int) -> None:
    pass
