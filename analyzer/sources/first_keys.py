"""What the first bytes of a JSON file show of its first object: sources know their files by it."""

from __future__ import annotations

import re

_TOKEN = re.compile(rb'"([^"\\]*+(?:\\.[^"\\]*+)*+)"(\s*:)?|[{}\[\]]', re.DOTALL)
_LIST = re.compile(rb"[\s\x00]*\[\s*\{")
_OBJECT = re.compile(rb"[\s\x00]*\{")


def of_list(head: bytes) -> frozenset[str]:
    """The keys of the first object of a list of such, as far as they are shown; none where the file is no such list."""
    return _keys(head) if _LIST.match(head) else frozenset()


def of_object(head: bytes) -> frozenset[str]:
    """The keys of the object that the file is, as far as they are shown; none where it is anything else."""
    return _keys(head) if _OBJECT.match(head) else frozenset()


def _keys(head: bytes) -> frozenset[str]:
    keys = set()
    depth = inside = 0
    for token in _TOKEN.finditer(head):
        bracket = token[0]
        if bracket in (b"{", b"["):
            depth += 1
            inside = inside or (depth if bracket == b"{" else 0)
        elif bracket in (b"}", b"]"):
            depth -= 1
            if depth < inside:
                break
        elif token[2] and depth == inside:
            keys.add(token[1].decode("utf-8", "replace"))
    return frozenset(keys)
