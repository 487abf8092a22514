"""Spans as the collector's file exporter writes them: lines of JSON, or protobuf messages each after its length.

The JSON is put together from one template a shape, which is why it is quick; a test holds it against the protobuf,
which is made by OpenTelemetry's own generated classes. Names, their order, and what is left out when it is empty are
those of the collector's marshaller: ids in hex, 64-bit integers as text, doubles without an exponent or ".0".
"""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Status, TracesData
from opentelemetry.proto.trace.v1.trace_pb2 import Span as Message
from shapes import EXCEPTION, Field, Kind
from spans import grouped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shapes import Resource, Scope, Shape
    from spans import Span

ERROR = 2  # the number of STATUS_CODE_ERROR


# -- JSON --------------------------------------------------------------------------------------------------------------


@lru_cache(4096)
def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


def double_text(value: float) -> str:
    """A finite double with the fewest digits that read back as the same; an exponent only below 1e-6 and from 1e21."""
    text = repr(value)
    if text.endswith(".0"):
        return text[:-2]
    if "e" not in text:
        return text
    # Python's exponents begin at 1e-4 and 1e16.
    return format(Decimal(text), "f") if 1e-6 <= abs(value) < 1e21 else text  # noqa: PLR2004


def _bool_text(value: bool) -> str:
    return "true" if value else "false"


@cache
def _texts_text(values: tuple[str, ...]) -> str:
    return ",".join(f'{{"stringValue":"{_escaped(value)}"}}' for value in values)


_AS_TEXT: dict[Kind, tuple[str, Callable[[Any], str]]] = {
    Kind.TEXT: ('{"stringValue":"%s"}', _escaped),
    Kind.ID: ('{"stringValue":"%s"}', str),
    Kind.INT: ('{"intValue":"%s"}', str),
    Kind.DOUBLE: ('{"doubleValue":%s}', double_text),
    Kind.BOOL: ('{"boolValue":%s}', _bool_text),
    Kind.TEXTS: ('{"arrayValue":{"values":[%s]}}', _texts_text),
}


def _field(field: Field) -> str:
    form, as_text = _AS_TEXT[field.kind]
    if field.constant is not None:
        form = (form % as_text(field.constant)).replace("%", "%%")
    return f'{{"key":"{field.key}","value":{form}}}'


def _fields(fields: Iterable[Field]) -> str:
    return f'"attributes":[{",".join(map(_field, fields))}]'


@cache
def _span_form(shape: Shape) -> tuple[str, tuple[Callable[[Any], str], ...]]:
    """The template of a shape's spans, and how its values become text."""
    parent = "" if shape.root else '"parentSpanId":"%016x",'
    event = f',"events":[{{"timeUnixNano":"%d","name":"exception",{_fields(EXCEPTION)}}}]' if shape.failed else ""
    name = _escaped(shape.name).replace("%", "%%")
    status = f'"code":{ERROR}' if shape.failed else ""
    form = (
        f'{{"traceId":"%032x","spanId":"%016x",{parent}"flags":{shape.flags},"name":"{name}","kind":{shape.kind},'
        f'"startTimeUnixNano":"%d","endTimeUnixNano":"%d",{_fields(shape.fields)}{event},'
        f'"status":{{{status}}}}}'
    )
    return form, tuple(_AS_TEXT[field.kind][1] for field in shape.fields if field.constant is None)


def _span_text(span: Span) -> str:
    shape = span.shape
    form, as_text = _span_form(shape)
    values = [convert(value) for convert, value in zip(as_text, span.values, strict=True)]
    ids = (span.trace_id, span.span_id) if shape.root else (span.trace_id, span.span_id, span.parent_id)
    if span.exception is None:
        return form % (*ids, span.start_ns, span.end_ns, *values)
    return form % (*ids, span.start_ns, span.end_ns, *values, span.end_ns, *map(_escaped, span.exception))


@cache
def _resource_text(resource: Resource) -> str:
    return f'{{"resource":{{{_fields(resource.fields)}}},"scopeSpans":[' % ()


@cache
def _scope_text(scope: Scope) -> tuple[str, str]:
    version = f',"version":"{scope.version}"' if scope.version else ""
    schema = f',"schemaUrl":"{scope.schema_url}"' if scope.schema_url else ""
    return f'{{"scope":{{"name":"{scope.name}"{version}}},"spans":[', f"]{schema}}}"


def json_line(batch: Iterable[Span]) -> str:
    """A batch as one line."""
    resources = []
    for resource, scopes in grouped(batch).items():
        texts = []
        for scope, spans in scopes.items():
            begin, end = _scope_text(scope)
            texts.append(begin + ",".join(map(_span_text, spans)) + end)
        resources.append(_resource_text(resource) + ",".join(texts) + "]}")
    return '{"resourceSpans":[' + ",".join(resources) + "]}\n"


# -- protobuf ----------------------------------------------------------------------------------------------------------


def _set(attribute: KeyValue, kind: Kind, value: Any) -> None:
    if kind is Kind.TEXTS:
        attribute.value.array_value.SetInParent()
        for text in value:
            attribute.value.array_value.values.add(string_value=text)
    else:
        setattr(attribute.value, "string_value" if kind is Kind.ID else kind.value, value)


def _attributes(fields: Iterable[Field]) -> list[KeyValue]:
    made = [KeyValue(key=field.key) for field in fields]
    for attribute, field in zip(made, fields, strict=True):
        if field.constant is not None:
            _set(attribute, field.kind, field.constant)
    return made


@cache
def _prototype(shape: Shape) -> tuple[Message, tuple[tuple[int, Kind], ...]]:
    """A shape's span with its constants, and where its values go."""
    kind = Message.SpanKind.Name(shape.kind)
    made = Message(name=shape.name, kind=kind, flags=shape.flags, attributes=_attributes(shape.fields))
    made.status.SetInParent()
    if shape.failed:
        made.status.code = Status.STATUS_CODE_ERROR
    places = enumerate(shape.fields)
    return made, tuple((place, field.kind) for place, field in places if field.constant is None)


def _fill(message: Message, span: Span) -> None:
    prototype, places = _prototype(span.shape)
    message.CopyFrom(prototype)
    message.trace_id = span.trace_id.to_bytes(16, "big")
    message.span_id = span.span_id.to_bytes(8, "big")
    if not span.shape.root:
        message.parent_span_id = span.parent_id.to_bytes(8, "big")
    message.start_time_unix_nano, message.end_time_unix_nano = span.start_ns, span.end_ns
    attributes = message.attributes
    for (place, kind), value in zip(places, span.values, strict=True):
        _set(attributes[place], kind, value)
    if span.exception is not None:
        event = message.events.add(time_unix_nano=span.end_ns, name="exception", attributes=_attributes(EXCEPTION))
        for attribute, text in zip(event.attributes, span.exception, strict=True):
            attribute.value.string_value = text


def message(batch: Iterable[Span]) -> TracesData:
    """A batch as one message."""
    data = TracesData()
    for resource, scopes in grouped(batch).items():
        group: ResourceSpans = data.resource_spans.add()
        group.resource.attributes.extend(_attributes(resource.fields))
        for scope, spans in scopes.items():
            scoped: ScopeSpans = group.scope_spans.add(schema_url=scope.schema_url)
            scoped.scope.name, scoped.scope.version = scope.name, scope.version
            for span in spans:
                _fill(scoped.spans.add(), span)
    return data


def prefixed(batch: Iterable[Span]) -> bytes:
    """A batch as one message after its length of four bytes, the most significant first."""
    body: bytes = message(batch).SerializeToString()
    return len(body).to_bytes(4, "big") + body
