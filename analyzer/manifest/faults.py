"""Faults of a document against a schema, as sentences: the field, what was found, what is allowed."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from analyzer import resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHOWN = 5
_LONGEST = 60
UNKNOWN = "#/$defs/unknown"
_TYPES = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
}
_COUNTS = {"minItems": "at least", "maxItems": "at most"}


@dataclass(frozen=True, slots=True)
class _Fault:
    where: str
    sentence: str
    is_strange: bool = False
    """Whether the document has a field here that the schema has not."""
    stands_for: str = ""
    """The field that a strange one was meant to be."""


def of(document: object, schema: str) -> list[str]:
    """Say every fault of `document` against schemas/`schema`, misspelt fields first."""
    found = list(dict.fromkeys(_read(_validator(schema).iter_errors(document), _schema(schema))))
    meant = {fault.stands_for for fault in found if fault.stands_for}
    # A field that is there under a misspelt name is one fault, not two.
    found = [fault for fault in found if fault.where not in meant]
    return [fault.sentence for fault in sorted(found, key=lambda fault: not fault.is_strange)]


def summed_up(sentences: list[str]) -> str:
    """Join the first few sentences, and say how many there are beyond them."""
    text = "; ".join(sentences[:SHOWN])
    rest = len(sentences) - SHOWN
    return f"{text}; and {rest} more fault{'s' if rest > 1 else ''}" if rest > 0 else text


def shown(value: object) -> str:
    """Write a value as JSON, short enough for a sentence."""
    return _short(json.dumps(value, ensure_ascii=False))


@lru_cache
def _schema(name: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(resources.text("schemas", name))
    return schema


@lru_cache
def _validator(name: str) -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_schema(name))


def _read(errors: Iterable[Any], schema: dict[str, Any]) -> Iterator[_Fault]:
    for error in errors:
        if error.validator == "anyOf":
            yield from _any_of(error, schema)
        elif error.validator == "additionalProperties":
            yield from _strange_keys(error)
        elif error.validator == "required":
            yield from _missing_keys(error)
        else:
            where = _path(error)
            yield _Fault(where, f"{where or 'it'} {_complaint(error)}")


def _any_of(error: Any, schema: dict[str, Any]) -> Iterator[_Fault]:
    """Follow the one branch that the value was meant for; name all where there is no such branch."""
    branches = [_resolved(branch, schema) for branch in error.validator_value]
    by_branch: dict[int, list[Any]] = {}
    for inner in error.context:
        by_branch.setdefault(inner.schema_path[0], []).append(inner)
    is_reason = [branch.get("$ref") == UNKNOWN for branch in error.validator_value]
    says_unknown = isinstance(error.instance, dict) and "unknown" in error.instance
    meant = [
        i
        for i, inner in by_branch.items()
        if (is_reason[i] if says_unknown else not is_reason[i] and not any(map(_is_of_another_kind, inner)))
    ]
    if len(meant) == 1:
        yield from _read(by_branch[meant[0]], schema)
        return
    allowed = [
        '{"unknown": "why"}' if reason else _phrase(branch) for branch, reason in zip(branches, is_reason, strict=True)
    ]
    where = _path(error)
    yield _Fault(where, f"{where} is {shown(error.instance)}, expected {' or '.join(allowed)}")


def _is_of_another_kind(error: Any) -> bool:
    return not error.relative_path and error.validator in {"type", "const"}


def _strange_keys(error: Any) -> Iterator[_Fault]:
    where = _path(error)
    allowed = list(error.schema.get("properties", {}))
    for key in error.instance:
        if key in allowed:
            continue
        field = _join(where, _short(key))
        near = difflib.get_close_matches(key, allowed, n=1)
        if near:
            sentence = f"{field} is not a field; did you mean {near[0]}?"
            yield _Fault(field, sentence, is_strange=True, stands_for=_join(where, near[0]))
        else:
            yield _Fault(field, f"{field} is not a field; allowed are {', '.join(allowed)}", is_strange=True)


def _missing_keys(error: Any) -> Iterator[_Fault]:
    # The validator reports each missing key apart but does not name it; all are named, copies fall away.
    for key in error.validator_value:
        if key not in error.instance:
            field = _join(_path(error), key)
            choices = error.schema.get("properties", {}).get(key, {}).get("anyOf", ())
            remedy = ' (give it, or {"unknown": "why"})' if {"$ref": UNKNOWN} in choices else ""
            yield _Fault(field, f"{field} is missing{remedy}")


def _complaint(error: Any) -> str:
    rule, value, found = error.validator, error.validator_value, shown(error.instance)
    if rule in _LIMITS:
        return f"is {found}, must be {_LIMITS[rule]} {value}"
    if rule in _COUNTS:
        return f"has {len(error.instance)} entries, must have {_COUNTS[rule]} {value}"
    if rule in {"oneOf", "not", "type", "enum", "const", "pattern"}:
        return f"is {found}, expected {_phrase(error.schema)}{_did_you_mean(error)}"
    plain = {
        "maxLength": f"is longer than {value} characters",
        "uniqueItems": f"is {found}, with an entry twice",
    }
    return plain.get(rule, f"is not valid: {error.message}")


def _did_you_mean(error: Any) -> str:
    words = [word for word in error.schema.get("enum", ()) if isinstance(word, str)]
    near = difflib.get_close_matches(error.instance, words, n=1) if isinstance(error.instance, str) else []
    return f"; did you mean {near[0]}?" if near and len(words) > 1 else ""


def _phrase(schema: dict[str, Any]) -> str:
    """Say in words what a schema allows."""
    if "$comment" in schema:
        return str(schema["$comment"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if "enum" in schema:
        *most, last = (str(word) for word in schema["enum"])
        return f"{', '.join(most)} or {last}" if most else last
    types = schema.get("type", [])
    words = [_TYPES[name] for name in ([types] if isinstance(types, str) else types)]
    return " or ".join(words) or "another value"


def _resolved(branch: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in branch:
        return branch
    found: dict[str, Any] = schema["$defs"][branch["$ref"].removeprefix("#/$defs/")]
    return found


def _path(error: Any) -> str:
    path = ""
    for step in error.absolute_path:
        path = f"{path}[{step}]" if isinstance(step, int) else _join(path, step)
    return path


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
