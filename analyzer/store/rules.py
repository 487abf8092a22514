"""The tables of rules by which spans are read: schemas/rules/*.toml and a user's own, as SQL.

A rule says which spans it is about (scope, kind, name, attributes, path), what such a span is, where its facts and
durations stand and in which unit, and which boundaries follow from its times. The first rule that fits a span counts; a
user's come before the built-in ones.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

from analyzer import resources
from analyzer.errors import UsageFault
from analyzer.store import failure_rules
from analyzer.vocabulary import Boundary, Control

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import duckdb

BUILT_IN = (
    "vllm", "sglang", "tensorrt_llm", "triton", "tgi", "dynamo", "llm_d", "envoy_ai_gateway", "litellm", "clients",
    "http",
)  # fmt: skip
FAILURES = "failures"
KINDS = ("internal", "server", "client", "producer", "consumer", "unspecified")
LOOKS = ("engine", "gateway", "http", "call", "try", "part", "control", "agent", "aside")
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "text": 0}
_KEYS = {
    "name", "says", "kind", "scope", "span", "has", "equals", "path", "looks", "facts", "durations", "boundaries",
    "whole", "always_tries", "control",
}  # fmt: skip
_TERM = re.compile(r"\s*([+-]?)\s*([a-z_][a-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Edge:
    """One way to know one end of a boundary: a sum of the span's times and durations, or the time of an event."""

    boundary: str
    edge: str
    choice: int
    terms: tuple[tuple[int, str], ...] = ()
    event: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule as its file states it."""

    name: str
    origin: str
    says: str
    looks: str
    kind: tuple[str, ...] = ()
    scope: tuple[str, ...] = ()
    span: tuple[str, ...] = ()
    has: tuple[str, ...] = ()
    equals: tuple[str, tuple[str, ...]] | None = None
    path: tuple[str, ...] = ()
    facts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    durations: dict[str, tuple[str, str]] = field(default_factory=dict)
    edges: tuple[Edge, ...] = ()
    whole: tuple[str, ...] = ()
    always_tries: bool = False
    control: str | None = None


def _fault(origin: str, place: str, what: str) -> UsageFault:
    return UsageFault(f"{origin}: {place} {what}", "docs/rules.md says what a rule holds")


def _listed(origin: str, place: str, value: Any) -> tuple[str, ...]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list) or not all(isinstance(v, str) and v for v in values):
        raise _fault(origin, place, "must be a text or a list of texts")
    return tuple(values)


def _table(origin: str, place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fault(origin, place, "must be a table of names and values")
    return value


def _one_of(origin: str, place: str, value: str, words: Sequence[str]) -> str:
    if value not in words:
        raise _fault(origin, place, f"is {value!r}, which is none of {', '.join(words)}")
    return value


def _terms(origin: str, place: str, text: Any, durations: dict[str, tuple[str, str]]) -> tuple[tuple[int, str], ...]:
    if not isinstance(text, str):
        raise _fault(origin, place, "must be a text such as 'start + ttft'")
    found: list[tuple[int, str]] = []
    rest = text.strip()
    while rest:
        match = _TERM.match(rest)
        if match is None or (found and not match.group(1)):
            raise _fault(origin, place, f"is {text!r}: write it as 'start', 'end', 'event NAME' or 'start + duration'")
        _one_of(origin, place, match.group(2), ("start", "end", *durations))
        found.append((-1 if match.group(1) == "-" else 1, match.group(2)))
        rest = rest[match.end() :].strip()
    if not found:
        raise _fault(origin, place, "is empty")
    return tuple(found)


def _edge(origin: str, place: str, key: tuple[str, str, int], text: Any, durations: dict[str, tuple[str, str]]) -> Edge:
    if isinstance(text, str) and text.startswith("event"):
        if not (event := text.removeprefix("event").strip()):
            raise _fault(origin, place, "names no event: write it as 'event NAME'")
        return Edge(*key, event=event)
    return Edge(*key, terms=_terms(origin, place, text, durations))


def _edges(origin: str, name: str, told: dict[str, Any], durations: dict[str, tuple[str, str]]) -> Iterator[Edge]:
    for boundary, value in told.items():
        place = f"rule {name!r}, boundary {boundary}"
        _one_of(origin, place, boundary, tuple(Boundary))
        if isinstance(value, list):
            if len(value) != 2:  # noqa: PLR2004 (a low and a high end)
                raise _fault(origin, place, "must be one time, or a list of its low and its high end")
            for edge, text in zip(("low", "high"), value, strict=True):
                yield _edge(origin, place, (boundary, edge, 0), text, durations)
        elif isinstance(value, dict):
            if value.keys() != {"first_of"} or not isinstance(value["first_of"], list):
                raise _fault(origin, place, "must be a time, a low and a high end, or { first_of = [...] }")
            for choice, text in enumerate(value["first_of"]):
                yield _edge(origin, place, (boundary, "at", choice), text, durations)
        else:
            yield _edge(origin, place, (boundary, "at", 0), value, durations)


def _durations(origin: str, name: str, told: dict[str, Any]) -> Iterator[tuple[str, tuple[str, str]]]:
    for duration, value in told.items():
        place = f"rule {name!r}, duration {duration}"
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", duration) or duration in ("start", "end"):
            raise _fault(origin, place, "wants a name of small letters, digits and _, other than start and end")
        if not isinstance(value, dict) or value.keys() != {"key", "unit"}:
            raise _fault(origin, place, "must state its key and its unit")
        yield duration, (str(value["key"]), _one_of(origin, place, str(value["unit"]), tuple(UNITS)))


def _equals(origin: str, name: str, told: Any) -> tuple[str, tuple[str, ...]] | None:
    if not told:
        return None
    if not isinstance(told, dict) or len(told) != 1:
        raise _fault(origin, f"rule {name!r}, equals", "must be one key with its values")
    ((key, values),) = told.items()
    return key, _listed(origin, f"rule {name!r}, equals", values)


def _rule(origin: str, told: Any) -> Rule:
    if not isinstance(told, dict) or not isinstance(told.get("name"), str):
        raise _fault(origin, "a rule", "has no name")
    name = told["name"]
    here = f"rule {name!r}"
    if strange := sorted(told.keys() - _KEYS):
        raise _fault(origin, here, f"has the unknown key {strange[0]}")
    looks = _one_of(origin, f"{here}, looks", str(told.get("looks", "")), LOOKS)
    tables = {key: _table(origin, f"{here}, {key}", told.get(key, {})) for key in ("facts", "durations", "boundaries")}
    durations = dict(_durations(origin, name, tables["durations"]))
    lists = {
        key: _listed(origin, f"{here}, {key}", told.get(key, [])) for key in ("kind", "scope", "span", "has", "path")
    }
    for kind in lists["kind"]:
        _one_of(origin, f"{here}, kind", kind, KINDS)
    equals = _equals(origin, name, told.get("equals"))
    if not (lists["scope"] or lists["span"] or lists["has"] or lists["path"] or equals):
        raise _fault(origin, here, "fits every span: name a scope, a span, an attribute or a path")
    facts = {fact: _listed(origin, f"{here}, fact {fact}", keys) for fact, keys in tables["facts"].items()}
    whole = _listed(origin, f"{here}, whole", told.get("whole", []))
    for fact in (*facts, *whole):
        _one_of(origin, f"{here}, fact", fact, tuple(common_facts()))
    if not isinstance(told.get("always_tries", False), bool):
        raise _fault(origin, f"{here}, always_tries", "must be true or false")
    control = told.get("control")
    if control is not None or looks == "control":
        _one_of(origin, f"{here}, control", str(control), tuple(Control))
    return Rule(
        name=name, origin=origin, says=str(told.get("says", "")), looks=looks, equals=equals, facts=facts,
        durations=durations, edges=tuple(_edges(origin, name, tables["boundaries"], durations)), whole=whole,
        always_tries=bool(told.get("always_tries", False)), control=control, **lists,
    )  # fmt: skip


@cache
def common_facts() -> dict[str, tuple[str, ...]]:
    """Where every kind of span writes its facts."""
    told = tomllib.loads(resources.text("schemas", "rules", "common.toml"))["facts"]
    return {fact: tuple(keys) for fact, keys in told.items()}


def _load(text: str, origin: str) -> dict[str, Any]:
    try:
        told = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise UsageFault(f"{origin} is no TOML: {fault}", "docs/rules.md says what a rule file holds") from fault
    if strange := sorted(told.keys() - {"rule", "failure"}):
        raise _fault(origin, "the file", f"has the unknown key {strange[0]}")
    if not told.get("rule") and not told.get("failure"):
        raise _fault(origin, "the file", "holds no [[rule]] and no [[failure]]")
    return told


def parse(text: str, origin: str) -> list[Rule]:
    """The rules of one file for reading spans. UsageFault says in a sentence what is wrong with the file."""
    told = _load(text, origin)
    found = told.get("rule", [])
    if not isinstance(found, list):
        raise _fault(origin, "rule", "must be written as [[rule]]")
    failure_rules.rows(told.get("failure", []), origin, 1)
    return [_rule(origin, one) for one in found]


@cache
def built_in() -> tuple[Rule, ...]:
    """The rules that come with the project, in the order in which they are tried."""
    return tuple(
        rule for name in BUILT_IN for rule in parse(resources.text("schemas", "rules", f"{name}.toml"), f"{name}.toml")
    )


@cache
def fingerprint() -> str:
    """The text of the built-in rules: a store derived by others is made again."""
    return "".join(resources.text("schemas", "rules", f"{name}.toml") for name in ("common", *BUILT_IN, FAILURES))


# -- as SQL -----------------------------------------------------------------------------------------------------


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _like(glob: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", glob).replace("*", "%")


def _json_path(key: str) -> str:
    return '$."' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Macros:
    """The macros that read a span by its rule, as SQL text: every key stands once, all are read in one pass."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = list(enumerate(rules, start=1))
        keys: dict[str, None] = {}
        for facts in (common_facts(), *(rule.facts for rule in rules)):
            keys |= dict.fromkeys(key for found in facts.values() for key in found)
        for rule in rules:
            keys |= dict.fromkeys((*rule.has, *(key for key, _ in rule.durations.values())))
            if rule.equals:
                keys[rule.equals[0]] = None
        self.place = {key: number for number, key in enumerate(keys, start=1)}

    def _first(self, keys: Sequence[str]) -> str:
        found = ", ".join(f"nullif(v[{self.place[key]}], '')" for key in keys)
        return f"coalesce({found})" if len(keys) > 1 else found or "NULL"

    def _by_rule(self, branches: dict[int, str], otherwise: str) -> str:
        if not branches:
            return otherwise
        whens = " ".join(f"WHEN {number} THEN {text}" for number, text in branches.items())
        return f"CASE rule {whens} ELSE {otherwise} END"

    def texts(self) -> str:
        paths = ", ".join(_text(_json_path(key)) for key in self.place)
        return f"CREATE OR REPLACE MACRO span_texts(attributes) AS json_extract_string(attributes, [{paths}]);"

    def path(self) -> str:
        first = self._first(common_facts()["path"])
        return f"CREATE OR REPLACE MACRO span_path(v) AS regexp_replace({first}, '/?([?#].*)?$', '');"

    def facts(self) -> str:
        fields = []
        for fact, keys in common_facts().items():
            own = {number: self._first(rule.facts[fact]) for number, rule in self._rules if fact in rule.facts}
            fields.append(f"'{fact}': ({self._by_rule(own, self._first(keys))})::VARCHAR")
        return f"CREATE OR REPLACE MACRO rule_facts(rule, v) AS {{{', '.join(fields)}}};"

    def durations(self) -> str:
        branches = {}
        for number, rule in self._rules:
            if rule.durations:
                told = (
                    f"{{'name': '{name}', 'key': {_text(key)}, 'unit': '{unit}', 'text': v[{self.place[key]}],"
                    f" 'ns': duration_ns(v[{self.place[key]}], '{unit}', {'few' if name == 'decode' else 'false'})}}"
                    for name, (key, unit) in rule.durations.items()
                )
                branches[number] = f"[{', '.join(told)}]"
        kind = "STRUCT(name VARCHAR, key VARCHAR, unit VARCHAR, text VARCHAR, ns BIGINT)[]"
        return f"CREATE OR REPLACE MACRO rule_durations(rule, v, few) AS ({self._by_rule(branches, 'NULL')})::{kind};"

    def edges(self) -> str:
        branches = {}
        for number, rule in self._rules:
            places = {name: place for place, name in enumerate(rule.durations, start=1)}
            told = []
            for edge in rule.edges:
                if edge.event is None:
                    value = " ".join(
                        ("- " if sign < 0 else "+ ")
                        + (f"{term}_ns" if term in ("start", "end") else f"d[{places[term]}]['ns']")
                        for sign, term in edge.terms
                    ).removeprefix("+ ")
                    derived = str(len(edge.terms) > 1).lower()
                    told.append(
                        f"{{'boundary': '{edge.boundary}', 'edge': '{edge.edge}', 'choice': {edge.choice},"
                        f" 'ns': ({value})::BIGINT, 'derived': {derived}}}"
                    )
            if told:
                branches[number] = f"[{', '.join(told)}]"
        kind = "STRUCT(boundary VARCHAR, edge VARCHAR, choice INTEGER, ns BIGINT, derived BOOLEAN)[]"
        body = self._by_rule(branches, "NULL")
        return f"CREATE OR REPLACE MACRO rule_edges(rule, start_ns, end_ns, d) AS ({body})::{kind};"

    def told(self) -> str:
        """Durations that are a stage as its owner measured it, by name."""
        fields = []
        for stage in ("queue", "prefill", "decode", "kv_transfer", "first_chunk"):
            own = {
                number: f"d[{list(rule.durations).index(stage) + 1}]['ns']"
                for number, rule in self._rules
                if stage in rule.durations and (rule.looks == "engine" or stage == "first_chunk")
            }
            fields.append(f"'{stage}_ns': ({self._by_rule(own, 'NULL')})::BIGINT")
        return f"CREATE OR REPLACE MACRO rule_stages(rule, d) AS {{{', '.join(fields)}}};"

    def all(self) -> tuple[str, ...]:
        return (self.texts(), self.path(), self.facts(), self.durations(), self.edges(), self.told(), self.whole())

    def whole(self) -> str:
        """Whether an answer under this rule shows by one of its facts that it came whole; NULL where no fact does."""
        own = {
            number: "(" + " OR ".join(f"f['{fact}'] IS NOT NULL" for fact in rule.whole) + ")"
            for number, rule in self._rules
            if rule.whole
        }
        return f"CREATE OR REPLACE MACRO rule_whole(rule, f) AS ({self._by_rule(own, 'NULL')})::BOOLEAN;"


def _shown(values: Sequence[str]) -> str | None:
    return ", ".join(values) or None


def _edge_text(rule: Rule) -> str | None:
    parts = []
    for edge in rule.edges:
        text = (
            f"event {edge.event}"
            if edge.event
            else " ".join(("- " if sign < 0 else "+ ") + term for sign, term in edge.terms).removeprefix("+ ")
        )
        parts.append(f"{edge.boundary}{'' if edge.edge == 'at' else ' ' + edge.edge} = {text}")
    return _shown(parts)


def _literal(value: str | int | None) -> str:
    if isinstance(value, str):
        return _text(value)
    return "NULL" if value is None else str(value).lower()


def _insert(table: str, rows: Iterable[Sequence[str | int | None]]) -> str:
    told = ",\n".join("(" + ", ".join(map(_literal, row)) + ")" for row in rows)
    return f"DELETE FROM {table};" + (f"\nINSERT INTO {table} VALUES {told};" if told else "")


def _rule_row(number: int, rule: Rule) -> tuple[str | int | None, ...]:
    equals = f"{rule.equals[0]} = {' or '.join(rule.equals[1])}" if rule.equals else None
    return (
        number, rule.name, rule.origin, rule.says, rule.looks, _shown(rule.kind), _shown(rule.scope), _shown(rule.span),
        _shown(rule.has), equals, _shown(rule.path),
        _shown([f"{fact} = {', '.join(keys) or 'none'}" for fact, keys in rule.facts.items()]),
        _shown([f"{name} = {key} ({unit})" for name, (key, unit) in rule.durations.items()]),
        _edge_text(rule), _shown(rule.whole), rule.always_tries, rule.control,
    )  # fmt: skip


def _pattern_rows(number: int, rule: Rule, place: dict[str, int]) -> Iterator[tuple[str | int | None, ...]]:
    key, values = rule.equals or (None, ())
    any_of = (rule.kind, rule.scope, rule.span, rule.has, values, rule.path)
    patterns = product(*(told or (None,) for told in any_of))
    for kind, scope, span, has, value, path in patterns:
        yield (
            number, kind, scope and _like(scope), span and _like(span), has and f'"{has}"', has and place[has],
            key and f'"{key}"', key and place[key], value and _like(value), path and _like(path),
        )  # fmt: skip


@cache
def _script(files: tuple[tuple[str, str], ...]) -> str:
    """What writes the rules of these files and the built-in ones into a store."""
    rules = [rule for name, text in files for rule in parse(text, name)] + list(built_in())
    macros = _Macros(rules)
    numbered = list(enumerate(rules, start=1))
    tables = (
        _insert("span_rule", (_rule_row(number, rule) for number, rule in numbered)),
        _insert(
            "span_pattern", (row for number, rule in numbered for row in _pattern_rows(number, rule, macros.place))
        ),
        _insert(
            "span_event_edge",
            (
                (number, e.boundary, e.edge, e.choice, e.event)
                for number, rule in numbered
                for e in rule.edges
                if e.event
            ),
        ),
    )
    return "\n".join((*tables, _insert("failure_rule", _failure_rows(files)), *macros.all()))


def _failure_rows(files: tuple[tuple[str, str], ...]) -> Iterator[failure_rules.Row]:
    """A user's rules of failures before the built-in ones, numbered in the order in which they are tried."""
    own = f"{FAILURES}.toml"
    first = 1
    for name, text in (*files, (own, resources.text("schemas", "rules", own))):
        told = _load(text, name).get("failure", [])
        yield from failure_rules.rows(told, name, first)
        first += len(told)


def fill(con: duckdb.DuckDBPyConnection) -> None:
    """Write the rules into the store: its own tables of them, and the macros that read spans by them."""
    files = con.execute("SELECT name, text FROM rule_file ORDER BY position").fetchall()
    con.execute(_script(tuple((name, text) for name, text in files)))


def replace(con: duckdb.DuckDBPyConnection, files: Sequence[tuple[str, str]]) -> bool:
    """Make these (name, text) the user's rule files of a store. True if that changed them.

    UsageFault says in a sentence what is wrong with one of them; the store then stays as it was.
    """
    for name, text in files:
        parse(text, name)
    before = con.execute("SELECT name, text FROM rule_file ORDER BY position").fetchall()
    if before == [tuple(file) for file in files]:
        return False
    con.execute("DELETE FROM rule_file")
    for position, (name, text) in enumerate(files):
        digest = hashlib.sha256(text.encode()).hexdigest()
        con.execute("INSERT INTO rule_file VALUES (?, ?, ?, ?)", [position, name, digest, text])
    return True
