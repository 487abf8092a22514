-- One row per attempt: every side's boundaries on its own clock, joined, and how it ended.
CREATE TABLE attempt AS
WITH client AS (SELECT * FROM side_view WHERE side = 'client'),
gateway AS (SELECT * FROM side_view WHERE side = 'gateway'),
engine AS (SELECT * FROM side_view WHERE side = 'engine'),
joined AS (
SELECT
  n.attempt_id, n.run,
  coalesce(c.repeat, g.repeat, e.repeat) AS repeat,
  coalesce(c.load_point, g.load_point, e.load_point) AS load_point,
  coalesce(c.phase, g.phase, e.phase) AS phase,
  n.request_id, n.attempt,
  coalesce(c.trace_id, g.trace_id, e.trace_id) AS trace_id,
  coalesce(c.tenant, g.tenant, e.tenant) AS tenant,
  coalesce(c.route, g.route, e.route) AS route,
  coalesce(c.region, g.region, e.region) AS region,
  coalesce(c.model, g.model, e.model) AS model,
  coalesce(c.revision, g.revision, e.revision) AS revision,
  coalesce(e.worker, g.worker, c.worker) AS worker,
  concat_ws(',', c.side, g.side, e.side) AS sides,
  -- The server's own count beats one that was made again from text.
  coalesce(e.input_tokens, g.input_tokens, c.input_tokens, c.retokenized_input_tokens) AS input_tokens,
  coalesce(e.output_tokens, g.output_tokens, c.output_tokens, c.retokenized_output_tokens) AS output_tokens,
  coalesce(e.reasoning_tokens, g.reasoning_tokens, c.reasoning_tokens) AS reasoning_tokens,
  coalesce(e.cached_tokens, g.cached_tokens, c.cached_tokens) AS cached_tokens,
  c.input_tokens AS client_input_tokens, c.output_tokens AS client_output_tokens,
  c.retokenized_input_tokens, c.retokenized_output_tokens,
  CASE WHEN e.output_tokens IS NOT NULL THEN 'engine' WHEN g.output_tokens IS NOT NULL THEN 'gateway'
       WHEN c.output_tokens IS NOT NULL THEN 'client' WHEN c.retokenized_output_tokens IS NOT NULL THEN 'text' END AS token_basis,
  c.first_chunk_tokens, c.origin AS client_origin, c.only_reasoning AS client_only_reasoning, coalesce(e.outputs, 1) AS outputs,
  c.clock AS client_clock, g.clock AS gateway_clock, e.clock AS engine_clock,
  c.clock_kind AS client_clock_kind, g.clock_kind AS gateway_clock_kind, e.clock_kind AS engine_clock_kind,
  c.scheduled_ns AS client_scheduled_ns, c.sent_ns AS client_sent_ns, c.first_content_ns AS client_first_content_ns,
  c.first_content_low_ns AS client_first_content_low_ns, c.first_content_high_ns AS client_first_content_high_ns,
  c.first_answer_ns AS client_first_answer_ns, c.last_content_ns AS client_last_content_ns, c.done_ns AS client_done_ns,
  g.arrived_ns AS gateway_arrived_ns, g.admitted_ns AS gateway_admitted_ns, g.rejected_ns AS gateway_rejected_ns,
  g.first_content_ns AS gateway_first_content_ns, g.last_content_ns AS gateway_last_content_ns, g.done_ns AS gateway_done_ns,
  g.cancel_seen_ns AS gateway_cancel_seen_ns, g.cancel_forwarded_ns AS gateway_cancel_forwarded_ns,
  e.arrived_ns AS engine_arrived_ns, e.admitted_ns AS engine_admitted_ns,
  e.admitted_low_ns AS engine_admitted_low_ns, e.admitted_high_ns AS engine_admitted_high_ns,
  e.rejected_ns AS engine_rejected_ns, e.started_ns AS engine_started_ns,
  e.started_low_ns AS engine_started_low_ns, e.started_high_ns AS engine_started_high_ns,
  e.prefill_done_ns AS engine_prefill_done_ns, e.decode_started_ns AS engine_decode_started_ns,
  e.first_token_ns AS engine_first_token_ns, e.last_token_ns AS engine_last_token_ns, e.done_ns AS engine_done_ns,
  e.cancel_seen_ns AS engine_cancel_seen_ns, e.dequeued_ns AS engine_dequeued_ns, e.released_ns AS engine_released_ns,
  -- The outermost side that saw the end decides.
  coalesce(c.outcome, g.outcome, e.outcome, 'unresolved') AS outcome,
  CASE WHEN c.outcome IS NOT NULL THEN 'client' WHEN g.outcome IS NOT NULL THEN 'gateway'
       WHEN e.outcome IS NOT NULL THEN 'engine' END AS decided_by,
  NULL::VARCHAR AS failure_class,
  coalesce(c.error_type, g.error_type, e.error_type) AS error_type,
  coalesce(c.status_code, g.status_code, e.status_code) AS status_code,
  coalesce(c.stop_reason, g.stop_reason, e.stop_reason) AS stop_reason,
  coalesce(c.streamed, g.streamed, e.streamed) AS streamed,
  coalesce(c.correct, g.correct, e.correct) AS correct,
  coalesce(c.deadline_ms, g.deadline_ms, e.deadline_ms) AS deadline_ms,
  coalesce(c.retry_of, g.retry_of, e.retry_of) AS retry_of,
  coalesce(c.idempotency_key, g.idempotency_key, e.idempotency_key) AS idempotency_key,
  coalesce(c.parent_request, g.parent_request, e.parent_request) AS parent_request,
  coalesce(c.required, g.required, e.required, true) AS required,
  coalesce(c.fact_conflicts, 0) + coalesce(g.fact_conflicts, 0) + coalesce(e.fact_conflicts, 0) AS fact_conflicts,
  greatest(coalesce(c.views, 0), coalesce(g.views, 0), coalesce(e.views, 0)) AS views
FROM attempt_name AS n
LEFT JOIN client AS c ON c.attempt_id = n.attempt_id
LEFT JOIN gateway AS g ON g.attempt_id = n.attempt_id
LEFT JOIN engine AS e ON e.attempt_id = n.attempt_id
), sign AS (
  SELECT DISTINCT outcome, status_code, error_type FROM joined WHERE outcome NOT IN ('ok', 'unresolved', 'unsent')
), classed AS (
  SELECT s.outcome, s.status_code, s.error_type, coalesce(arg_min(f.failure_class, f.rule), 'unknown') AS failure_class
  FROM sign AS s
  LEFT JOIN failure_rule AS f ON (f.outcome IS NULL OR f.outcome = s.outcome)
    AND (f.status_low IS NULL OR s.status_code BETWEEN f.status_low AND f.status_high)
    AND (f.error IS NULL OR lower(s.error_type) LIKE f.error ESCAPE '\')
  GROUP BY s.outcome, s.status_code, s.error_type
)
SELECT j.* REPLACE (c.failure_class AS failure_class)
FROM joined AS j
LEFT JOIN classed AS c ON c.outcome = j.outcome AND c.status_code IS NOT DISTINCT FROM j.status_code AND c.error_type IS NOT DISTINCT FROM j.error_type;

COMMENT ON TABLE attempt IS 'One row per attempt, the sides that saw it joined; <side>_<boundary>_ns is on that side''s clock and NULL where it was not recorded or is only bounded';
COMMENT ON COLUMN attempt.token_basis IS 'Whose count output_tokens is: the engine''s, the gateway''s, the usage that the client was told (client), or the client''s own count of the text';
COMMENT ON COLUMN attempt.client_input_tokens IS 'Input tokens as the client counted them';
COMMENT ON COLUMN attempt.client_output_tokens IS 'Output tokens as the client counted them';
COMMENT ON COLUMN attempt.first_chunk_tokens IS 'Output tokens in the chunk that held the first content; NULL when not recorded';
COMMENT ON COLUMN attempt.client_origin IS 'What the client''s view comes from: event or span';
COMMENT ON COLUMN attempt.client_only_reasoning IS 'Content came to the client, and none was answer text';
COMMENT ON COLUMN attempt.outputs IS 'Outputs that one attempt asked for (n)';
COMMENT ON COLUMN attempt.engine_admitted_low_ns IS 'Admitted by the engine no earlier than this';
COMMENT ON COLUMN attempt.engine_admitted_high_ns IS 'Admitted by the engine no later than this';
COMMENT ON COLUMN attempt.engine_started_low_ns IS 'First scheduled no earlier than this';
COMMENT ON COLUMN attempt.engine_started_high_ns IS 'First scheduled no later than this';
COMMENT ON COLUMN attempt.client_first_content_low_ns IS 'First content at the client no earlier than this';
COMMENT ON COLUMN attempt.client_first_content_high_ns IS 'First content at the client no later than this';
COMMENT ON COLUMN attempt.parent_request IS 'The request that this one is a branch of';
COMMENT ON COLUMN attempt.fact_conflicts IS 'Facts on which two lines of the attempt disagree';
COMMENT ON COLUMN attempt.views IS 'The most views that one side has of it';
