"""`analyze sql`: a user's query on a store that is up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable


Answers = list[tuple[list[str], list[tuple[Any, ...]]]]


def query(store_path: str, text: str, trace: Callable[[str], None] | None) -> Answers:
    """Column names and rows of each statement. QueryError when one does not run."""
    with Store(store_path, read_only=True, trace=trace) as store:
        if store.is_derived:
            return store.query(text)
    with Store(store_path, trace=trace) as store:
        ingest.apply_defaults(store)
        store.derive()
    with Store(store_path, read_only=True, trace=trace) as store:
        return store.query(text)
