"""A first mapping for a foreign file: what its columns surely are, and what they may be, as comments."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from analyzer.sources.mapped.cells import CSV
from analyzer.sources.mapped.guesses import guesses, seen_by, unit_of_moment
from analyzer.sources.mapped.model import TIMES
from analyzer.sources.mapped.profile import NOTHING, TEXT, look
from analyzer.vocabulary import ClockKind, Outcome, Phase, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.mapped.guesses import Guess, Seen
    from analyzer.sources.mapped.profile import Looked, Profile

_WANTED = {
    Side.CLIENT: ("sent", "first_content", "last_content", "done", "outcome", "output_tokens"),
    Side.GATEWAY: ("arrived", "done", "outcome"),
    Side.ENGINE: ("arrived", "admitted", "started", "first_token", "last_token", "done", "output_tokens"),
}
_LISTED = 40
_CHOICES: dict[str, tuple[str, ...]] = {"outcome": tuple(Outcome), "phase": tuple(Phase)}


def draft(path: Path) -> str:
    """The text of a mapping for a file. SourceError when it is neither CSV nor JSONL nor Parquet, or empty."""
    looked = look(path)
    columns = [column for column in looked.columns if _is_text(column.name)]
    seen = seen_by(columns)
    found = guesses(columns, seen)
    name = _plain(path.name)
    head = (
        f"# A mapping for {name}, drafted from its first {looked.records} records; docs/mapping.md explains it.\n"
        "# What is not certain stands behind a #: take that away where the line is right. Then\n"
        f"#   analyze ingest --map THIS_FILE.toml {name}\n"
    )
    parts = [head, *_source(path, looked, seen, found), "\n[columns]\n", *_columns(found)]
    return "".join([*parts, *_rest(looked, found, seen), *_values(found)])


def _is_text(name: str) -> bool:
    """Whether a name can be written at all: JSON and broken CSV may hold halves of characters."""
    return name.isprintable() or not any("\ud800" <= character <= "\udfff" for character in name)


def _plain(text: str) -> str:
    """Text for a comment: one line, nothing that moves a terminal."""
    return "".join(character if character.isprintable() else "?" for character in text)


def _text(text: str) -> str:
    """Text as TOML writes it."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in quoted)


def _value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else _text(value) if isinstance(value, str) else str(value)


def _source(path: Path, looked: Looked, seen: Seen, found: list[Guess]) -> Iterator[str]:
    yield "\n[source]\n"
    because = _plain(", ".join(seen.because))
    if seen.side:
        yield f"# {because}: only this side tells it\nside = {_text(seen.side)}\n"
    else:
        why = f"{because}: which of these sides tells it is not certain" if because else "no column tells who saw this"
        yield f"# {why}\n" + "".join(f"# side = {_text(side)}\n" for side in seen.sides)
    yield "# a name of your choice: times of two clocks are subtracted only if the manifest relates them\n"
    yield f"clock = {_text(path.name.partition('.')[0] or path.name)}\n"
    if not any(unit_of_moment(column) for column in looked.columns):
        told = any(guess.sure and guess.target in TIMES for guess in found)
        yield "# no column has times of day: what lasted counts from the start of each request\n"
        yield f"{'' if told else '# '}clock_kind = {_text(ClockKind.DURATION)}\n"
    yield f"format = {_text(looked.format)}\n"
    if looked.format == CSV and looked.delimiter != ",":
        yield f"delimiter = {_text(looked.delimiter)}\n"
    if any("source.zone" in guess.why for guess in found):
        yield '# in which zone the times without one are is not told\n# zone = "UTC"\n'


def _columns(found: list[Guess]) -> Iterator[str]:
    said = ""
    for guess in found:
        why = f"# {_plain(guess.column)}: {_plain(guess.why)}\n"
        if why != said:
            yield why
        said = why
        keys = {"column": guess.column, **guess.options}
        table = "{" + ", ".join(f"{key} = {_value(value)}" for key, value in keys.items()) + "}"
        line = f"{guess.target} = {table if guess.options else _text(guess.column)}\n"
        yield line if guess.sure else f"# {line}"


def _rest(looked: Looked, found: list[Guess], seen: Seen) -> Iterator[str]:
    """What is missing for the usual numbers, and the columns for which nothing was found."""
    sure = {guess.target for guess in found if guess.sure}
    wanted = dict.fromkeys(target for side in seen.sides for target in _WANTED[side])
    missing = [target for target in wanted if target not in sure]
    if missing:
        yield f"\n# Not told with certainty by any column, so that numbers over it stay empty: {', '.join(missing)}\n"
    if "request" not in sure:
        yield "# Without a request id every row gets one of its own, and no row is joined with another side's.\n"
    used = {guess.column for guess in found}
    unused = [column for column in looked.columns if column.name not in used]
    if unused:
        listed = ", ".join(f"{_plain(column.name)} ({_kind(column)})" for column in unused[:_LISTED])
        rest = f" and {len(unused) - _LISTED} more" if len(unused) > _LISTED else ""
        yield f"# Not suggested: {listed}{rest}\n"


def _kind(column: Profile) -> str:
    if column.kind == NOTHING:
        return "nothing in it"
    return f"{column.kind}, perhaps what users wrote" if column.kind == TEXT else column.kind


def _values(found: list[Guess]) -> Iterator[str]:
    for guess in found:
        if not guess.words:
            continue
        mark = "" if guess.sure else "# "
        yield f"\n{mark}[values.{guess.target}]\n"
        for word, ours in guess.words.items():
            if ours is None:
                choices = ", ".join(_CHOICES[guess.target])
                yield f'# which of {choices} it is, is not certain\n# {_text(word)} = ""\n'
            else:
                yield f"{mark}{_text(word)} = {_value(ours)}\n"
