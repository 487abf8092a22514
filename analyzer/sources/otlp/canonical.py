"""OTLP/JSON in canonical form: what it looks like, and the SQL that makes rows of whole blocks of its lines.

Canonical is what the collector and protobuf's own JSON writers write: fields in the order of the message, ids in
lower-case hex, times as digits in text, attributes of plain values or lists of them. Anything else is left to the
reader that takes record by record, so every pattern here may be too narrow and none may be too wide.

The database's own JSON reader takes more than JSON is (commas too many, any spelling of NaN), passes over what it does
not look for, and of a key that stands twice it takes the first. So a line counts only when what was found in it is,
byte for byte, all there is in it, and a span only when its text, written anew by the database, matches a pattern whole.
"""

from __future__ import annotations

from analyzer.sources.otlp.staged import BY_SHAPE, ODD_LINES, named
from analyzer.sources.span_values import KINDS, STATUSES

# The least depth that a line may be nested to for whole columns to be worth it, and what lies above a span of it.
LEAST_DEPTH, ABOVE_SPAN = 64, 8

_STRING = r'"(?:[^"\\]|\\.)*"'
_TIME = r'"[1-9][0-9]{0,18}"'
_COUNT = r"[0-9]{1,9}"
_INTEGER = r'"(?:0|-?[1-9][0-9]{0,17})"'
# As the database writes numbers: a whole one of more digits, or an exponent of more, is read the careful way.
_DOUBLE = r"(?:0|-?[1-9][0-9]{0,14}|-?[0-9]+\.[0-9]+(?:e-?[0-9]{1,2})?|-?[0-9]+e-?[0-9]{1,2})"
_PLAIN = (
    rf'"(?:stringValue":{_STRING}|intValue":{_INTEGER}|doubleValue":{_DOUBLE}|boolValue":(?:true|false)'
    rf'|bytesValue":"[A-Za-z0-9+/=]*")'
)


def _list(item: str) -> str:
    # The text is JSON already: commas stand where they must.
    return rf"\[(?:{item},?)*\]"


def _maybe(field: str) -> str:
    return rf"(?:,{field})?"


_PLAIN_OBJECT = rf"\{{{_PLAIN}\}}"
_VALUE = rf'\{{(?:{_PLAIN}|"arrayValue":\{{"values":{_list(_PLAIN_OBJECT)}\}})\}}'
_ATTRIBUTE = rf'\{{"key":{_STRING},"value":{_VALUE}\}}'
_ATTRIBUTES = rf'"attributes":{_list(_ATTRIBUTE)}'
_DROPPED = rf'"droppedAttributesCount":{_COUNT}'
_EVENT = rf'\{{"timeUnixNano":{_TIME},"name":{_STRING}{_maybe(_ATTRIBUTES)}{_maybe(_DROPPED)}\}}'
_STATUS = rf'"status":\{{(?:"message":{_STRING},?)?(?:"code":(?:[0-2]|"STATUS_CODE_(?:UNSET|OK|ERROR)"))?\}}'
_KIND = r'"kind":(?:[0-5]|"SPAN_KIND_(?:UNSPECIFIED|INTERNAL|SERVER|CLIENT|PRODUCER|CONSUMER)")'
_FLAGS = r'"flags":[0-9]{1,10}'


def _span(early: str, late: str) -> str:
    """A span's fields in the order of the message; its flags stand early in Go's order, late in that of the numbers."""
    return (
        r'\{"traceId":"[0-9a-f]{32}","spanId":"[0-9a-f]{16}"'
        + _maybe(rf'"traceState":{_STRING}')
        + _maybe(r'"parentSpanId":"(?:[0-9a-f]{16})?"')
        + early
        + rf',"name":{_STRING},{_KIND},"startTimeUnixNano":{_TIME},"endTimeUnixNano":{_TIME}'
        + _maybe(_ATTRIBUTES)
        + _maybe(rf'"droppedAttributesCount":{_COUNT}')
        + _maybe(rf'"events":{_list(_EVENT)}')
        + _maybe(rf'"droppedEventsCount":{_COUNT}')
        + _maybe(r'"links":\[\]')
        + _maybe(rf'"droppedLinksCount":{_COUNT}')
        + _maybe(_STATUS)
        + late
        + r"\}"
    )


SPAN = rf"{_span(_maybe(_FLAGS), '')}|{_span('', ',' + _FLAGS)}"

_PLAIN_TYPES = (
    '"stringValue": "JSON", "intValue": "VARCHAR", "doubleValue": "JSON", "boolValue": "JSON", "bytesValue": "JSON"'
)
_ATTRIBUTE_TYPES = f'[{{"key": "JSON", "value": {{{_PLAIN_TYPES}, "arrayValue": {{"values": [{{{_PLAIN_TYPES}}}]}}}}}}]'
_SPAN_TYPES = f"""{{
  "traceId": "VARCHAR", "spanId": "VARCHAR", "traceState": "VARCHAR", "parentSpanId": "VARCHAR", "flags": "BIGINT",
  "name": "VARCHAR", "kind": "VARCHAR", "startTimeUnixNano": "VARCHAR", "endTimeUnixNano": "VARCHAR",
  "attributes": {_ATTRIBUTE_TYPES}, "droppedAttributesCount": "BIGINT",
  "events": [{{"timeUnixNano": "VARCHAR", "name": "JSON", "attributes": {_ATTRIBUTE_TYPES},
    "droppedAttributesCount": "BIGINT"}}], "droppedEventsCount": "BIGINT", "droppedLinksCount": "BIGINT",
  "status": {{"message": "VARCHAR", "code": "VARCHAR"}}
}}"""
_LINE_TYPES = """{"resourceSpans": [{"resource": "JSON", "schemaUrl": "JSON",
  "scopeSpans": [{"scope": "JSON", "spans": ["JSON"], "schemaUrl": "JSON"}]}]}"""


def _double(value: str) -> str:
    # A whole double is written without its fraction by some, and is a double all the same.
    return f"CASE WHEN contains({value}, '.') OR contains({value}, 'e') THEN {value} ELSE {value} || '.0' END"


def _plain_value(value: str) -> str:
    return (
        f"coalesce({value}.stringValue, {value}.intValue, {_double(f'{value}.doubleValue')}, {value}.boolValue,"
        f" {value}.bytesValue)"
    )


def _object(attributes: str) -> str:
    """Attributes as the text of one JSON object."""
    listed = f"array_to_string(list_transform(a.value.arrayValue.values, lambda i: {_plain_value('i')}), ',')"
    value = f"coalesce({_plain_value('a.value')}, '[' || coalesce({listed}, '') || ']')"
    pairs = f"list_transform({attributes}, lambda a: a.key || ':' || {value})"
    return f"'{{' || coalesce(array_to_string({pairs}, ','), '') || '}}'"


def _keys(attributes: str) -> str:
    """The keys of attributes as the text of one JSON list."""
    return f"'[' || coalesce(array_to_string(list_transform({attributes}, lambda a: a.key), ','), '') || ']'"


_EVENTS = f"""
'[' || array_to_string(list_transform(s.events, lambda e:
  '{{"name":' || e.name || ',"time_ns":' || e.timeUnixNano || ',"attributes":' || {_object("e.attributes")}
  || CASE WHEN e.droppedAttributesCount > 0 THEN ',"dropped_attributes":' || e.droppedAttributesCount ELSE '' END
  || '}}'), ',') || ']'"""

_EVENT_KEYS = f"nullif(array_to_string(list_transform(s.events, lambda e: {_keys('e.attributes')}), ','), '')"


def _part(before: str, listed: str, within: str, after: str) -> str:
    """An object of one list, which is not empty, with a field before and one after it that may be missing."""
    begin = f"CASE WHEN {before} IS NOT NULL THEN concat('\"{before.partition('.')[2]}\":', {before}, ',') END"
    end = f"CASE WHEN {after} IS NOT NULL THEN concat(',\"{after.partition('.')[2]}\":', {after}) END"
    name = listed.partition(".")[2]
    return (
        f"CASE WHEN len({listed}) > 0 THEN"
        f" concat('{{', {begin}, '\"{name}\":[', array_to_string({within}, ','), ']', {end}, '}}') END"
    )


_SCOPE_TEXT = _part("c.scope", "c.spans", "c.spans", "c.schemaUrl")
_GROUP_TEXT = _part(
    "g.resource", "g.scopeSpans", f"list_transform(g.scopeSpans, lambda c: {_SCOPE_TEXT})", "g.schemaUrl"
)
# The text of a line that holds what was found in it, with spans in every part of it, and nothing else.
_REBUILT = (
    "concat('{\"resourceSpans\":[',"
    f" array_to_string(list_transform(d.resourceSpans, lambda g: {_GROUP_TEXT}), ','), ']}}')"
)


# Commas too many, and numbers without end or that are none, as far as they stand outside of texts.
_LAX = r",\s*[}\]]|[:,\[]\s*-?(?:[iI]|[nN][aA])"
_WITHOUT_END = r"[:,\[]-?(?:NaN|Infinity)"


def stage(max_depth: int, lines: str = "input", *, every_text: bool = False) -> str:
    """A SELECT over lines (position, line): a row for each span, and one for each line that is not canonical.

    Where `canonical` holds the columns are those of the table span; `keys` holds the keys of the attributes, a list for
    the span and one for each event; `odd_text` is the text of the other spans, or of every one. `line_odd` marks lines
    that are to be read anew from their own text.
    """
    odd_text = "text" if every_text else "CASE WHEN NOT canonical THEN text END"
    return f"""
WITH found AS (
  SELECT position, line, TRY(from_json(line, '{_LINE_TYPES}')) AS d FROM {lines}
), held AS (
  SELECT position, line, d, {_REBUILT} AS rebuilt FROM found
), whole AS (
  SELECT position, d, coalesce(
    CASE WHEN line = rebuilt THEN true WHEN d IS NULL THEN false
      ELSE json(CASE WHEN NOT regexp_matches(line, '{_LAX}') THEN line END) = rebuilt END,
    false) AS whole
  FROM held
), resource AS (
  SELECT position, whole, unnest(CASE WHEN whole THEN d.resourceSpans ELSE [NULL] END) AS g FROM whole
), scoped AS (
  SELECT position, whole, g.resource AS resource, unnest(CASE WHEN whole THEN g.scopeSpans ELSE [NULL] END) AS c
  FROM resource
), spanned AS (
  SELECT position, whole, coalesce(resource::VARCHAR, '') AS resource, coalesce(c.scope::VARCHAR, '') AS scope,
    unnest(CASE WHEN whole THEN c.spans ELSE [NULL] END)::VARCHAR AS text
  FROM scoped
), parsed AS (
  SELECT *, from_json(CASE WHEN regexp_full_match(text, '{SPAN}') THEN text END, '{_SPAN_TYPES}') AS s
  FROM spanned
)
SELECT
  position, resource, scope,
  '[' || concat_ws(',', {_keys("s.attributes")}, {_EVENT_KEYS}) || ']' AS keys,
  s.traceId AS trace_id, s.spanId AS span_id, nullif(nullif(s.parentSpanId, ''), repeat('0', 16)) AS parent_span_id,
  s.name AS name,
  {named("s.kind", KINDS, "SPAN_KIND_")} AS kind,
  {named("s.status.code", STATUSES, "STATUS_CODE_")} AS status,
  nullif(s.status.message, '') AS status_message,
  TRY_CAST(s.startTimeUnixNano AS BIGINT) AS start_ns, TRY_CAST(s.endTimeUnixNano AS BIGINT) AS end_ns,
  {_object("s.attributes")} AS attributes,
  CASE WHEN len(s.events) > 0 THEN {_EVENTS} END AS events,
  nullif(s.traceState, '') AS trace_state, nullif(s.flags, 0) AS flags,
  nullif(s.droppedAttributesCount, 0) AS dropped_attributes, nullif(s.droppedEventsCount, 0) AS dropped_events,
  nullif(s.droppedLinksCount, 0) AS dropped_links,
  coalesce(s.traceId <> repeat('0', 32) AND s.spanId <> repeat('0', 16) AND start_ns <= end_ns, false) AS canonical,
  {odd_text} AS odd_text,
  CASE WHEN canonical THEN false WHEN NOT whole THEN true ELSE regexp_matches(text, '{_WITHOUT_END}')
    OR strlen(replace(replace(text, '{{', ''), '[', '')) < strlen(text) - {max_depth - ABOVE_SPAN} END AS line_odd
FROM parsed
"""


def left(max_depth: int) -> str:
    """A SELECT over `input`, `staged` and `judged`: lines, and spans with what is around them, that were not taken."""
    lines = f"""(SELECT position, line FROM input WHERE position IN (
      SELECT position FROM staged JOIN {BY_SHAPE} WHERE staged.canonical AND NOT j.kept))"""
    # Materialised, because conditions on what is read of a span would each read it anew.
    return f"""
WITH odd AS (SELECT DISTINCT position FROM ({ODD_LINES})),
again AS MATERIALIZED ({stage(max_depth, lines, every_text=True)})
SELECT position, NULL::VARCHAR AS resource, NULL::VARCHAR AS scope, NULL::VARCHAR AS text FROM odd
UNION ALL
SELECT position, resource, scope, odd_text FROM staged
WHERE NOT canonical AND position NOT IN (SELECT position FROM odd)
UNION ALL
SELECT position, resource, scope, odd_text FROM again JOIN {BY_SHAPE}
WHERE canonical AND NOT j.kept AND position NOT IN (SELECT position FROM odd)
ORDER BY position
"""
