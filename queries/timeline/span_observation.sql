-- Views of attempts that spans give: one row per engine span, client span, and gateway request.
CREATE TABLE span_observation AS
WITH ranked AS (
  SELECT
    r.*,
    bool_or(looks = 'http') OVER (
      PARTITION BY run, trace_id, clock, coalesce(service, '')
    ) AS has_http
  FROM span_role AS r
  WHERE role IS NOT NULL
), enclosing AS (
  SELECT
    c.run, c.trace_id, c.span_id,
    max(coalesce(attribute(p.attributes, 'client.request.id'), attribute(p.attributes, 'request.id'))) AS request_id,
    max(TRY_CAST(attribute(p.attributes, 'deadline_ms') AS DOUBLE)) AS deadline_ms
  FROM ranked AS c
  JOIN span AS p ON p.run = c.run AND p.trace_id = c.trace_id AND p.span_id = c.parent_span_id
    AND p.clock = c.clock AND p.service IS NOT DISTINCT FROM c.service
  WHERE c.role = 'client'
  GROUP BY ALL
), named AS (
  SELECT
    s.run, s.trace_id, s.span_id, t.position, attribute(s.attributes, t.key) AS tenant, s.clock, s.service
  FROM span_role AS s
  JOIN tenant_key AS t ON t.run = s.run
  WHERE s.of_request AND nullif(attribute(s.attributes, t.key), '') IS NOT NULL
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
  'span:' || s.trace_id || '/' || s.span_id AS observation_id,
  s.run,
  s.role AS side,
  s.source_file,
  s.trace_id, s.span_id, s.parent_span_id, s.clock, s.service, s.start_ns,
  CASE WHEN s.end_ns >= s.start_ns THEN s.end_ns END AS end_ns,
  s.end_ns IS NOT NULL AS ended,
  s.status,
  coalesce(attribute(s.attributes, 'client.request.id'), attribute(s.attributes, 'x_request_id'),
           attribute(s.attributes, 'http.request.header.x-request-id'), e.request_id) AS request_id,
  CASE s.role WHEN 'engine' THEN attribute(s.attributes, 'gen_ai.request.id')
       ELSE attribute(s.attributes, 'gen_ai.response.id') END AS response_id,
  coalesce(o.tenant, t.tenant) AS tenant,
  coalesce(attribute(s.attributes, 'gen_ai.response.model'), attribute(s.attributes, 'gen_ai.request.model')) AS model,
  CASE WHEN s.looks = 'http' THEN attribute(s.attributes, 'http.route') END AS route,
  TRY_CAST(coalesce(attribute(s.attributes, 'http.response.status_code'),
                    attribute(s.attributes, 'http.status_code')) AS INTEGER) AS status_code,
  attribute(s.attributes, 'error.type') AS error_type,
  coalesce(TRY_CAST(attribute(s.attributes, 'deadline_ms') AS DOUBLE), e.deadline_ms) AS deadline_ms,
  TRY_CAST(coalesce(attribute(s.attributes, 'gen_ai.usage.input_tokens'),
                    attribute(s.attributes, 'gen_ai.usage.prompt_tokens')) AS BIGINT) AS input_tokens,
  TRY_CAST(coalesce(attribute(s.attributes, 'gen_ai.usage.output_tokens'),
                    attribute(s.attributes, 'gen_ai.usage.completion_tokens')) AS BIGINT) AS output_tokens,
  TRY_CAST(attribute(s.attributes, 'gen_ai.usage.reasoning.output_tokens') AS BIGINT) AS reasoning_tokens,
  TRY_CAST(coalesce(attribute(s.attributes, 'gen_ai.usage.cache_read.input_tokens'),
                    attribute(s.attributes, 'gen_ai.usage.cached_tokens')) AS BIGINT) AS cached_tokens,
  TRY_CAST(attribute(s.attributes, 'gen_ai.request.stream') AS BOOLEAN) AS streamed,
  attribute(s.attributes, 'gen_ai.latency.time_to_first_token') AS ttft_text,
  attribute(s.attributes, 'gen_ai.latency.time_in_queue') AS queue_text,
  attribute(s.attributes, 'gen_ai.latency.time_in_model_prefill') AS prefill_text,
  attribute(s.attributes, 'gen_ai.latency.time_in_model_decode') AS decode_text
FROM ranked AS s
LEFT JOIN enclosing AS e ON e.run = s.run AND e.trace_id = s.trace_id AND e.span_id = s.span_id
LEFT JOIN own_tenant AS o ON o.run = s.run AND o.trace_id = s.trace_id AND o.span_id = s.span_id
LEFT JOIN trace_tenant AS t ON t.run = s.run AND t.trace_id = s.trace_id
-- A gateway writes an HTTP server span and its own one for the same request: the HTTP span saw it whole.
WHERE NOT (s.looks = 'proxy' AND s.has_http)
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
