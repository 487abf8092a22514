"""The store: one DuckDB file of base tables, derived tables, views and their comments."""

from analyzer.store.append import Append, FileRecord, copy_note
from analyzer.store.engine import Store

__all__ = ["Append", "FileRecord", "Store", "copy_note"]
