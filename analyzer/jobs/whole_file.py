"""A file that is there whole or not at all."""

from __future__ import annotations

import os
import secrets
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from analyzer.errors import UsageFault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def check(path: Path, option: str) -> None:
    """UsageFault when no file can be put there."""
    if path.is_dir():
        raise UsageFault(f"{path} is a directory", f"name a file with {option}")
    if path.exists() and not path.is_file():
        raise UsageFault(f"{path} is no regular file", f"name another {option}")
    if not path.parent.is_dir():
        raise UsageFault(f"{path.parent} does not exist", f"make the folder first, or name another {option}")


@contextmanager
def replacing(path: Path, option: str) -> Iterator[IO[bytes]]:
    """A stream whose bytes take the place of the file once all are written; whatever stops it leaves what was there."""
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(path)
    except OSError as fault:
        raise UsageFault(f"{path} cannot be written: {fault.strerror}", f"name another {option}") from fault
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
