"""The frozen run manifest: what was run, what was promised, and which bytes hold what happened."""

from __future__ import annotations

from analyzer.manifest.freeze import contract_sha256, freeze, run_id
from analyzer.manifest.hashing import Digest, hash_file
from analyzer.manifest.model import Manifest, RawFile, declared, load
from analyzer.manifest.seal import RawFacts, seal, write
from analyzer.manifest.settings import (
    ClockRelation,
    LengthBin,
    Settings,
    SloCondition,
    default_settings,
    settings,
)
from analyzer.manifest.skeleton import skeleton
from analyzer.manifest.times import to_ns
from analyzer.manifest.verify import Difference, verify

__all__ = [
    "ClockRelation",
    "Difference",
    "Digest",
    "LengthBin",
    "Manifest",
    "RawFacts",
    "RawFile",
    "Settings",
    "SloCondition",
    "contract_sha256",
    "declared",
    "default_settings",
    "freeze",
    "hash_file",
    "load",
    "run_id",
    "seal",
    "settings",
    "skeleton",
    "to_ns",
    "verify",
    "write",
]
