-- Views of attempts that spans give: one row per engine span, client span, gateway request, and try that is an attempt.
CREATE TABLE span_observation AS
WITH enclosing AS (
  SELECT
    c.run, c.trace_id, c.span_id, max(p.enclosing_request_id) AS request_id, max(p.deadline_ms) AS deadline_ms
  FROM span_view AS c
  JOIN span_role AS p ON p.run = c.run AND p.trace_id = c.trace_id AND p.span_id = c.parent_span_id
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
), part AS (
  -- What the parts of a request know of it; of its end the part that ended last.
  SELECT
    run, trace_id, view_span_id, view_kind,
    min(request_id) AS request_id, min(engine_request_id) AS engine_request_id, arg_max(model, end_ns) AS model,
    arg_max(input_tokens, end_ns) AS input_tokens, arg_max(output_tokens, end_ns) AS output_tokens,
    arg_max(reasoning_tokens, end_ns) AS reasoning_tokens, arg_max(cached_tokens, end_ns) AS cached_tokens,
    bool_or(streamed) AS streamed, min(room) AS room,
    arg_max({'status': status, 'code': status_code, 'error': error_type}, {'end': end_ns, 'told': error_type IS NOT NULL}) AS ended
  FROM span_inside
  WHERE looks = 'part' AND view_span_id IS NOT NULL
  GROUP BY run, trace_id, view_span_id, view_kind
), last_try AS (
  SELECT run, trace_id, view_span_id, view_kind, span_id AS try_span_id,
    CASE WHEN splits THEN start_ns END AS try_start_ns, CASE WHEN splits THEN tries ELSE 1 END AS tries
  FROM span_try
  WHERE view_span_id IS NOT NULL AND number = tries
), viewed AS (
  SELECT
    s.*, NULL::VARCHAR AS tried_in, l.try_span_id, l.try_start_ns, coalesce(l.tries, 1) AS try_number,
    NULL::BIGINT AS sent_ns, p.request_id AS part_request_id, p.engine_request_id AS part_engine_request_id, p.model AS part_model,
    p.input_tokens AS part_input_tokens, p.output_tokens AS part_output_tokens, p.reasoning_tokens AS part_reasoning_tokens,
    p.cached_tokens AS part_cached_tokens, p.streamed AS part_streamed, p.room AS part_room, p.ended AS part_ended
  FROM span_view AS s
  LEFT JOIN last_try AS l ON l.run = s.run AND l.trace_id = s.trace_id AND l.view_span_id = s.span_id AND l.view_kind = s.kind
  LEFT JOIN part AS p ON p.run = s.run AND p.trace_id = s.trace_id AND p.view_span_id = s.span_id AND p.view_kind = s.kind
  UNION ALL BY NAME
  -- Earlier tries, and tries that no view is around: of a client, each its own view.
  SELECT
    t.* EXCLUDE (view_span_id, view_kind, number, tries, first_span_id, splits, role),
    coalesce(v.role, 'client') AS role,
    CASE WHEN v.span_id IS NOT NULL THEN v.run || ' span:' || v.trace_id || '/' || v.span_id || '/' || v.kind
         WHEN t.splits AND t.number < t.tries THEN t.run || ' span:' || t.trace_id || '/' || z.span_id || '/' || z.kind END AS tried_in,
    CASE WHEN t.splits THEN t.number ELSE 1 END AS try_number,
    -- What the library did before its first try is part of that try.
    CASE WHEN v.role = 'client' AND t.number = 1 THEN v.start_ns END AS sent_ns
  FROM span_try AS t
  LEFT JOIN span_view AS v ON v.run = t.run AND v.trace_id = t.trace_id AND v.span_id = t.view_span_id AND v.kind = t.view_kind
  LEFT JOIN span_try AS z ON z.run = t.run AND z.trace_id = t.trace_id AND z.first_span_id = t.first_span_id AND z.number = z.tries
    AND z.view_span_id IS NULL AND t.view_span_id IS NULL
  WHERE (v.span_id IS NOT NULL AND t.splits AND t.number < t.tries)
    OR (t.view_span_id IS NULL AND t.looks = 'try' AND NOT t.in_gateway)
)
SELECT
  s.run || ' span:' || s.trace_id || '/' || s.span_id || '/' || s.kind AS observation_id,
  s.run,
  s.role AS side,
  s.source_file,
  s.trace_id, s.span_id, s.parent_span_id, s.clock, s.service, s.rule, s.looks, s.start_ns,
  CASE WHEN s.end_ns >= s.start_ns THEN s.end_ns END AS end_ns,
  s.end_ns IS NOT NULL AS ended,
  CASE WHEN s.looks <> 'http' AND s.part_ended['status'] = 'error' THEN 'error' ELSE s.status END AS status,
  coalesce(s.request_id, e.request_id, s.part_request_id) AS request_id,
  CASE s.role WHEN 'engine' THEN coalesce(s.engine_request_id, s.part_engine_request_id) ELSE s.model_response_id END AS response_id,
  coalesce(o.tenant, t.tenant) AS tenant,
  coalesce(s.model, s.part_model) AS model, CASE WHEN s.looks = 'http' THEN s.route END AS route,
  coalesce(s.status_code, s.part_ended['code']) AS status_code,
  coalesce(s.error_type, CASE WHEN s.part_ended['status'] = 'error' AND s.looks <> 'http' OR s.status_code >= 400 OR s.status = 'error' THEN s.part_ended['error'] END) AS error_type,
  coalesce(s.deadline_ms, e.deadline_ms) AS deadline_ms,
  coalesce(s.input_tokens, s.part_input_tokens) AS input_tokens, coalesce(s.output_tokens, s.part_output_tokens) AS output_tokens,
  coalesce(s.reasoning_tokens, s.part_reasoning_tokens) AS reasoning_tokens,
  coalesce(s.cached_tokens, s.part_cached_tokens) AS cached_tokens, coalesce(s.streamed, s.part_streamed) AS streamed,
  s.stop_reason, s.worker, s.whole, coalesce(s.room, s.part_room) AS room, s.durations, s.has_chunk, s.resend_count,
  s.tried_in, s.try_span_id, s.try_number, coalesce(s.sent_ns, s.try_start_ns) AS sent_ns, s.always_tries
FROM viewed AS s
LEFT JOIN enclosing AS e ON e.run = s.run AND e.trace_id = s.trace_id AND e.span_id = s.span_id
LEFT JOIN own_tenant AS o ON o.run = s.run AND o.trace_id = s.trace_id AND o.span_id = s.span_id
LEFT JOIN trace_tenant AS t ON t.run = s.run AND t.trace_id = s.trace_id;

COMMENT ON TABLE span_observation IS 'One row per attempt and side that a span saw';
COMMENT ON COLUMN span_observation.service IS 'The span''s service.name';
COMMENT ON COLUMN span_observation.start_ns IS 'Span start as the producer wrote it';
COMMENT ON COLUMN span_observation.end_ns IS 'Span end; NULL when it is missing or before the start';
COMMENT ON COLUMN span_observation.ended IS 'The span has an end, even one before its start';
COMMENT ON COLUMN span_observation.status IS 'Span status: unset, ok or error';
COMMENT ON COLUMN span_observation.tried_in IS 'The view of the call that it is an earlier try of';
COMMENT ON COLUMN span_observation.try_span_id IS 'The span of its last try, where tries are spans of their own';
COMMENT ON COLUMN span_observation.try_number IS 'Its number among the tries';
COMMENT ON COLUMN span_observation.sent_ns IS 'When this try was sent, where that is not the start of the span';
