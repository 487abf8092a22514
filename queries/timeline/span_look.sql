-- Spans that a rule is about, with the first rule that fits and the facts and durations that it reads.
CREATE TABLE span_look AS
WITH shape AS (
  SELECT DISTINCT kind, scope FROM span
), candidate AS (
  SELECT s.kind AS its_kind, s.scope AS its_scope, p.*
  FROM shape AS s
  JOIN span_pattern AS p ON (p.kind IS NULL OR p.kind = s.kind) AND (p.scope IS NULL OR s.scope LIKE p.scope ESCAPE '\')
), possible AS (
  -- Looking for the bare key first spares parsing the attributes of spans that do not have it.
  SELECT s.rowid AS id, c.rule, c.place, c.equal_place, c.equal_value, c.path
  FROM span AS s
  JOIN candidate AS c ON c.its_kind = s.kind AND c.its_scope IS NOT DISTINCT FROM s.scope
  WHERE (c.span IS NULL OR s.name LIKE c.span ESCAPE '\')
    AND (c.attribute IS NULL OR contains(s.attributes::VARCHAR, c.attribute))
    AND (c.equal_key IS NULL OR contains(s.attributes::VARCHAR, c.equal_key))
), read AS MATERIALIZED (
  SELECT s.rowid AS id, span_texts(s.attributes) AS v
  FROM span AS s
  WHERE s.rowid IN (SELECT id FROM possible)
), matched AS (
  SELECT p.id, min(p.rule) AS rule
  FROM possible AS p
  JOIN read AS r ON r.id = p.id
  WHERE (p.place IS NULL OR r.v[p.place] IS NOT NULL)
    AND (p.equal_place IS NULL OR r.v[p.equal_place] LIKE p.equal_value ESCAPE '\')
    AND (p.path IS NULL OR span_path(r.v) LIKE p.path ESCAPE '\')
  GROUP BY p.id
), told AS (
  SELECT m.rule, s.*, span_path(r.v) AS path, rule_facts(m.rule, r.v) AS f, r.v
  FROM matched AS m
  JOIN read AS r ON r.id = m.id
  JOIN span AS s ON s.rowid = m.id
)
SELECT
  t.run, t.trace_id, t.span_id, t.parent_span_id, t.name, t.kind, t.service, t.scope, t.start_ns, t.end_ns, t.status,
  t.clock, t.source_file, t.rule, u.looks, u.always_tries, u.control,
  coalesce(t.path, '') AS path, t.f['route'] AS route,
  t.f['request_id'] AS request_id, t.f['enclosing_request_id'] AS enclosing_request_id,
  t.f['engine_request_id'] AS engine_request_id, t.f['response_id'] AS model_response_id, t.f['model'] AS model,
  TRY_CAST(t.f['status_code'] AS INTEGER) AS status_code,
  -- An exception that the span recorded names the error where no attribute does.
  coalesce(t.f['error_type'], CASE WHEN t.status = 'error' THEN
    nullif(json_extract_string(t.events, '$[#-1].attributes."exception.type"'), '') END) AS error_type,
  TRY_CAST(t.f['deadline_ms'] AS DOUBLE) AS deadline_ms,
  TRY_CAST(t.f['input_tokens'] AS BIGINT) AS input_tokens, TRY_CAST(t.f['output_tokens'] AS BIGINT) AS output_tokens,
  TRY_CAST(t.f['reasoning_tokens'] AS BIGINT) AS reasoning_tokens, TRY_CAST(t.f['cached_tokens'] AS BIGINT) AS cached_tokens,
  TRY_CAST(lower(t.f['streamed']) AS BOOLEAN) AS streamed,
  -- One reason, a list of them, or a list as text.
  nullif(regexp_extract(t.f['stop_reason'], '^\[?\s*"?([^",\]]*)', 1), '') AS stop_reason,
  TRY_CAST(t.f['resend_count'] AS INTEGER) AS resend_count,
  t.f['host'] AS host, t.f['room'] AS room, t.f['worker'] AS worker,
  rule_whole(t.rule, t.f) AS whole,
  EXISTS (SELECT 1 FROM span_event_edge AS x WHERE x.rule = t.rule AND contains(t.events::VARCHAR, '"' || x.event || '"')) AS has_chunk,
  rule_durations(t.rule, t.v, TRY_CAST(t.f['output_tokens'] AS BIGINT) <= 1) AS durations
FROM told AS t
JOIN span_rule AS u ON u.rule = t.rule;

COMMENT ON TABLE span_look IS 'One row per span that a rule is about, with what the rule reads of it';
COMMENT ON COLUMN span_look.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_look.request_id IS 'Request id that the span carries';
