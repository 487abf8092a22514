-- One side's view of one attempt, as its source told it: event rows and spans under the same columns.
CREATE TABLE observation AS
WITH told AS (
  SELECT
    observation_id, observation_id AS view_id, run, side, 'event' AS origin, request_id, attempt, trace_id, NULL AS span_id,
    NULL AS parent_span_id, response_id, source_file, clock, clock_kind, parent_request, required, repeat, load_point,
    phase, tenant, route, region, model, revision, worker, deadline_ms, retry_of, idempotency_key, streamed,
    stop_reason, status_code, error_type, correct, input_tokens, output_tokens, reasoning_tokens, cached_tokens,
    retokenized_input_tokens, retokenized_output_tokens, told_twice, first_chunk_tokens, only_reasoning, fact_conflicts,
    CASE
      WHEN told_outcome IS NOT NULL THEN told_outcome
      -- A status that says failure says how it ended, even where nobody wrote when.
      WHEN has_rejected OR status_code IN (429, 503) THEN 'rejected'
      WHEN status_code IN (408, 504) THEN 'timeout'
      WHEN status_code = 499 THEN 'cancelled'
      WHEN status_code >= 400 OR (has_done AND error_type IS NOT NULL) THEN 'error'
      WHEN has_done THEN 'ok'
      WHEN has_scheduled AND NOT has_more THEN 'unsent'
    END AS outcome
  FROM event_observation
), spanned AS (
  SELECT
    observation_id,
    -- Outputs of one request (n > 1) share trace, parent, id and arrival; a later try arrives later.
    CASE WHEN side = 'engine' AND response_id IS NOT NULL
      THEN concat_ws('|', run, trace_id, coalesce(parent_span_id, ''), start_ns, response_id) ELSE observation_id END AS view_id,
    run, side, 'span' AS origin, request_id, NULL AS attempt, trace_id, span_id, parent_span_id,
    response_id, source_file, clock, 'wall' AS clock_kind, NULL AS parent_request, true AS required, NULL AS repeat,
    NULL AS load_point, NULL AS phase, tenant, route, NULL AS region, model, NULL AS revision,
    CASE WHEN side = 'engine' THEN service END AS worker, deadline_ms, NULL AS retry_of, NULL AS idempotency_key, streamed,
    NULL AS stop_reason, status_code, error_type, NULL AS correct, input_tokens, output_tokens, reasoning_tokens,
    cached_tokens, NULL AS retokenized_input_tokens, NULL AS retokenized_output_tokens, false AS told_twice, NULL AS first_chunk_tokens, false AS only_reasoning, 0 AS fact_conflicts,
    CASE
      WHEN NOT ended THEN NULL
      WHEN status_code IN (429, 503) OR regexp_matches(error_type, 'RateLimit') THEN 'rejected'
      WHEN status_code IN (408, 504) OR regexp_matches(error_type, '[Tt]imeout|DeadlineExceeded') THEN 'timeout'
      WHEN status_code = 499 OR regexp_matches(error_type, '[Cc]ancel') THEN 'cancelled'
      WHEN status_code >= 400 OR error_type IS NOT NULL OR status = 'error' THEN 'error'
      ELSE 'ok'
    END AS outcome
  FROM span_observation
)
SELECT * FROM told
UNION ALL
SELECT * FROM spanned;

COMMENT ON TABLE observation IS 'One row per attempt and side: what one source saw of it, facts as told, with the clock of its timestamps';
COMMENT ON COLUMN observation.view_id IS 'The view that it is part of: outputs of one request (n > 1) are one view';
COMMENT ON COLUMN observation.origin IS 'Where the view comes from: event (log lines, load generator rows) or span';
COMMENT ON COLUMN observation.span_id IS 'The span, where the view is one';
COMMENT ON COLUMN observation.parent_span_id IS 'The span''s parent as written; it may never have been exported';
COMMENT ON COLUMN observation.parent_request IS 'The request that this one is a branch of';
COMMENT ON COLUMN observation.first_chunk_tokens IS 'Output tokens in the chunk that held the first content; NULL when not recorded';
COMMENT ON COLUMN observation.only_reasoning IS 'Content came, each chunk told its kind, and none was answer text';
COMMENT ON COLUMN observation.told_twice IS 'Several files tell of it';
COMMENT ON COLUMN observation.fact_conflicts IS 'Facts on which two lines of this view disagree';
COMMENT ON COLUMN observation.outcome IS 'How the attempt ended as this side saw it; NULL when it did not see the end';
