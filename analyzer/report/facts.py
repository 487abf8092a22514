"""What a report is told beside the store: the manifest, and what the seal says of the raw files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Status = Literal["verified", "unsealed", "unverified"]


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """Facts of one report. Paths in it are shown as they stand, so they are relative to the manifest.

    raw_files: (path, bytes, sha256, rows) as sealed, None where unsealed. labels: path in the store -> path shown.
    unknowns: (field, why) of each value that the manifest declares unknown.
    """

    run: str
    manifest: dict[str, Any]
    run_id: str | None
    status: Status
    status_note: str
    post_hoc: list[dict[str, Any]]
    unknowns: list[tuple[str, str]]
    analyzer_version: str
    raw_files: list[tuple[str, int | None, str | None, int | None]]
    labels: dict[str, str]
