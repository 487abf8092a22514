-- What each span is about. Matched by scope and attribute; a name alone decides nothing.
CREATE VIEW span_role AS
WITH read AS (
  SELECT
    *,
    attribute(attributes, 'gen_ai.latency.time_to_first_token') AS ttft_text,
    attribute(attributes, 'gen_ai.latency.e2e') AS e2e_text,
    attribute(attributes, 'gen_ai.operation.name') AS operation,
    coalesce(attribute(attributes, 'http.route'), attribute(attributes, 'url.path'),
             attribute(attributes, 'http.target'), '') AS route
  FROM span
), first_look AS (
  SELECT
    *,
    CASE
      WHEN kind = 'server' AND (ttft_text IS NOT NULL OR e2e_text IS NOT NULL)
           AND (scope LIKE 'vllm%' OR name = 'llm_request') THEN 'engine'
      WHEN kind = 'server' AND regexp_matches(route,
           '(/completions|/responses|/messages|/generate|/generate_stream|/invocations)/?([?#].*)?$') THEN 'http'
      WHEN kind = 'server' AND scope = 'litellm' THEN 'proxy'
      WHEN kind = 'client' AND operation IN ('chat', 'text_completion', 'generate_content') THEN 'model_call'
    END AS looks
  FROM read
), service_kind AS (
  SELECT
    run, clock, coalesce(service, '') AS service,
    bool_or(looks = 'engine') AS is_engine,
    bool_or(looks IN ('http', 'proxy')) AS is_server
  FROM first_look
  WHERE looks IS NOT NULL
  GROUP BY ALL
), second_look AS (
  SELECT
    f.*,
    CASE
      WHEN looks = 'engine' THEN 'engine'
      WHEN looks IN ('http', 'proxy') AND NOT k.is_engine THEN 'gateway'
      WHEN looks = 'model_call' AND NOT coalesce(k.is_server OR k.is_engine, false) THEN 'client'
    END AS role
  FROM first_look AS f
  LEFT JOIN service_kind AS k
    ON k.run = f.run AND k.clock = f.clock AND k.service = coalesce(f.service, '')
)
SELECT
  run, trace_id, span_id, parent_span_id, name, kind, service, scope, start_ns, end_ns, status, attributes,
  clock, source_file, looks, role,
  coalesce(bool_or(role IS NOT NULL) OVER (PARTITION BY run, trace_id), false) AS of_request
FROM second_look;

COMMENT ON VIEW span_role IS 'One row per span with the part it plays: engine, gateway or client view of an attempt, or NULL; of_request tells whether its trace holds any attempt at all';
COMMENT ON COLUMN span_role.looks IS 'What scope, kind and attributes alone suggest: engine, http, proxy, model_call';
COMMENT ON COLUMN span_role.role IS 'Which side''s view of an attempt the span is: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_role.of_request IS 'The trace of the span holds at least one view of an attempt; false for start-up and health-check spans';
