"""Mutations that make odd documents of OTLP/JSON out of proper ones, each at a place that chance names."""

from __future__ import annotations

import base64
import copy
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterator, Sequence

    Mutation = Callable[[Any, random.Random], Any]

MUTATIONS: dict[str, Mutation] = {}
_IDS = ("traceId", "spanId", "parentSpanId")
_TIMES = ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano")
_COUNTS = ("droppedAttributesCount", "droppedEventsCount", "droppedLinksCount", "flags")
_TYPED = ("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue", "arrayValue", "kvlistValue")


@dataclass(frozen=True, slots=True, eq=False)
class Raw:
    """JSON that stands as it is."""

    text: str


@dataclass(frozen=True, slots=True, eq=False)
class Key:
    """A key that stands as it is, even beside its equal."""

    text: str


_OTHERS: tuple[Any, ...] = (
    5,
    -1,
    1.5,
    "x",
    "",
    "5",
    True,
    False,
    [],
    {},
    [1],
    ["a"],
    {"a": 1},
    [{}],
    [None],
    [[]],
    {"values": 5},
)
_TIMES_ODD: tuple[Any, ...] = (
    0, "0", -1, "-1", 2**63, str(2**63), str(2**63 - 1), 2**63 - 1, str(2**64 - 1), 2**64, "", " 5", "5 ", "+5", "007", "5.0", "1e3",
    "0x5", "1_000", "\u0663", "soon", 5.0, 1.5e18, 1.25, True, None, [], {}, Raw("1e3"), Raw("1.0"), Raw("-0"), 10**39, str(10**41),
)  # fmt: skip
_WHOLE_ODD: tuple[Any, ...] = (
    *_TIMES_ODD, -(2**63), str(-(2**63) - 1), 10**30, str(10**30), 2**53 + 1, "NaN", Raw("1e400"), Raw("12345678901234567890.0"),
)  # fmt: skip
_DOUBLES_ODD: tuple[Any, ...] = (
    "1.5", "-1e2", "1e400", "nan", "inf", "+Infinity", "NaN", "Infinity", "-Infinity", ".5", "5.", "1_0", "0x1p3", "", " 1.5", "\u0663",
    Raw("NaN"), Raw("Infinity"), Raw("-Infinity"), Raw("1e400"), Raw("-1e400"), Raw("-0"), Raw("1E5"), 2**53 + 1, 10**30, 10**400, True,
    None, [], {}, 7, Raw("0.1000000000000000055511151231257827"), Raw("1e-400"), Raw("100000000000000000000000000000"),
)  # fmt: skip
_CONTENT = (
    "gen_ai.prompt", "gen_ai.prompt.0.content", "gen_ai.input.messages", "http.request.header.authorization", "http.request.header.x-request-id",
    "code.stacktrace", "exception.stacktrace", "llm.openai.messages", "messages", "metadata.requester_metadata", "user.id", "x_request_id",
    "gen_ai.tool.call.arguments", "input.value", "llm.prompts.0.user", "gen_ai", "prompt",
)  # fmt: skip
_SAID: tuple[Any, ...] = (
    {"stringValue": "a secret"}, {"stringValue": ""}, {"stringValue": "{'headers': {'host': 'h', 'x-request-id': 'r-7'}}"},
    {"arrayValue": {"values": [{"stringValue": "r-7"}]}}, {"arrayValue": {"values": [{"stringValue": "r-7"}, {"stringValue": "r-8"}]}},
    {"kvlistValue": {"values": [{"key": "prompt", "value": {"stringValue": "a secret"}}, {"key": "n", "value": {"intValue": "1"}}]}},
    {"arrayValue": {"values": [{"kvlistValue": {"values": [{"key": "messages", "value": {"intValue": "1"}}]}}]}}, {"intValue": "7"},
)  # fmt: skip


def _mutation(made: Mutation) -> Mutation:
    MUTATIONS[made.__name__] = made
    return made


def _objects(value: Any) -> Iterator[dict[Any, Any]]:
    """Every object of a document, outer ones first."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _objects(inner)


def _fields(value: Any, *names: str) -> list[tuple[dict[Any, Any], str]]:
    """Where fields stand: each object with the field's name; every field when none is named."""
    return [
        (found, key)
        for found in _objects(value)
        for key in found
        if isinstance(key, str) and (not names or key in names)
    ]


def _one_of(chance: random.Random, options: Sequence[Any]) -> Any:
    """One of these values, to be changed by whoever changes the document next."""
    return copy.deepcopy(chance.choice(options))


def _replaced(value: Any, chance: random.Random, names: tuple[str, ...], others: tuple[Any, ...]) -> Any:
    """One of these fields, if there is one, with another value."""
    if places := _fields(value, *names):
        found, key = chance.choice(places)
        found[key] = _one_of(chance, others)
    return value


def snake_case(name: str) -> str:
    """A field's name as the messages have it."""
    return re.sub("[A-Z]", lambda upper: "_" + upper[0].lower(), name)


# -- any field --------------------------------------------------------------------------------------------------------


@_mutation
def missing(value: Any, chance: random.Random) -> Any:
    if places := _fields(value):
        found, key = chance.choice(places)
        del found[key]
    return value


@_mutation
def null(value: Any, chance: random.Random) -> Any:
    return _replaced(value, chance, (), (None,))


@_mutation
def of_another_type(value: Any, chance: random.Random) -> Any:
    return _replaced(value, chance, (), _OTHERS)


@_mutation
def twice(value: Any, chance: random.Random) -> Any:
    if places := _fields(value):
        found, key = chance.choice(places)
        found[Key(f'"{key}"')] = _one_of(chance, (None, found[key], *_OTHERS))
    return value


@_mutation
def with_a_key_in_escapes(value: Any, chance: random.Random) -> Any:
    if places := _fields(value):
        found, key = chance.choice(places)
        if key.isascii() and key.isalnum():
            found[Key('"' + f"\\u{ord(key[0]):04x}" + key[1:] + '"')] = found.pop(key)
    return value


@_mutation
def in_snake_case(value: Any, chance: random.Random) -> Any:
    """One field, or all of them; now and then beside its other spelling."""
    places = _fields(value)
    for found, key in places if chance.random() < 0.5 else places and [chance.choice(places)]:
        if snake_case(key) != key:
            found[snake_case(key)] = copy.deepcopy(found[key]) if chance.random() < 0.1 else found.pop(key)
    return value


@_mutation
def unknown(value: Any, chance: random.Random) -> Any:
    found = chance.choice(list(_objects(value)) or [{}])
    name = chance.choice(
        (
            "unknown",
            "entityRefs",
            "stringValueStrindex",
            "keyStrindex",
            "Name",
            "SPANS",
            "scope_spans",
            "resource",
            "batches",
        )
    )
    found.setdefault(name, _one_of(chance, (None, *_OTHERS)))
    return value


@_mutation
def with_half_a_character(value: Any, chance: random.Random) -> Any:
    texts = [(found, key) for found, key in _fields(value) if isinstance(found[key], str)]
    if texts:
        found, key = chance.choice(texts)
        found[key] = Raw(
            chance.choice(('"a\\ud83d"', '"\\uDE00b"', '"\\ud83d\\ude00"', '"\\uD83D\\u0041"', '"\\\\ud83d"'))
        )
    return value


@_mutation
def with_an_item_of_another_kind(value: Any, chance: random.Random) -> Any:
    lists = [found[key] for found, key in _fields(value) if isinstance(found[key], list)]
    if lists:
        chosen = chance.choice(lists)
        chosen.insert(chance.randint(0, len(chosen)), _one_of(chance, (None, *_OTHERS)))
    return value


# -- ids, enums, numbers ------------------------------------------------------------------------------------------------


@_mutation
def with_an_odd_id(value: Any, chance: random.Random) -> Any:
    places = [(found, key) for found, key in _fields(value, *_IDS) if re.fullmatch("([0-9a-f]{2})+", str(found[key]))]
    if not places:
        return value
    found, key = chance.choice(places)
    plain = found[key]
    raw = bytes.fromhex(plain)
    found[key] = _one_of(chance, (
        plain.upper(), base64.b64encode(raw).decode(), base64.b64encode(plain.encode()).decode(), base64.b64encode(raw).decode().rstrip("="),
        plain[1:], plain[2:], "00" + plain, "0x" + plain, "0" * len(plain), "", None, 5, plain.replace(plain[0], "g"), " " + plain, plain + "\n",
        "z" * len(plain), "====", "\uff11" * len(plain), int(plain, 16), [plain], {}, "0" * (len(plain) // 2) + plain[len(plain) // 2 :],
    ))  # fmt: skip
    return value


@_mutation
def with_a_name_of_an_enum(value: Any, chance: random.Random) -> Any:
    kinds: tuple[Any, ...] = (
        "SPAN_KIND_SERVER",
        "server",
        "SERVER",
        "2",
        "99",
        "",
        "SPAN_KIND_",
        "STATUS_CODE_OK",
        99,
        -1,
        2.0,
        2.5,
        None,
        True,
        [],
        "SPAN_KIND_UNSPECIFIED",
    )
    codes: tuple[Any, ...] = (
        "STATUS_CODE_ERROR",
        "error",
        "2",
        7,
        -1,
        1.0,
        "",
        None,
        False,
        {},
        "STATUS_CODE_UNSET",
        "Error",
    )
    return _replaced(_replaced(value, chance, ("kind",), kinds), chance, ("code",), codes)


@_mutation
def with_another_status(value: Any, chance: random.Random) -> Any:
    return _replaced(
        value,
        chance,
        ("status",),
        (None, {}, [], "error", 2, "STATUS_CODE_OK", [2], {"code": [2]}, {"message": 5}, "", 0, True),
    )


@_mutation
def with_numbers_the_other_way_round(value: Any, chance: random.Random) -> Any:
    """One number, or all of them, as text; or the text as a number."""
    places = _fields(value, *_TIMES, *_COUNTS, "intValue", "doubleValue", "kind", "code")
    for found, key in places if chance.random() < 0.5 else places and [chance.choice(places)]:
        if isinstance(found[key], str) and re.fullmatch("-?[0-9]+", found[key]):
            found[key] = int(found[key])
        elif isinstance(found[key], (int, float)):
            found[key] = str(found[key])
    return value


@_mutation
def with_an_odd_time(value: Any, chance: random.Random) -> Any:
    return _replaced(value, chance, _TIMES, _TIMES_ODD)


@_mutation
def with_an_odd_count(value: Any, chance: random.Random) -> Any:
    return _replaced(value, chance, _COUNTS, _WHOLE_ODD)


# -- attributes ---------------------------------------------------------------------------------------------------------


def _lists_of_attributes(value: Any) -> list[list[Any]]:
    return [found[key] for found, key in _fields(value, "attributes") if isinstance(found[key], list)]


def _with_attribute(value: Any, chance: random.Random, key: str, any_value: Any) -> Any:
    """One more attribute of something that has a place for some."""
    places = [
        found for found in _objects(value) if any(name in found for name in ("spanId", "timeUnixNano", "attributes"))
    ]
    if places:
        listed = chance.choice(places).setdefault("attributes", [])
        if isinstance(listed, list):
            listed.insert(chance.randint(0, len(listed)), {"key": key, "value": any_value})
    return value


@_mutation
def with_an_odd_integer(value: Any, chance: random.Random) -> Any:
    return _with_attribute(value, chance, "odd", {"intValue": _one_of(chance, _WHOLE_ODD)})


@_mutation
def with_an_odd_double(value: Any, chance: random.Random) -> Any:
    return _with_attribute(value, chance, "odd", {"doubleValue": _one_of(chance, _DOUBLES_ODD)})


@_mutation
def with_an_odd_value(value: Any, chance: random.Random) -> Any:
    return _with_attribute(value, chance, "odd", _one_of(chance, (
        None, "bare", 5, 0, "", [], [1], {"stringValue": None}, {"stringValue": 5}, {"stringValue": {"a": 1.5}}, {"boolValue": "true"}, {"boolValue": 1},
        {"boolValue": None}, {"bytesValue": "AAEC_w"}, {"bytesValue": "not base64"}, {"bytesValue": 5}, {"arrayValue": None}, {"arrayValue": []},
        {"arrayValue": {"values": None}}, {"arrayValue": {"values": {}}}, {"arrayValue": {"values": [5]}}, {"arrayValue": {"values": [None]}},
        {"kvlistValue": None}, {"kvlistValue": {"values": [{"key": "a"}]}}, {"kvlistValue": {"values": [{"value": {"intValue": "1"}}]}},
        {"kvlistValue": {"values": [None]}}, {"kvlistValue": {"values": {"a": 1}}}, {"unknownValue": "x"}, {"StringValue": "x"}, {"value": "x"},
        {"stringValue": "a", "intValue": "1"}, {"intValue": "1", "stringValue": "a"}, {"stringValue": None, "intValue": "1"}, {"Type": 1, "stringValue": "a"},
        {"kvlistValue": {"values": [{"key": "a", "value": {"intValue": "1"}}, {"key": "a", "value": {"intValue": "2"}}]}},
    )))  # fmt: skip


@_mutation
def with_a_key_twice(value: Any, chance: random.Random) -> Any:
    lists = [listed for listed in _lists_of_attributes(value) if listed]
    if lists:
        listed = chance.choice(lists)
        again = chance.choice(listed)
        key = again.get("key") if isinstance(again, dict) else None
        listed.insert(
            chance.randint(0, len(listed)),
            {"key": key, "value": _one_of(chance, (None, {}, {"intValue": "5"}, {"stringValue": "b"}))},
        )
    return value


@_mutation
def with_an_odd_pair(value: Any, chance: random.Random) -> Any:
    if lists := _lists_of_attributes(value):
        listed = chance.choice(lists)
        odd: tuple[Any, ...] = (
            None,
            5,
            "a",
            [],
            {},
            {"key": None},
            {"key": 5, "value": {}},
            {"key": "a"},
            {"value": {"intValue": "1"}},
            {"Key": "a"},
            {"key": "a", "value": None},
        )
        listed.insert(chance.randint(0, len(listed)), _one_of(chance, odd))
    return value


@_mutation
def with_what_was_said(value: Any, chance: random.Random) -> Any:
    return _with_attribute(value, chance, chance.choice(_CONTENT), _one_of(chance, _SAID))


@_mutation
def with_many_levels(value: Any, chance: random.Random) -> Any:
    inner: Any = {"intValue": "1"}
    for _ in range(chance.choice((3, 10, 60, 130))):
        inner = (
            {"arrayValue": {"values": [inner]}}
            if chance.random() < 0.5
            else {"kvlistValue": {"values": [{"key": "k", "value": inner}]}}
        )
    return _with_attribute(value, chance, "deep", inner)


# -- the document -------------------------------------------------------------------------------------------------------


@_mutation
def under_another_name(value: Any, chance: random.Random) -> Any:
    """The lists, or the scope, under one of the other names that they have had."""
    names = {
        "resourceSpans": ("batches", "resource_spans", "spans", "resourceSpan"),
        "scopeSpans": ("instrumentationLibrarySpans", "instrumentation_library_spans", "scope_spans", "scopes"),
        "scope": ("instrumentationLibrary", "instrumentation_library", "instrumentationScope"),
    }
    if places := _fields(value, *names):
        found, key = chance.choice(places)
        found[chance.choice(names[key])] = found.pop(key)
    return value


@_mutation
def wrapped(value: Any, chance: random.Random) -> Any:
    return chance.choice((
        lambda inner: {"trace": inner}, lambda inner: {"result": inner}, lambda inner: [inner], lambda inner: [inner, {"else": 1}],
        lambda inner: {"data": inner}, lambda inner: [[inner]], lambda inner: {"n": [1], "trace": inner},
    ))(value)  # fmt: skip


@_mutation
def flat(value: Any, chance: random.Random) -> Any:
    """Spans by themselves, as some viewers save them."""
    spans = [found for found in _objects(value) if "spanId" in found and "name" in found]
    for span in spans:
        if chance.random() < 0.5:
            span["resource"] = {"attributes": [{"key": "service.name", "value": {"stringValue": "s"}}]}
    return {"spans": spans}


@_mutation
def with_other_signals(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict):
        name = chance.choice(("resourceMetrics", "resourceLogs", "resource_logs", "resourceProfiles"))
        value[name] = _one_of(chance, ([], [{"scopeMetrics": []}], [{}, {}], None, 5, {}))
    return value
