"""Stores of these tests go without the comments on columns, which take a third of the time to make one."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.store.derive.comment_columns", lambda _con: None)
