"""Any CSV, JSONL or Parquet file, read through a mapping of its columns (docs/mapping.md)."""

from analyzer.sources.mapped.draft import draft
from analyzer.sources.mapped.model import Column, Mapping
from analyzer.sources.mapped.source import Mapped

__all__ = ["Column", "Mapped", "Mapping", "draft"]
