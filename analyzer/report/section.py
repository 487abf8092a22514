"""A section of the page as a value: what the template is given, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analyzer.report.table import Table


@dataclass(frozen=True, slots=True)
class Figure:
    """A Plotly figure over aggregates. `spec` is its JSON; colours in it are names of the style sheet's variables."""

    id: str
    label: str
    spec: Mapping[str, Any]
    height: int = 320


@dataclass(frozen=True, slots=True)
class Section:
    """One step of the argument. `heading` is a finding by a rule over rows, else the subject; the nav shows `title`.

    `template` draws what is not a table; `data` is what it is given. `empty` says why there is nothing to show.
    """

    id: str
    title: str
    heading: str
    sub: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    template: str = "plain"
    data: Mapping[str, Any] = field(default_factory=dict)
    empty: str = ""
    quiet: bool = False
