-- Views of attempts that spans give: one row per engine span, client span, and gateway request.
CREATE TABLE span_observation AS
WITH ranked AS (
  SELECT
    r.*,
    bool_or(looks = 'http') OVER (
      PARTITION BY run, trace_id, clock, coalesce(service, '')
    ) AS has_http,
    bool_or(looks = 'engine') OVER (
      PARTITION BY run, trace_id, clock, coalesce(service, '')
    ) AS has_engine
  FROM span_role AS r
  WHERE role IS NOT NULL
), enclosing AS (
  SELECT
    c.run, c.trace_id, c.span_id, max(p.enclosing_request_id) AS request_id, max(p.deadline_ms) AS deadline_ms
  FROM ranked AS c
  JOIN span_attribute AS p ON p.run = c.run AND p.trace_id = c.trace_id AND p.span_id = c.parent_span_id
    AND p.clock = c.clock AND p.service IS NOT DISTINCT FROM c.service
  WHERE c.role = 'client'
  GROUP BY ALL
), named AS (
  SELECT s.run, s.trace_id, s.span_id, t.position, attribute(s.attributes, t.key) AS tenant
  FROM span AS s
  JOIN request_trace AS r ON r.run = s.run AND r.trace_id = s.trace_id
  JOIN tenant_key AS t ON t.run = s.run
  -- Looking for the bare key first spares parsing the attributes of spans that do not have it.
  WHERE contains(s.attributes::VARCHAR, t.key) AND nullif(attribute(s.attributes, t.key), '') IS NOT NULL
), own_tenant AS (
  SELECT run, trace_id, span_id, arg_min(tenant, position) AS tenant FROM named GROUP BY ALL
), trace_tenant AS (
  SELECT run, trace_id, min(tenant) AS tenant
  FROM (
    SELECT run, trace_id, tenant, position,
      min(position) OVER (PARTITION BY run, trace_id) AS first_position
    FROM named
  )
  WHERE position = first_position
  GROUP BY run, trace_id
  HAVING count(DISTINCT tenant) = 1
)
SELECT
  s.run || ' span:' || s.trace_id || '/' || s.span_id || '/' || s.kind AS observation_id,
  s.run,
  s.role AS side,
  s.source_file,
  s.trace_id, s.span_id, s.parent_span_id, s.clock, s.service, s.start_ns,
  CASE WHEN s.end_ns >= s.start_ns THEN s.end_ns END AS end_ns,
  s.end_ns IS NOT NULL AS ended,
  s.status,
  coalesce(s.request_id, e.request_id) AS request_id,
  CASE s.role WHEN 'engine' THEN s.engine_request_id ELSE s.model_response_id END AS response_id,
  coalesce(o.tenant, t.tenant) AS tenant,
  s.model, CASE WHEN s.looks = 'http' THEN s.route END AS route, s.status_code, s.error_type,
  coalesce(s.deadline_ms, e.deadline_ms) AS deadline_ms,
  s.input_tokens, s.output_tokens, s.reasoning_tokens, s.cached_tokens, s.streamed,
  s.ttft_text, s.queue_text, s.prefill_text, s.decode_text
FROM ranked AS s
LEFT JOIN enclosing AS e ON e.run = s.run AND e.trace_id = s.trace_id AND e.span_id = s.span_id
LEFT JOIN own_tenant AS o ON o.run = s.run AND o.trace_id = s.trace_id AND o.span_id = s.span_id
LEFT JOIN trace_tenant AS t ON t.run = s.run AND t.trace_id = s.trace_id
-- A gateway writes an HTTP server span and its own one for the same request: the HTTP span saw it whole.
WHERE NOT (s.looks = 'proxy' AND s.has_http)
  AND NOT (s.role = 'engine' AND s.looks = 'http' AND s.has_engine)
  -- A framework's span around the client library's own: the inner one made the call.
  AND NOT (s.role = 'client' AND EXISTS (
    SELECT 1 FROM ranked AS i
    WHERE i.run = s.run AND i.trace_id = s.trace_id AND i.parent_span_id = s.span_id AND i.role = 'client'
      AND i.clock = s.clock AND i.service IS NOT DISTINCT FROM s.service));

COMMENT ON TABLE span_observation IS 'One row per attempt and side that a span saw; numbers of the engine stay text until they are checked';
COMMENT ON COLUMN span_observation.service IS 'The span''s service.name';
COMMENT ON COLUMN span_observation.start_ns IS 'Span start as the producer wrote it';
COMMENT ON COLUMN span_observation.end_ns IS 'Span end; NULL when it is missing or before the start';
COMMENT ON COLUMN span_observation.ended IS 'The span has an end, even one before its start';
COMMENT ON COLUMN span_observation.status IS 'Span status: unset, ok or error';
COMMENT ON COLUMN span_observation.ttft_text IS 'gen_ai.latency.time_to_first_token as written, seconds';
COMMENT ON COLUMN span_observation.queue_text IS 'gen_ai.latency.time_in_queue as written, seconds';
COMMENT ON COLUMN span_observation.prefill_text IS 'gen_ai.latency.time_in_model_prefill as written, seconds';
COMMENT ON COLUMN span_observation.decode_text IS 'gen_ai.latency.time_in_model_decode as written, seconds';
