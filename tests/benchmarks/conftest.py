"""One small file of traffic in each form, and a store of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import traffic

from analyzer import ingest
from analyzer.store import Store

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SEED, SPANS = 1, 6_000  # as in the tests


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], traffic.Written]:
    """Give the file of a form."""
    folder = tmp_path_factory.mktemp("traffic")
    made: dict[str, traffic.Written] = {}

    def one(form: str) -> traffic.Written:
        if form not in made:
            made[form] = traffic.write(folder, form, seed=SEED, least_spans=SPANS)
        return made[form]

    return one


@pytest.fixture(scope="session")
def stored(
    written: Callable[[str], traffic.Written], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Give the path of a derived store of a form's file."""
    folder = tmp_path_factory.mktemp("stores")

    def one(form: str) -> Path:
        path = folder / f"{form}.duckdb"
        if not path.exists():
            with Store(path, create=True) as store:
                ingest.ingest_files(store, ingest.find([str(written(form).path)])[0])
                ingest.apply_defaults(store)
                store.derive()
        return path

    return one
