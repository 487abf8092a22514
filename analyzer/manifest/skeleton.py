"""A manifest to start from: what the data shows is filled in, the rest says that it is not known."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from analyzer import resources
from analyzer.errors import ManifestError
from analyzer.manifest.model import LAYERS, SCHEMA, VERSION, check, is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

UNKNOWN = {"unknown": "not in the data; fill in or say why it cannot be known"}
_REASON = {"$ref": "#/$defs/unknown"}
_DEFAULTS: dict[str, object] = {
    "name": "run",
    "measurement.percentiles": [0.5, 0.9, 0.95, 0.99],
    "measurement.method": "nearest_rank",
    "measurement.failure_rules.client_cancel": "interval",
    "measurement.length_bins": {"input_tokens": [512], "output_tokens": [128]},
    "measurement.slo": [],
    "artifact.raw": [],
}


def skeleton(facts: Mapping[str, object]) -> dict[str, Any]:
    """Return a document that is a valid manifest; `facts` are values by dotted path, such as model.id.

    ManifestError where a fact is no field or not of its kind.
    """
    schema = json.loads(resources.text("schemas", SCHEMA))
    document: dict[str, Any] = {"manifest": VERSION, "name": "run", "why": dict(UNKNOWN)}
    for layer in (*LAYERS, "artifact"):
        document[layer] = _blank(schema["properties"][layer])
    for field, value in {**_DEFAULTS, **facts}.items():
        _put(document, field, copy.deepcopy(value))
    check(document, "new manifest")
    return document


def _blank(schema: dict[str, Any]) -> dict[str, Any]:
    """Spell out every field that may be unknown; groups of such fields are opened so that all are seen."""
    blank: dict[str, Any] = {}
    for key, field in schema.get("properties", {}).items():
        choices = field.get("anyOf", [])
        if _REASON in choices:
            groups = [choice for choice in choices if _is_group(choice)]
            blank[key] = _blank(groups[0]) if groups else dict(UNKNOWN)
    return blank


def _is_group(schema: dict[str, Any]) -> bool:
    fields = schema.get("properties", {}).values()
    closed = schema.get("additionalProperties") is False
    return closed and bool(fields) and all(_REASON in field.get("anyOf", []) for field in fields)


def _put(document: dict[str, Any], field: str, value: object) -> None:
    *groups, last = field.split(".")
    holder = document
    for group in groups:
        inner = holder.get(group)
        if inner is None or is_unknown(inner):
            inner = holder[group] = {}
        if not isinstance(inner, dict):
            raise ManifestError(f"new manifest: {field} is not a field, because {group} holds no fields")
        holder = inner
    holder[last] = value
