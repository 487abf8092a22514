-- The view that speaks for each side of an attempt, its boundaries in columns.
CREATE TABLE side_view AS
WITH grouped AS (
  SELECT
    o.*, n.attempt_id
  FROM observation AS o
  JOIN attempt_member AS m ON m.observation_id = o.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
), wide AS (
  SELECT
    attempt_id, run, observation_id,
    max(time_ns) FILTER (boundary = 'scheduled') AS scheduled_ns,
    max(time_ns) FILTER (boundary = 'sent') AS sent_ns,
    max(time_ns) FILTER (boundary = 'arrived') AS arrived_ns,
    max(time_ns) FILTER (boundary = 'admitted') AS admitted_ns,
    max(low_ns) FILTER (boundary = 'admitted') AS admitted_low_ns,
    max(high_ns) FILTER (boundary = 'admitted') AS admitted_high_ns,
    max(time_ns) FILTER (boundary = 'rejected') AS rejected_ns,
    max(time_ns) FILTER (boundary = 'started') AS started_ns,
    max(low_ns) FILTER (boundary = 'started') AS started_low_ns,
    max(high_ns) FILTER (boundary = 'started') AS started_high_ns,
    max(time_ns) FILTER (boundary = 'prefill_done') AS prefill_done_ns,
    max(time_ns) FILTER (boundary = 'decode_started') AS decode_started_ns,
    max(time_ns) FILTER (boundary = 'first_token') AS first_token_ns,
    max(time_ns) FILTER (boundary = 'last_token') AS last_token_ns,
    max(time_ns) FILTER (boundary = 'first_content') AS first_content_ns,
    max(low_ns) FILTER (boundary = 'first_content') AS first_content_low_ns,
    max(high_ns) FILTER (boundary = 'first_content') AS first_content_high_ns,
    max(time_ns) FILTER (boundary = 'first_answer') AS first_answer_ns,
    max(time_ns) FILTER (boundary = 'last_content') AS last_content_ns,
    max(time_ns) FILTER (boundary = 'done') AS done_ns,
    max(time_ns) FILTER (boundary = 'cancel_seen') AS cancel_seen_ns,
    max(time_ns) FILTER (boundary = 'cancel_forwarded') AS cancel_forwarded_ns,
    max(time_ns) FILTER (boundary = 'dequeued') AS dequeued_ns,
    max(time_ns) FILTER (boundary = 'released') AS released_ns,
    count(*) AS boundaries
  FROM boundary
  GROUP BY attempt_id, run, observation_id
), merged AS (
  SELECT
    g.run, g.attempt_id, g.side, g.view_id, min(g.origin) AS origin, min(g.clock) AS clock, min(g.clock_kind) AS clock_kind,
    count(*) FILTER (NOT g.is_half) AS outputs, min(g.trace_id) AS trace_id,
    min(w.scheduled_ns) AS scheduled_ns, min(w.sent_ns) AS sent_ns, min(w.arrived_ns) AS arrived_ns,
    min(w.admitted_ns) AS admitted_ns, min(w.admitted_low_ns) AS admitted_low_ns, min(w.admitted_high_ns) AS admitted_high_ns,
    min(w.rejected_ns) AS rejected_ns,
    min(w.started_ns) AS started_ns, min(w.started_low_ns) AS started_low_ns, min(w.started_high_ns) AS started_high_ns,
    min(w.prefill_done_ns) AS prefill_done_ns, min(w.decode_started_ns) AS decode_started_ns,
    min(w.first_token_ns) AS first_token_ns, max(w.last_token_ns) AS last_token_ns,
    min(w.first_content_ns) AS first_content_ns, min(w.first_content_low_ns) AS first_content_low_ns,
    min(w.first_content_high_ns) AS first_content_high_ns, min(w.first_answer_ns) AS first_answer_ns,
    max(w.last_content_ns) AS last_content_ns, max(w.done_ns) AS done_ns,
    min(w.cancel_seen_ns) AS cancel_seen_ns, min(w.cancel_forwarded_ns) AS cancel_forwarded_ns,
    min(w.dequeued_ns) AS dequeued_ns, max(w.released_ns) AS released_ns,
    coalesce(max(w.boundaries), 0) AS boundaries,
    min(g.repeat) AS repeat, min(g.load_point) AS load_point, min(g.phase) AS phase, min(g.tenant) AS tenant,
    min(g.route) AS route, min(g.region) AS region, min(g.model) AS model, min(g.revision) AS revision, min(g.worker) AS worker,
    min(g.deadline_ms) AS deadline_ms, min(g.retry_of) AS retry_of, min(g.idempotency_key) AS idempotency_key, bool_and(g.streamed) AS streamed,
    min(g.stop_reason) AS stop_reason, max(g.status_code) AS status_code, min(g.error_type) AS error_type,
    bool_and(g.correct) AS correct, max(g.input_tokens) AS input_tokens, sum(g.output_tokens)::BIGINT AS output_tokens,
    sum(g.reasoning_tokens)::BIGINT AS reasoning_tokens, max(g.cached_tokens) AS cached_tokens,
    max(g.retokenized_input_tokens) AS retokenized_input_tokens, sum(g.retokenized_output_tokens)::BIGINT AS retokenized_output_tokens,
    min(g.first_chunk_tokens) AS first_chunk_tokens, bool_and(g.only_reasoning) AS only_reasoning, min(g.parent_request) AS parent_request, bool_and(g.required) AS required,
    CASE WHEN count(DISTINCT g.outcome) = 1 THEN min(g.outcome)
         WHEN count(g.outcome) > 0 THEN min(g.outcome) FILTER (g.outcome <> 'ok') END AS outcome,
    sum(g.fact_conflicts)::BIGINT AS fact_conflicts
  FROM grouped AS g
  LEFT JOIN wide AS w ON w.observation_id = g.observation_id
  GROUP BY g.run, g.attempt_id, g.side, g.view_id
)
SELECT *
FROM (
  -- What the chosen view does not know another view of the same side may: an end, a count of tokens.
  SELECT * REPLACE (
      coalesce(outcome, min(outcome) OVER (PARTITION BY run, attempt_id, side)) AS outcome,
      coalesce(input_tokens, max(input_tokens) OVER (PARTITION BY run, attempt_id, side)) AS input_tokens,
      coalesce(output_tokens, max(output_tokens) OVER (PARTITION BY run, attempt_id, side)) AS output_tokens,
      coalesce(tenant, min(tenant) OVER (PARTITION BY run, attempt_id, side)) AS tenant),
    count(*) OVER (PARTITION BY run, attempt_id, side) AS views,
    row_number() OVER (PARTITION BY run, attempt_id, side
      ORDER BY origin, boundaries DESC, done_ns DESC NULLS LAST, view_id) AS choice
  FROM merged
)
WHERE choice = 1;

COMMENT ON TABLE side_view IS 'One row per attempt and side: of several views the richest, of several tries inside the attempt the last to end';
COMMENT ON COLUMN side_view.view_id IS 'The view, or the group of outputs that count as one';
COMMENT ON COLUMN side_view.outputs IS 'Spans behind it; more than one where one request asked for n > 1 outputs';
COMMENT ON COLUMN side_view.boundaries IS 'How many boundaries it shows';
COMMENT ON COLUMN side_view.views IS 'How many views of this side the attempt has';
COMMENT ON COLUMN side_view.choice IS 'Always 1: the view that was chosen';
COMMENT ON COLUMN side_view.admitted_low_ns IS 'Admitted no earlier than this';
COMMENT ON COLUMN side_view.admitted_high_ns IS 'Admitted no later than this';
COMMENT ON COLUMN side_view.started_low_ns IS 'Started no earlier than this';
COMMENT ON COLUMN side_view.started_high_ns IS 'Started no later than this';
COMMENT ON COLUMN side_view.first_content_low_ns IS 'First content no earlier than this';
COMMENT ON COLUMN side_view.first_content_high_ns IS 'First content no later than this';
COMMENT ON COLUMN side_view.parent_request IS 'The request that this one is a branch of';
COMMENT ON COLUMN side_view.first_chunk_tokens IS 'Output tokens in the chunk that held the first content';
COMMENT ON COLUMN side_view.only_reasoning IS 'Content came, and none was answer text';
COMMENT ON COLUMN side_view.fact_conflicts IS 'Facts on which two lines of the view disagree';
