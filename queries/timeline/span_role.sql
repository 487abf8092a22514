-- What each span is about. Matched by scope and attribute; a name alone decides nothing.
CREATE TABLE span_role AS
WITH first_look AS (
  SELECT
    *,
    CASE
      WHEN kind = 'server' AND (ttft_text IS NOT NULL OR e2e_text IS NOT NULL)
           AND (scope LIKE 'vllm%' OR name = 'llm_request') THEN 'engine'
      WHEN kind = 'server' AND regexp_matches(path,
           '(/completions|/responses|/messages|/generate|/generate_stream|/invocations)/?([?#].*)?$') THEN 'http'
      WHEN kind = 'server' AND scope = 'litellm' THEN 'proxy'
      WHEN kind = 'client' AND operation IN ('chat', 'text_completion', 'generate_content') THEN 'model_call'
    END AS looks
  FROM span_attribute
), service_kind AS (
  SELECT
    run, clock, coalesce(service, '') AS service,
    bool_or(looks = 'engine') AS is_engine,
    bool_or(looks IN ('http', 'proxy')) AS is_server
  FROM first_look
  WHERE looks IS NOT NULL
  GROUP BY ALL
)
SELECT
  f.*,
  CASE
    WHEN looks = 'engine' THEN 'engine'
    -- A request that the engine's own HTTP layer refused has no engine span.
    WHEN looks = 'http' AND k.is_engine AND status_code >= 400 THEN 'engine'
    WHEN looks IN ('http', 'proxy') AND NOT k.is_engine THEN 'gateway'
    WHEN looks = 'model_call' AND NOT coalesce(k.is_server OR k.is_engine, false) THEN 'client'
  END AS role
FROM first_look AS f
JOIN service_kind AS k
  ON k.run = f.run AND k.clock = f.clock AND k.service = coalesce(f.service, '')
WHERE f.looks IS NOT NULL;

COMMENT ON TABLE span_role IS 'One row per span that may be a view of an attempt, with the part it plays: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_role.looks IS 'What scope, kind and attributes alone suggest: engine, http, proxy, model_call';
COMMENT ON COLUMN span_role.role IS 'Which side''s view of an attempt the span is: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_role.ttft_text IS 'gen_ai.latency.time_to_first_token as written, seconds';
COMMENT ON COLUMN span_role.e2e_text IS 'gen_ai.latency.e2e as written, seconds';
COMMENT ON COLUMN span_role.queue_text IS 'gen_ai.latency.time_in_queue as written, seconds';
COMMENT ON COLUMN span_role.prefill_text IS 'gen_ai.latency.time_in_model_prefill as written, seconds';
COMMENT ON COLUMN span_role.decode_text IS 'gen_ai.latency.time_in_model_decode as written, seconds';
COMMENT ON COLUMN span_role.operation IS 'gen_ai.operation.name';
COMMENT ON COLUMN span_role.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_role.request_id IS 'Request id that the span carries';
COMMENT ON COLUMN span_role.enclosing_request_id IS 'Request id, where the span encloses a model call';
COMMENT ON COLUMN span_role.engine_request_id IS 'gen_ai.request.id: the engine''s id of the request';
COMMENT ON COLUMN span_role.model_response_id IS 'gen_ai.response.id: the id that the server gave to its answer';
