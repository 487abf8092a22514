"""The crosswalk is what the views say."""

from __future__ import annotations

from pathlib import Path

from analyzer.jobs.crosswalk import crosswalk

CHECKOUT = Path(__file__).parents[2]


def test_the_crosswalk_is_made_from_the_views_as_they_are() -> None:
    assert (CHECKOUT / "docs" / "crosswalk.md").read_text(encoding="utf-8") == crosswalk()
