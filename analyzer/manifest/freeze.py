"""The two identities of a run: its contract, and its contract together with its raw bytes."""

from __future__ import annotations

import copy
import hashlib
from datetime import UTC
from typing import TYPE_CHECKING, Any

import rfc8785

from analyzer.errors import DriftError, UsageFault
from analyzer.manifest.model import LAYERS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from analyzer.manifest.model import Manifest


def contract_sha256(document: Mapping[str, Any]) -> str:
    """SHA-256 over RFC 8785 of the five layers; neither key order nor spacing changes it."""
    return _sha256({layer: document[layer] for layer in LAYERS})


def run_id(document: Mapping[str, Any]) -> str:
    """16 hex digits over contract_sha256 and path, bytes and sha256 of each raw file of a sealed document."""
    artifact = document["artifact"]
    raw = [{key: entry[key] for key in ("path", "bytes", "sha256")} for entry in artifact["raw"]]
    raw.sort(key=lambda entry: str(entry["path"]))
    return _sha256({"contract_sha256": artifact["contract_sha256"], "raw": raw})[:16]


def freeze(manifest: Manifest, *, now: datetime, post_hoc: str | None = None) -> dict[str, Any]:
    """Return a new document that carries its contract_sha256.

    DriftError where it is frozen already with another contract, unless `post_hoc` says why it changed; the
    change is then recorded in artifact.post_hoc at `now` (with a zone). A sealed run takes the run_id of its
    new contract.
    """
    document = copy.deepcopy(manifest.document)
    artifact = document["artifact"]
    before, after = artifact.get("contract_sha256"), contract_sha256(document)
    if before in {None, after}:
        if post_hoc is not None:
            raise UsageFault(
                f"{manifest.path}: the contract has not changed since it was frozen",
                "leave the post-hoc reason out",
            )
        artifact["contract_sha256"] = after
        return document
    if post_hoc is None:
        raise DriftError(
            f"{manifest.path}: the contract has changed since frozen ({before[:12]}, now {after[:12]})",
            'put it back, or say why with --post-hoc "WHY", which every report will print',
        )
    if not post_hoc.strip():
        raise UsageFault(f"{manifest.path}: the post-hoc reason is empty", "say in a sentence why it changed")
    record = {"why": post_hoc, "when": utc_seconds(now), "contract_before": before, "contract_after": after}
    artifact["post_hoc"] = [*artifact.get("post_hoc", ()), record]
    artifact["contract_sha256"] = after
    if manifest.is_sealed:
        artifact["run_id"] = run_id(document)
    return document


def utc_seconds(now: datetime) -> str:
    """Write an instant with a zone as UTC ISO time in whole seconds."""
    if now.tzinfo is None:
        raise ValueError("an instant needs a zone")
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _sha256(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()
