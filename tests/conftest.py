"""What every folder of tests may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Give the folder of shared data; a test that uses it carries the marker `shared`."""
    folder = Path(os.environ.get("ANALYZE_SHARED") or CHECKOUT.parent / "shared") / "data"
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder}: set ANALYZE_SHARED to the folder that holds data/")
    return folder
