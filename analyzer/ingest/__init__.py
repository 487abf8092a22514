"""From paths to rows: find files, let the source that knows each read it, keep a ledger."""

from analyzer.ingest.finding import Found, find
from analyzer.ingest.reading import (
    FileOutcome,
    How,
    Limits,
    apply_defaults,
    apply_manifest,
    file_sha256,
    ingest_files,
)

__all__ = [
    "FileOutcome",
    "Found",
    "How",
    "Limits",
    "apply_defaults",
    "apply_manifest",
    "file_sha256",
    "find",
    "ingest_files",
]
