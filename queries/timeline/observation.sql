-- One side's view of one attempt, as its source told it: event rows and spans under the same columns.
CREATE TABLE observation AS
WITH told AS (
  SELECT
    observation_id, observation_id AS view_id, run, side, 'event' AS origin, request_id, attempt, NULL AS tried_in, 1 AS try_number,
    trace_id, NULL AS span_id, NULL AS try_span_id, NULL AS parent_span_id, response_id, source_file, clock, clock_kind, parent_request, required, repeat, load_point,
    phase, tenant, route, region, model, revision, worker, deadline_ms, retry_of, idempotency_key, streamed,
    stop_reason, status_code, error_type, correct, input_tokens, output_tokens, reasoning_tokens, cached_tokens,
    retokenized_input_tokens, retokenized_output_tokens, told_twice, first_chunk_tokens, only_reasoning, false AS is_half, fact_conflicts,
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
), halved AS (
  -- A prefill and a decode on different workers are two spans of one output: its tokens are those of the half that ended last.
  SELECT s.*, g.agent_span_id, rule_stages(rule, durations)['first_chunk_ns'] IS NOT NULL OR has_chunk AS chunk_seen,
    side = 'engine' AND room IS NOT NULL AND
      row_number() OVER (PARTITION BY s.run, s.trace_id, side, room ORDER BY end_ns DESC NULLS LAST, observation_id) > 1 AS is_half
  FROM span_observation AS s
  LEFT JOIN span_agent AS g ON g.run = s.run AND g.trace_id = s.trace_id AND g.span_id = s.span_id
), spanned AS (
  SELECT
    observation_id,
    -- Outputs of one request (n > 1) share trace, parent, id and arrival; a later try arrives later.
    CASE WHEN side = 'engine' AND room IS NOT NULL THEN concat_ws('|', run, trace_id, clock, 'room', room)
      WHEN side = 'engine' AND response_id IS NOT NULL
      THEN concat_ws('|', run, trace_id, coalesce(parent_span_id, ''), start_ns, response_id) ELSE observation_id END AS view_id,
    run, side, 'span' AS origin, request_id, NULL AS attempt, tried_in, try_number, trace_id, span_id, try_span_id, parent_span_id,
    response_id, source_file, clock, 'wall' AS clock_kind, trace_id || '/' || agent_span_id AS parent_request, true AS required, NULL AS repeat,
    NULL AS load_point, NULL AS phase, tenant, route, NULL AS region, model, NULL AS revision,
    coalesce(worker, CASE WHEN side = 'engine' THEN service END) AS worker, deadline_ms, NULL AS retry_of, NULL AS idempotency_key, streamed,
    stop_reason, status_code, coalesce(error_type, CASE WHEN tried_in IS NOT NULL AND coalesce(status_code, 0) < 400 AND status <> 'error' THEN 'tried again; why is not recorded'
      WHEN whole = false AND coalesce(streamed, true) AND status <> 'error' AND coalesce(status_code, 0) < 400 THEN 'no finish reason: cut, closed or cancelled cannot be told apart' END) AS error_type,
    NULL AS correct, input_tokens, CASE WHEN NOT is_half THEN output_tokens END AS output_tokens, CASE WHEN NOT is_half THEN reasoning_tokens END AS reasoning_tokens,
    cached_tokens, NULL AS retokenized_input_tokens, NULL AS retokenized_output_tokens, false AS told_twice, NULL AS first_chunk_tokens, false AS only_reasoning, is_half, 0 AS fact_conflicts,
    CASE
      WHEN NOT ended THEN NULL
      WHEN status_code IN (429, 503) OR regexp_matches(error_type, 'RateLimit') THEN 'rejected'
      WHEN status_code IN (408, 504) OR regexp_matches(error_type, '[Tt]imeout|DeadlineExceeded') THEN 'timeout'
      -- The other end closed the connection inside the answer.
      WHEN regexp_matches(error_type, 'RemoteProtocolError|IncompleteRead|ChunkedEncodingError|ServerDisconnected')
        OR chunk_seen AND regexp_matches(error_type, 'ConnectionError|ConnectionReset') THEN 'truncated'
      WHEN status_code = 499 OR regexp_matches(error_type, '[Cc]ancel|[Cc]lient ?[Dd]isconnect|GeneratorExit') THEN 'cancelled'
      WHEN status_code >= 400 OR error_type IS NOT NULL OR status = 'error' OR tried_in IS NOT NULL THEN 'error'
      WHEN stop_reason = 'abort' THEN 'cancelled'
      -- The span of an HTTP client ends with the headers, and a stream that shows no end of its own was not seen to end.
      WHEN looks = 'try' OR whole = false AND coalesce(streamed, true) THEN NULL
      ELSE 'ok'
    END AS outcome
  FROM halved
)
SELECT * FROM told
UNION ALL
SELECT * FROM spanned;

COMMENT ON TABLE observation IS 'One row per attempt and side: what one source saw of it, facts as told, with the clock of its timestamps';
COMMENT ON COLUMN observation.view_id IS 'The view that it is part of: outputs of one request (n > 1) are one view';
COMMENT ON COLUMN observation.origin IS 'Where the view comes from: event (log lines, load generator rows) or span';
COMMENT ON COLUMN observation.span_id IS 'The span, where the view is one';
COMMENT ON COLUMN observation.parent_span_id IS 'The span''s parent as written; it may never have been exported';
COMMENT ON COLUMN observation.tried_in IS 'The view of the call that it is an earlier try of';
COMMENT ON COLUMN observation.try_number IS 'Its number among the tries that one call made';
COMMENT ON COLUMN observation.try_span_id IS 'The span of its last try, where tries are spans of their own';
COMMENT ON COLUMN observation.is_half IS 'It is the earlier half of one output, whose prefill and decode had different workers';
COMMENT ON COLUMN observation.parent_request IS 'The request that this one is a branch of';
COMMENT ON COLUMN observation.first_chunk_tokens IS 'Output tokens in the chunk that held the first content; NULL when not recorded';
COMMENT ON COLUMN observation.only_reasoning IS 'Content came, each chunk told its kind, and none was answer text';
COMMENT ON COLUMN observation.told_twice IS 'Several files tell of it';
COMMENT ON COLUMN observation.fact_conflicts IS 'Facts on which two lines of this view disagree';
COMMENT ON COLUMN observation.outcome IS 'How the attempt ended as this side saw it; NULL when it did not see the end';
