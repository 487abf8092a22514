"""Where a raw path of a manifest leads; a manifest from elsewhere must not reach outside its folder."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath


def inside(folder: Path, given: str) -> Path:
    """Find the real path of `given` below `folder` (itself a real path).

    ValueError carries the rest of the sentence "<given> …" where it is absolute or leads out, be it by
    `..` or by a link. Paths of every system are judged on every system: a manifest travels.
    """
    if any(not character.isprintable() for character in given):
        raise ValueError("holds a control character")
    if PurePosixPath(given).is_absolute() or PureWindowsPath(given).is_absolute() or given.startswith("\\"):
        raise ValueError("is absolute; write it relative to the manifest")
    if _climbs_out(given):
        raise ValueError("leads out of the manifest's folder; put the file beside the manifest")
    target = Path(os.path.realpath(folder / given))
    if not target.is_relative_to(folder):
        raise ValueError("leads out of the manifest's folder by a link; put the file itself beside the manifest")
    if target == folder:
        raise ValueError("is the manifest's own folder; list its files")
    return target


def _climbs_out(given: str) -> bool:
    depth = 0
    for part in given.replace("\\", "/").split("/"):
        depth += {"": 0, ".": 0, "..": -1}.get(part, 1)
        if depth < 0:
            return True
    return False
