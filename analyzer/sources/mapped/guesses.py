"""What the columns of a foreign file may be, from their names and what their values look like, and how sure that is."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analyzer.sources.mapped import names
from analyzer.sources.mapped.model import FIELDS, ISO, NANOSECONDS
from analyzer.sources.mapped.profile import BOOLEAN, DECIMAL, ISO_TIMES, NESTED, TEXT, WHOLE, WORD
from analyzer.vocabulary import Side

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from analyzer.sources.mapped.profile import Profile

# Unix time that somebody may have measured a language model at, in seconds.
_YEAR_2000, _YEAR_2100 = 946_684_800, 4_102_444_800
_HTTP = range(100, 600)
_OF_CLIENTS = {"scheduled", "sent", "first_content", "first_answer", "last_content"}
_OF_SERVERS = {"arrived", "admitted", "rejected", "preempted", "resumed", "dequeued", "released"}
_OF_ENGINES = {"preempted", "resumed", "released"}
_AS_SEEN_BY_CLIENTS = {"first_token": "first_content", "last_token": "last_content"}


@dataclass(frozen=True, slots=True)
class Guess:
    """One line that may be written: a field, the column for it, and why. `options` are keys of its table.

    `words` are what their words stand for, None where that is not sure.
    """

    target: str
    column: str
    why: str
    sure: bool
    options: dict[str, Any] = field(default_factory=dict)
    words: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """Which sides may have written the file, and the columns that say so."""

    sides: tuple[Side, ...]
    because: tuple[str, ...]

    @property
    def side(self) -> Side | None:
        """The side, where only one is possible."""
        return self.sides[0] if len(self.sides) == 1 else None


def seen_by(columns: Sequence[Profile]) -> Seen:
    """Who may have seen what the columns tell."""
    moments = {column.name: _moment(column) for column in columns if unit_of_moment(column)}
    client = [name for name, target in moments.items() if target in _OF_CLIENTS]
    server = [name for name, target in moments.items() if target in _OF_SERVERS]
    lasting = {column.name: names.stem(column.name) for column in columns if column.numbers}
    engine = [name for name, target in moments.items() if target in _OF_ENGINES]
    engine += [name for name, stem in lasting.items() if stem.full.startswith(("queue", "prefill", "time_in_queue"))]
    if server and not client:
        return Seen((Side.ENGINE,) if engine else (Side.ENGINE, Side.GATEWAY), (*server, *engine))
    if client and not server:
        return Seen((Side.CLIENT,), tuple(client))
    return Seen(tuple(Side), (*client, *server, *engine))


def _moment(column: Profile) -> str | None:
    return names.meant(names.stem(column.name), names.MOMENTS)


def unit_of_moment(column: Profile) -> str | None:
    """The unit in which all of a column's values are unix times, or iso; None where they are neither."""
    if column.kind == ISO_TIMES or (column.stored or "").startswith(("zoned", "naive")):
        return ISO
    numbers = [number for number in column.numbers if number]
    for unit, factor in NANOSECONDS.items():
        scale = 10**9 // factor
        if numbers and all(_YEAR_2000 * scale <= number < _YEAR_2100 * scale for number in numbers):
            return unit
    return None


def guesses(columns: Sequence[Profile], seen: Seen) -> list[Guess]:
    """Everything that the columns may be, in their order; of several for one field only the first is sure."""
    found: list[Guess] = []
    taken: dict[str, str] = {}
    moments = [column for column in columns if unit_of_moment(column)]
    for column in columns:
        for guess in _of(column, seen, moments):
            if guess.sure and guess.target in taken:
                why = f"{guess.why}; but {guess.target} is taken from {taken[guess.target]} already"
                guess = Guess(guess.target, guess.column, why, False, guess.options, guess.words)  # noqa: PLW2901
            elif guess.sure:
                taken[guess.target] = guess.column
            found.append(guess)
    return found


def _of(column: Profile, seen: Seen, moments: Sequence[Profile]) -> Iterator[Guess]:
    if column.kind == NESTED:
        return
    stem = names.stem(column.name)
    if not stem.full:
        return
    if (unit := unit_of_moment(column)) is not None:
        yield from _of_moment(column, stem, unit, seen)
    elif column.numbers and _is_duration(stem):
        yield from _of_duration(column, stem, seen, moments)
    elif column.numbers and (target := _moment(column)):
        why = f"{numbers_of(column)}: no unix time; if it counts from one fixed moment, clock_kind is monotonic"
        yield Guess(target, column.name, why, False, {"unit": stem.unit or "s"})
    else:
        yield from _of_fact(column, stem)


# -- times ------------------------------------------------------------------------------------------------------------


def _of_moment(column: Profile, stem: names.Stem, unit: str, seen: Seen) -> Iterator[Guess]:
    why = _time_said(column, unit)
    if stem.unit not in (None, unit) and unit != ISO:
        target = names.meant(stem, names.MOMENTS)
        if target:
            yield Guess(target, column.name, f"{why}, though its name says {stem.unit}", False, {"unit": unit})
        return
    if target := names.meant(stem, names.MOMENTS):
        yield from _sided(target, column, why, unit, seen)
        return
    for name in {stem.full: None, stem.bare: None}:
        if targets := names.UNSURE_MOMENTS.get(name):
            fitting = [target for target in targets if _fits(target, seen)] or list(targets)
            for target in fitting:
                yield Guess(target, column.name, f"{why}; but not which event it is of", False, {"unit": unit})
            return


def _fits(target: str, seen: Seen) -> bool:
    if target in _OF_CLIENTS and Side.CLIENT not in seen.sides:
        return Side.GATEWAY in seen.sides and target != "sent"
    return not (seen.side == Side.CLIENT and target in (_OF_SERVERS | _AS_SEEN_BY_CLIENTS.keys() | {"started"}))


def _sided(target: str, column: Profile, why: str, unit: str, seen: Seen) -> Iterator[Guess]:
    """A moment whose name is clear, as far as it is clear whose it is."""
    options = {"unit": unit}
    if target in _AS_SEEN_BY_CLIENTS:
        if seen.side == Side.CLIENT:
            yield Guess(
                _AS_SEEN_BY_CLIENTS[target], column.name, f"{why}; what a client sees of it is content", True, options
            )
        elif seen.side == Side.ENGINE:
            yield Guess(target, column.name, why, True, options)
        else:
            for one in (target, _AS_SEEN_BY_CLIENTS[target]):
                yield Guess(one, column.name, f"{why}; an engine sees tokens, others see content", False, options)
        return
    if target in _OF_CLIENTS and seen.side != Side.CLIENT:
        yield Guess(target, column.name, f"{why}; it is sure of a client's file only", False, options)
        return
    if target == "admitted" and seen.side != Side.CLIENT:
        why += "; it means taken into the queue: where it is the moment that work began, write started instead"
    yield Guess(target, column.name, why, True, options)


def _is_duration(stem: names.Stem) -> bool:
    known = {stem.full, stem.bare}
    return bool(known & (set(names.FIRST_CONTENT_AFTER) | names.UNSURE_DURATIONS.keys()))


def _of_duration(column: Profile, stem: names.Stem, seen: Seen, moments: Sequence[Profile]) -> Iterator[Guess]:
    said = numbers_of(column)
    start = "sent" if Side.CLIENT in seen.sides else "arrived"
    base = next((m.name for m in moments if _moment(m) == start), None)
    # Without any time of day every duration counts from the start of its request.
    from_start = {} if not moments else {"add_to": start}
    stored = column.stored.split()[0] if column.stored else None
    unit = stored or stem.unit
    options = {"unit": unit or "s", **from_start}
    if zeros := sum(not number for number in column.numbers):
        said += f"; {zeros} of them 0: add zero_is_missing = true if that stands for not recorded"
    if {stem.full, stem.bare} & set(names.FIRST_CONTENT_AFTER):
        target = "first_token" if seen.side == Side.ENGINE else "first_content"
        reason = f"{said}, after {start}" if unit else f"{said}: seconds or milliseconds is not told"
        if moments and base is None:
            reason += f"; no column tells {start}"
        if seen.side is None:
            reason += "; a client's first content, or an engine's first token after arrived"
        sure = bool(unit) and seen.side is not None and (base is not None or not moments)
        yield Guess(target, column.name, reason, sure, options)
        return
    targets = names.UNSURE_DURATIONS.get(stem.full) or names.UNSURE_DURATIONS.get(stem.bare) or ()
    for target in targets:
        base_of = {"started": "arrived", "first_token": "started", "last_token": "first_token"}.get(target, start)
        counted = {"unit": unit or "s"} | ({"add_to": base_of} if moments or base_of != start else {})
        why = f"{said}; from where to where is not told" + ("" if unit else ", nor in which unit")
        yield Guess(target, column.name, why, False, counted)


def numbers_of(column: Profile) -> str:
    """How large the values are."""
    low, high = min(column.numbers), max(column.numbers)
    return f"{column.kind} from {low:.4g} to {high:.4g}"


def _time_said(column: Profile, unit: str) -> str:
    if column.stored:
        return f"times with a unit of their own ({column.stored})"
    if unit == ISO:
        return f"ISO times such as {column.texts[0]}" + (
            "" if column.zoned else ", without a zone: source.zone must say it"
        )
    largest = max(column.numbers)
    seconds = int(largest * NANOSECONDS[unit] / 10**9)
    return f"{column.kind} near {largest:.2e}: unix time in {unit} ({datetime.fromtimestamp(seconds, UTC):%Y-%m-%d})"


# -- facts ------------------------------------------------------------------------------------------------------------


def _of_fact(column: Profile, stem: names.Stem) -> Iterator[Guess]:
    known = {stem.full, stem.bare}
    if known & set(names.ENDINGS):
        yield from _of_ending(column)
    elif known & set(names.SUCCESS) and (column.kind == BOOLEAN or set(column.words) <= {"0", "1"}):
        yield _of_success(column)
    elif known & set(names.PHASES) and column.kind == WORD:
        told = {word: names.word_meant(word, names.PHASE_WORDS) for word in column.words}
        yield Guess("phase", column.name, "words", True, words={w: ours for w, ours in told.items() if w != ours})
    elif target := names.meant(stem, names.FACTS):
        fits, why = _suits(column, target)
        yield Guess(target, column.name, why, fits)
    else:
        for name in {stem.full: None, stem.bare: None}:
            if name in names.UNSURE_FACTS:
                targets, why = names.UNSURE_FACTS[name]
                for one in targets:
                    options = {"unit": stem.unit or "s"} if one == "deadline_ms" else {}
                    yield Guess(one, column.name, f"{column.kind}; {why}", False, options)
                return


def _suits(column: Profile, target: str) -> tuple[bool, str]:
    """Whether a column's values can be what its name says, and what they are."""
    kind, wanted = column.kind, FIELDS[target]
    if kind in (WHOLE, DECIMAL):
        said = numbers_of(column)
    elif kind == WORD and len(column.words) <= 3:  # noqa: PLR2004 (as many as one reads at a glance)
        said = ", ".join(column.words)
    else:
        said = kind
    if wanted in ("INTEGER", "BIGINT"):
        return kind == WHOLE and min(column.numbers) >= 0, f"{said}, by its name"
    if wanted == "BOOLEAN":
        return kind == BOOLEAN, f"{said}, by its name"
    if target == "request":
        different = len(column.words)
        return different > len(
            column.texts
        ) // 2 or different > 20, f"{different} different values in {len(column.texts)} records"  # noqa: PLR2004
    if not column.texts:
        return False, "by its name; nothing is in it"
    long = kind == TEXT and target not in ("trace_id", "response_id", "idempotency_key", "retry_of", "worker", "tenant")
    return not long, f"{said}, by its name" + ("; it holds many or long values, and few are wanted" if long else "")


def _of_ending(column: Profile) -> Iterator[Guess]:
    """A status: of HTTP, a word for how it ended, or both in one column."""
    plain = [word for word in column.words if word.isdecimal() and int(word) in _HTTP]
    others = [word for word in column.words if word not in plain]
    if plain:
        why = f"HTTP statuses: {', '.join(sorted(plain))}"
        if others:
            why += "; its words are no numbers, and so not recorded"
        yield Guess("status_code", column.name, why, True, words=dict.fromkeys(others, ""))
    if not others or column.kind not in (WORD, BOOLEAN):
        return
    told: dict[str, Any] = {word: names.word_meant(word, names.OUTCOMES) for word in others}
    if plain:
        told |= {
            word: "ok" if word.startswith("2") else {"429": "rejected", "503": "rejected"}.get(word) for word in plain
        }
        why = "words and numbers for how it ended; whether 200 means that the answer came whole is not told"
    else:
        why = "words for how it ended"
    yield Guess("outcome", column.name, why, not plain, words={w: ours for w, ours in told.items() if w != ours})


def _of_success(column: Profile) -> Guess:
    told: dict[str, Any] = {word: "ok" if word.lower() in ("true", "1") else None for word in column.words}
    return Guess(
        "outcome", column.name, "whether it went well; how it ended where it did not is not told", True, words=told
    )
