"""Strict JSON from a file: no doubled keys, no numbers that other readers would round, no tracebacks."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any, NoReturn

from analyzer.errors import ManifestError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# A manifest is written by hand; what is larger is data that was named by mistake.
MOST_BYTES = 16 * 2**20
MOST_DEPTH = 40
MOST_DIGITS = 400
# RFC 8785 hashes numbers as IEEE doubles, which hold whole numbers exactly up to here.
MOST_EXACT = 2**53 - 1


def read(path: Path) -> dict[str, Any]:
    """Read the JSON object in a file. ManifestError names line and column of what is wrong."""
    if os.path.isdir(path):  # noqa: PTH112 (Path.is_dir raises on names that are too long)
        inner = path / "run.json"
        hint = f"did you mean {inner}?" if inner.is_file() else "name the run.json of the run"
        raise ManifestError(f"{path} is a folder, and a manifest is a file", hint)
    document = parse(_text(path), str(path))
    if not isinstance(document, dict):
        raise ManifestError(f"{path} is JSON but no run manifest: it holds {_kind(document)}, not an object")
    return document


def parse(text: str, where: str) -> Any:
    """Read the value of a JSON text. ManifestError where it is torn, doubled or not JSON."""
    try:
        return json.loads(text, object_pairs_hook=_once, parse_int=_whole, parse_constant=_no_constant)
    except json.JSONDecodeError as fault:
        place = f"line {fault.lineno}, column {fault.colno}"
        torn = fault.pos >= len(text.rstrip()) or fault.msg.startswith("Unterminated")
        hint = "it looks cut off; restore it whole" if torn else "mend it there"
        raise ManifestError(f"{where} is not JSON: {place}: {fault.msg.removesuffix(' starting at')}", hint) from None
    except RecursionError:
        raise ManifestError(f"{where} is nested too deep to be a manifest") from None
    except ValueError as fault:
        raise ManifestError(f"{where}: {fault}") from None


def inexact(document: dict[str, Any]) -> list[str]:
    """Say which values cannot be hashed alike everywhere: rounded numbers, broken text, depth."""
    return [sentence for where, value, depth in _walk(document) if (sentence := _fault(where, value, depth))]


def _fault(where: str, value: Any, depth: int) -> str | None:
    if depth > MOST_DEPTH:
        return f"{where[:60]}… is nested deeper than {MOST_DEPTH} levels"
    if isinstance(value, int) and abs(value) > MOST_EXACT:
        return f'{where} is {str(value)[:40]}, which JSON readers round; write it as text, in ""'
    if isinstance(value, float) and not math.isfinite(value):
        return f"{where} is beyond what a number holds"
    if isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
        return f"{where} holds half a character (a lone surrogate)"
    return None


def _walk(document: dict[str, Any]) -> Iterator[tuple[str, Any, int]]:
    # By a stack of its own, so that no depth can exhaust Python's.
    stack: list[tuple[str, Any, int]] = [("", document, 0)]
    while stack:
        where, value, depth = stack.pop()
        yield where, value, depth
        if depth > MOST_DEPTH:
            continue
        if isinstance(value, dict):
            for key, inner in value.items():
                stack.append((f"{where}.{key}" if where else key, inner, depth + 1))
                stack.append((f"a key in {where or 'the top'}", key, 0))
        elif isinstance(value, list):
            stack.extend((f"{where}[{i}]", inner, depth + 1) for i, inner in enumerate(value))


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise ManifestError(f"{path} does not exist", "`analyze manifest new` writes a manifest") from None
    except (OSError, ValueError) as fault:
        raise ManifestError(f"{path} cannot be read: {getattr(fault, 'strerror', None) or fault}") from None
    if len(content) > MOST_BYTES:
        raise ManifestError(f"{path} is larger than {MOST_BYTES >> 20} MiB, so it is no manifest")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise ManifestError(f"{path} is not UTF-8 text: byte {fault.start} is not", "save it as UTF-8") from None
    if not text.strip():
        raise ManifestError(f"{path} is empty", "`analyze manifest new` writes a manifest")
    return text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        doubled = next(key for key in keys if keys.count(key) > 1)
        others = ", ".join(key for key in found if key != doubled)
        beside = f" (beside {others[:60]})" if others else ""
        raise ValueError(f'the key "{doubled[:60]}" stands twice in one object{beside}; keep one')
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is beyond what JSON readers hold; write it as text")
    return int(digits)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f'{name} is no JSON number; say {{"unknown": "why"}} where a value is not known')


def _kind(value: object) -> str:
    return "a list" if isinstance(value, list) else "a single value"
