-- The attributes of server and client spans that a role may rest on, read in one pass.
CREATE VIEW span_attribute AS
WITH read AS (
  SELECT
    run, trace_id, span_id, parent_span_id, name, kind, service, scope, start_ns, end_ns, status, clock, source_file,
    json_extract_string(attributes, [
      '$."gen_ai.latency.time_to_first_token"',
      '$."gen_ai.latency.e2e"',
      '$."gen_ai.latency.time_in_queue"',
      '$."gen_ai.latency.time_in_model_prefill"',
      '$."gen_ai.latency.time_in_model_decode"',
      '$."gen_ai.operation.name"',
      '$."http.route"',
      '$."url.path"',
      '$."http.target"',
      '$."client.request.id"',
      '$."x_request_id"',
      '$."http.request.header.x-request-id"',
      '$."gen_ai.request.id"',
      '$."gen_ai.response.id"',
      '$."gen_ai.response.model"',
      '$."gen_ai.request.model"',
      '$."http.response.status_code"',
      '$."http.status_code"',
      '$."error.type"',
      '$."deadline_ms"',
      '$."gen_ai.usage.input_tokens"',
      '$."gen_ai.usage.prompt_tokens"',
      '$."gen_ai.usage.output_tokens"',
      '$."gen_ai.usage.completion_tokens"',
      '$."gen_ai.usage.reasoning.output_tokens"',
      '$."gen_ai.usage.cache_read.input_tokens"',
      '$."gen_ai.usage.cached_tokens"',
      '$."gen_ai.request.stream"',
      '$."request.id"'
    ]) AS v
  FROM span
  WHERE kind IN ('server', 'client')
)
SELECT
  run, trace_id, span_id, parent_span_id, name, kind, service, scope, start_ns, end_ns, status, clock, source_file,
  v[1] AS ttft_text, v[2] AS e2e_text,
  v[3] AS queue_text, v[4] AS prefill_text,
  v[5] AS decode_text,
  v[6] AS operation, v[7] AS route,
  coalesce(v[7], v[8], v[9], '') AS path,
  coalesce(v[10], v[11], v[12]) AS request_id,
  coalesce(v[10], v[29]) AS enclosing_request_id,
  v[13] AS engine_request_id, v[14] AS model_response_id,
  coalesce(v[15], v[16]) AS model,
  TRY_CAST(coalesce(v[17], v[18]) AS INTEGER) AS status_code,
  v[19] AS error_type,
  TRY_CAST(v[20] AS DOUBLE) AS deadline_ms,
  TRY_CAST(coalesce(v[21], v[22]) AS BIGINT) AS input_tokens,
  TRY_CAST(coalesce(v[23], v[24]) AS BIGINT) AS output_tokens,
  TRY_CAST(v[25] AS BIGINT) AS reasoning_tokens,
  TRY_CAST(coalesce(v[26], v[27]) AS BIGINT) AS cached_tokens,
  TRY_CAST(v[28] AS BOOLEAN) AS streamed
FROM read;

COMMENT ON VIEW span_attribute IS 'One row per server or client span, with the attributes that its role and facts are read from';
COMMENT ON COLUMN span_attribute.ttft_text IS 'gen_ai.latency.time_to_first_token as written, seconds';
COMMENT ON COLUMN span_attribute.e2e_text IS 'gen_ai.latency.e2e as written, seconds';
COMMENT ON COLUMN span_attribute.queue_text IS 'gen_ai.latency.time_in_queue as written, seconds';
COMMENT ON COLUMN span_attribute.prefill_text IS 'gen_ai.latency.time_in_model_prefill as written, seconds';
COMMENT ON COLUMN span_attribute.decode_text IS 'gen_ai.latency.time_in_model_decode as written, seconds';
COMMENT ON COLUMN span_attribute.operation IS 'gen_ai.operation.name';
COMMENT ON COLUMN span_attribute.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_attribute.request_id IS 'Request id that the span carries';
COMMENT ON COLUMN span_attribute.enclosing_request_id IS 'Request id, where the span encloses a model call';
COMMENT ON COLUMN span_attribute.engine_request_id IS 'gen_ai.request.id: the engine''s id of the request';
COMMENT ON COLUMN span_attribute.model_response_id IS 'gen_ai.response.id: the id that the server gave to its answer';
