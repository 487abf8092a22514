"""From paths to rows: find files, let the source that knows each read it, keep a ledger."""

from analyzer.ingest.finding import Found, find
from analyzer.ingest.reading import FileOutcome, apply_defaults, apply_manifest, file_sha256, ingest_files

__all__ = ["FileOutcome", "Found", "apply_defaults", "apply_manifest", "file_sha256", "find", "ingest_files"]
