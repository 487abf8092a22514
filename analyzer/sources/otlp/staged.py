"""SQL over spans that were read as whole columns (`staged`) and what was judged of their kinds (`judged`)."""

from __future__ import annotations

from analyzer.sources.quoting import sql_text

# What the columns of a canonical span are called, apart from those that its resource, scope and file give it.
_OWN = (
    "trace_id", "span_id", "parent_span_id", "name", "kind", "status", "status_message", "start_ns", "end_ns",
    "attributes", "events", "trace_state", "flags", "dropped_attributes", "dropped_events", "dropped_links", "position",
)  # fmt: skip
# The kinds of rows that differ in more than numbers and texts; which of them are to be kept is not for SQL to say.
SHAPES = "SELECT DISTINCT resource, scope, keys FROM staged WHERE NOT line_odd"
BY_SHAPE = "judged AS j USING (resource, scope, keys)"
ODD_LINES = f"SELECT position FROM staged LEFT JOIN {BY_SHAPE} WHERE staged.line_odd OR j.envelope_odd"
_TAKEN = f"FROM staged AS s JOIN {BY_SHAPE} WHERE s.canonical AND j.kept AND s.position NOT IN ({ODD_LINES})"
COUNTS = f"SELECT count(*) AS spans, coalesce(sum(j.dropped), 0)::BIGINT AS dropped {_TAKEN}"
# What is left out is taken out of the JSON that is there: a patch says null of it.
_LEFT_OUT = {
    "attributes": "CASE WHEN j.patch IS NULL THEN s.attributes ELSE json_merge_patch(s.attributes, j.patch) END",
    "events": """CASE WHEN j.event_patch IS NULL OR s.events IS NULL THEN s.events
  ELSE '[' || array_to_string(list_transform(from_json(s.events, '["JSON"]'),
    lambda e: json_merge_patch(e, j.event_patch)::VARCHAR), ',') || ']' END""",
}


def taken(run: str, label: str) -> str:
    """A SELECT over `staged` and `judged`: rows of the table span."""
    own = ", ".join(f"{_LEFT_OUT[name]} AS {name}" if name in _LEFT_OUT else f"s.{name}" for name in _OWN)
    return f"""
SELECT {own}, j.scope_name AS scope, j.scope_version,
  json(j.resource_attributes) AS resource, j.clock, j.service, {sql_text(run)} AS run, {sql_text(label)} AS source_file
{_TAKEN}
"""


def named(value: str, names: tuple[str, ...], prefix: str) -> str:
    """An enum, by number or by name with this prefix, as its lower-case name."""
    cases = " ".join(f"WHEN '{number}' THEN '{name}'" for number, name in enumerate(names))
    return f"CASE coalesce({value}, '0') {cases} ELSE lower(replace({value}, '{prefix}', '')) END"
