"""Strategies for OTLP/JSON: documents as exporters write them, odd ones made from those, and files of both."""

from __future__ import annotations

import base64
import copy
import json
import random
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st
from properties.odd_otlp import MUTATIONS, Key, Raw, snake_case

from analyzer.sources.span_values import KINDS, STATUSES

if TYPE_CHECKING:
    from collections.abc import Callable

# The order of fields in the messages, which Go's writers keep to; Python's go by their numbers, by which flags come last.
_ORDER = (
    "resource", "scopeSpans", "schemaUrl", "scope", "spans", "key", "value", "version", "traceId", "spanId", "traceState",
    "parentSpanId", "flags", "timeUnixNano", "name", "kind", "startTimeUnixNano", "endTimeUnixNano", "attributes",
    "droppedAttributesCount", "events", "droppedEventsCount", "links", "droppedLinksCount", "status", "message", "code",
)  # fmt: skip
_MOST_32, _MOST_64 = 2**32 - 1, 2**63 - 1
_SOME_NS = 1_796_069_035_919_617_536


# -- writing ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Style:
    """How a document is written."""

    between: str = ","
    after_key: str = ":"
    escaped: str = "least"
    """Which characters of texts are escaped: least, ascii (all but ASCII), html (Go's), slash, every."""
    doubles: str = "python"
    flags_last: bool = False
    order: int | None = None
    """Seed for the order of keys; None for that of the messages."""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as an object, and as it is written."""

    value: Any
    text: str


def written(value: Any, style: Style) -> str:
    """The JSON text of an object."""
    chance = None if style.order is None else random.Random(style.order)  # noqa: S311 (repeatable, not secret)
    return _written(value, style, chance)


def _written(value: Any, style: Style, chance: random.Random | None) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, str):
        return _text(value, style.escaped)
    if isinstance(value, float):
        return _DOUBLES[style.doubles](value)
    if isinstance(value, list):
        return f"[{style.between.join(_written(item, style, chance) for item in value)}]"
    if not isinstance(value, dict):
        return json.dumps(value)
    items = list(value.items())
    if style.flags_last:
        items.sort(key=lambda item: item[0] == "flags")
    fields = [
        f"{key.text if isinstance(key, Key) else _text(key, 'least')}{style.after_key}{_written(inner, style, chance)}"
        for key, inner in items
    ]
    if chance:
        chance.shuffle(fields)
    return f"{{{style.between.join(fields)}}}"


def _text(value: str, escaped: str) -> str:
    found = json.dumps(value, ensure_ascii=escaped == "ascii")
    if escaped == "slash":
        return found.replace("/", "\\/")
    if escaped == "html":
        return "".join(f"\\u{ord(one):04x}" if one in "<>&\u2028\u2029" else one for one in found)
    if escaped == "every":
        return '"' + "".join(f"\\u{unit:04X}" for unit in _utf16(value)) + '"'
    return found


def _utf16(value: str) -> list[int]:
    raw = value.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(raw[at : at + 2], "big") for at in range(0, len(raw), 2)]


def _as_go(value: float) -> str:
    """A double as Go's encoders write it: no fraction where there is none, exponents only far out."""
    if value and not 1e-6 <= abs(value) < 1e21:
        return repr(value).replace("e-0", "e-")
    return format(Decimal(repr(value)), "f").removesuffix(".0")


_DOUBLES: dict[str, Callable[[float], str]] = {
    "python": repr,
    "go": _as_go,
    "digits": lambda value: format(value, ".17g"),
    "upper": lambda value: repr(value).upper(),
}
styles = st.builds(
    Style,
    between=st.sampled_from([",", ", ", ",  ", " ,\t"]),
    after_key=st.sampled_from([":", ": ", " : "]),
    escaped=st.sampled_from(["least", "ascii", "html", "slash", "every"]),
    doubles=st.sampled_from(sorted(_DOUBLES)),
    flags_last=st.booleans(),
    order=st.none() | st.integers(0, 2**16),
)


# -- canonical documents ----------------------------------------------------------------------------------------------


_TEXTS = (
    "", "a", "\u00e9", "\u4e2d\u6587", "\U0001f600", "\x00", "\x1f\x7f", "\u2028\u2029", '<a href="x">&amp;</a>', "/\\\"'\b\f\n\r\t",
    "null", "NaN", "true", "12", "-1.5e3", "{", "}", "[]", '{"a": 1}', "52.3\u00b5s", " lead", "\ufeff", "\ufffd\uffff", "x" * 300,
)  # fmt: skip
_KEYS = (
    "service.name", "host.name", "http.response.status_code", "gen_ai.request.model", "gen_ai.usage.input_tokens",
    "gen_ai.latency.time_to_first_token", "user.id", "a", "A", "a.b", "a b", 'a"b', "$.a", "", "\u00e9", "traceId", "value",
    "gen_ai.prompt", "http.request.header.x-request-id", "input.value", "x_request_id",
)  # fmt: skip
_WHOLE_SEEN = (0, -1, 2**53 + 1, -(2**63), _MOST_64)
_DOUBLES_SEEN = (
    0.0,
    -0.0,
    1e-7,
    1e22,
    5e-324,
    1.7976931348623157e308,
    0.1,
    2.0,
    1e21,
    123456789012345680000.0,
    1e-5,
    -2.99,
)
texts = st.sampled_from(_TEXTS) | st.text(max_size=8)
keys = st.sampled_from(_KEYS) | st.text(max_size=4)
whole = st.sampled_from(_WHOLE_SEEN) | st.integers(-(2**63), _MOST_64)
counts = st.sampled_from([0, 1, 3, _MOST_32])
_within_a_second = st.integers(0, 10**9)
starts = (_within_a_second.map(lambda ns: _SOME_NS - ns) | st.just(1)).map(str)
ends = (_within_a_second.map(lambda ns: _SOME_NS + ns) | st.just(_MOST_64)).map(str)


def _named(name: str, strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """The strategy under a name, so that what is said of one that is made of it stays short."""

    def drawn(draw: st.DrawFn) -> Any:
        return draw(strategy)

    drawn.__name__ = drawn.__qualname__ = name
    return st.composite(drawn)()


def _hex(digits: int) -> st.SearchStrategy[str]:
    return st.integers(1, 16**digits - 1).map(lambda number: f"{number:0{digits}x}")


def _few(items: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[list[Any]]:
    """A list that is seldom empty."""
    some = st.lists(items, min_size=1, max_size=most)
    return st.integers(0, 15).flatmap(lambda n: some if n else st.just([]))


def _listed(values: list[Any]) -> dict[str, Any]:
    return {"arrayValue": {"values": values} if values else {}}


def _mapped(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    return {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in pairs]}}


_finite = st.sampled_from(_DOUBLES_SEEN) | st.floats(allow_nan=False, allow_infinity=False)
_scalars = st.one_of(
    texts.map(lambda value: {"stringValue": value}),
    whole.map(lambda value: {"intValue": str(value)}),
    _finite.map(lambda value: {"doubleValue": value}),
    st.sampled_from(["NaN", "Infinity", "-Infinity"]).map(lambda value: {"doubleValue": value}),
    st.booleans().map(lambda value: {"boolValue": value}),
    st.binary(max_size=4).map(lambda value: {"bytesValue": base64.b64encode(value).decode()}),
    st.just({}),
)


def _around(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    pairs = st.lists(st.tuples(keys, inner), max_size=2, unique_by=lambda pair: pair[0])
    return st.lists(inner, max_size=3).map(_listed) | pairs.map(_mapped)


_any_values = _scalars | _around(_scalars | _around(_scalars))
attributes = _named(
    "attributes",
    st.lists(
        st.fixed_dictionaries({"key": keys, "value": _any_values}), max_size=4, unique_by=lambda pair: pair["key"]
    ),
)
_events = st.fixed_dictionaries(
    {"timeUnixNano": ends, "name": texts}, optional={"attributes": attributes, "droppedAttributesCount": counts}
)
_links = st.fixed_dictionaries(
    {"traceId": _hex(32), "spanId": _hex(16)},
    optional={"traceState": texts, "attributes": attributes, "droppedAttributesCount": counts, "flags": counts},
)
_statuses = st.fixed_dictionaries({}, optional={"message": texts, "code": st.integers(0, 2)})
_spans = _named("spans", st.fixed_dictionaries(
    {"traceId": _hex(32), "spanId": _hex(16), "name": texts, "startTimeUnixNano": starts, "endTimeUnixNano": ends},
    optional={
        "traceState": texts, "parentSpanId": st.just("") | _hex(16), "flags": counts, "kind": st.integers(0, 5),
        "attributes": attributes, "droppedAttributesCount": counts, "events": st.lists(_events, max_size=2),
        "droppedEventsCount": counts, "links": st.lists(_links, max_size=2), "droppedLinksCount": counts, "status": _statuses,
    },
))  # fmt: skip
_scoped = st.fixed_dictionaries(
    {"spans": _few(_spans, 3)},
    optional={"scope": st.fixed_dictionaries({}, optional={"name": texts, "version": texts}), "schemaUrl": texts},
)
_groups = st.fixed_dictionaries(
    {"scopeSpans": _few(_scoped, 2)},
    optional={"resource": st.fixed_dictionaries({}, optional={"attributes": attributes}), "schemaUrl": texts},
)
objects = _named("objects", _few(_groups, 2).map(lambda groups: in_order({"resourceSpans": groups})))


def in_order(value: Any) -> Any:
    """The object with its fields in the order of the messages."""
    if isinstance(value, list):
        return [in_order(item) for item in value]
    if isinstance(value, dict):
        known = sorted(_ORDER, key=lambda key: key == "flags") if "name" not in value else _ORDER  # those of a link
        known = [key for key in known if key in value]
        return {key: in_order(value[key]) for key in [*known, *(key for key in value if key not in _ORDER)]}
    return value


def _document(value: Any, style: Style) -> Document:
    return Document(value, written(value, style))


def _all_of_them() -> dict[str, Any]:
    """A document with every text and number that has been a trap somewhere."""
    values = [
        *({"stringValue": value} for value in _TEXTS), *({"doubleValue": value} for value in _DOUBLES_SEEN),
        *({"intValue": str(value)} for value in _WHOLE_SEEN), {"doubleValue": "NaN"}, {"bytesValue": "AAEC/w=="}, {},
    ]  # fmt: skip
    named = [{"key": f"k{at}", "value": value} for at, value in enumerate(values)]
    span: dict[str, Any] = {
        "traceId": "0" * 31 + "1",
        "spanId": "0" * 15 + "1",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
    }
    spans = [{**span, "name": text, "attributes": [{"key": text, "value": {"intValue": "1"}}]} for text in _TEXTS]
    event = {"timeUnixNano": "1", "name": "e", "attributes": [*named, {"key": "list", "value": _listed(values)}]}
    spans.append({**span, "name": "s", "flags": 257, "attributes": named, "events": [event], "status": {}})
    return {"resourceSpans": [{"resource": {"attributes": named}, "scopeSpans": [{"scope": {}, "spans": spans}]}]}


traps = [
    _document(_all_of_them(), Style(escaped=escaped, doubles=doubles, flags_last=doubles == "python"))
    for escaped in ("least", "ascii", "html", "slash", "every")
    for doubles in sorted(_DOUBLES)
]


canonical = st.builds(_document, objects, styles)


# -- other spellings --------------------------------------------------------------------------------------------------

_IDS = ("traceId", "spanId", "parentSpanId")
_WHOLE = ("startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue")
_NUMBERS = ("droppedAttributesCount", "droppedEventsCount", "droppedLinksCount", "flags", "doubleValue")
_NAMES = {"kind": ("SPAN_KIND_", KINDS), "code": ("STATUS_CODE_", STATUSES)}
_NULLABLE = (
    "name",
    "message",
    "traceState",
    "schemaUrl",
    "version",
    "key",
    "attributes",
    "events",
    "links",
    "spans",
    "values",
    "status",
    "scope",
)


def respelled(value: Any, chance: random.Random, snake: Callable[[str], str]) -> Any:
    """The object in another spelling that protobuf's JSON allows, with fields that it does not know."""
    if isinstance(value, list):
        return [respelled(item, chance, snake) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, inner in value.items():
        new = respelled(inner, chance, snake)
        found[snake(key)] = _otherwise(key, new) if chance.random() < 0.3 else new
    if found and chance.random() < 0.1:
        found[chance.choice(("unknown", "x", "@type"))] = chance.choice((None, 1, "x", [1], {"name": 5}))
    return found


def _otherwise(key: str, value: Any) -> Any:
    if key in _IDS:
        return value.upper()
    if key in _WHOLE:
        return int(value)
    if key in _NUMBERS:
        return str(value)
    if key in _NAMES:
        prefix, names = _NAMES[key]
        return prefix + names[value].upper()
    return None if key in _NULLABLE and not value else value


def _as_it_is(name: str) -> str:
    return name


def _spelling(value: Any, seed: int, snake: bool, style: Style) -> Document:
    chance = random.Random(seed)  # noqa: S311 (repeatable, not secret)
    return _document(respelled(value, chance, snake_case if snake else _as_it_is), style)


spelled_otherwise = st.builds(_spelling, objects, st.integers(0, 2**16), st.booleans(), styles)


# -- odd documents and files -------------------------------------------------------------------------------------------


def mutated(value: Any, changes: list[tuple[str, int]]) -> Any:
    """The object after changes, each a mutation's name with a seed for where and how."""
    changed = copy.deepcopy(value)
    for name, seed in changes:
        changed = MUTATIONS[name](changed, random.Random(seed))  # noqa: S311 (repeatable, not secret)
    return changed


_changes = st.lists(st.tuples(st.sampled_from(sorted(MUTATIONS)), st.integers(0, 2**16)), min_size=1, max_size=3)
odd = st.builds(lambda value, changes, style: _document(mutated(value, changes), style), objects, _changes, styles)

_JUNK = (
    "", " ", "\t\r", "\x00", "{}", "[]", "null", "5", '"text"', "{", "}", "]", "not JSON", '{"resourceSpans": 5}', '{"resourceSpans": [5]}',
    '{"resourceSpans":[]}{"resourceSpans":[]}', '{"resourceSpans":[]},', "[" * 300 + "]" * 300,
)  # fmt: skip
_OTHER_SIGNALS = (
    '{"resourceMetrics": []}', '{"resourceMetrics":[{"scopeMetrics":[]},{}]}', '{"resourceLogs": [{"scopeLogs": []}]}',
    '{"resourceProfiles": [{}]}', '{"resourceMetrics":[{}],"resourceLogs":[{"resource":{}}]}',
)  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    """A line of a file: a document, whole or torn, several, none, or bytes that are no text."""
    how = draw(st.sampled_from(["canonical"] * 7 + ["odd"] * 7 + ["junk", "signals", "several", "torn", "bytes"]))
    if how in ("junk", "signals"):
        return draw(st.sampled_from(_JUNK if how == "junk" else _OTHER_SIGNALS)).encode()
    text = draw(odd if how == "odd" else canonical).text
    if how == "several":
        text += draw(st.sampled_from(["", " ", "\t", "\x00", ","])) + draw(odd | canonical).text
    if how == "torn":
        text = text[: draw(st.integers(1, len(text)))]
    line = text.encode("utf-8", "surrogatepass")
    if how == "bytes":
        at = draw(st.integers(0, len(line)))
        line = (
            line[:at]
            + draw(st.sampled_from([b"\xff", b"\xed\xa0\x80", b"\t", b"\x01", b"\xef\xbb\xbf", b"\x00"]))
            + line[at:]
        )
    return line


files = st.builds(
    lambda found, begin, end, last: begin + end.join(found) + last,
    st.lists(lines(), min_size=1, max_size=5),
    st.sampled_from([b"", b"", b"\xef\xbb\xbf", b"\x00\x00", b"\n"]),
    st.sampled_from([b"\n", b"\n", b"\r\n", b"\n\n"]),
    st.sampled_from([b"\n", b"\n", b"", b"\r\n", b"\n\n"]),
)
