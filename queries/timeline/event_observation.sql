-- Views of attempts that event rows give: the lines of one request, attempt, side and clock, put together.
CREATE TABLE event_observation AS
WITH keyed AS (
  SELECT *, {'t': time_ns, 's': source_file, 'p': position} AS place FROM event_line
)
SELECT
  observation_id,
  run, side, request AS request_id, attempt, trace_id, clock, clock_kind,
  min(source_file) AS source_file,
  arg_max(parent, place) AS parent_request,
  coalesce(arg_max(required, place), true) AS required,
  arg_max(response_id, place) AS response_id,
  arg_max(repeat, place) AS repeat,
  arg_max(load_point, place) AS load_point,
  arg_max(phase, place) AS phase,
  arg_max(tenant, place) AS tenant,
  arg_max(route, place) AS route,
  arg_max(region, place) AS region,
  arg_max(model, place) AS model,
  arg_max(revision, place) AS revision,
  arg_max(worker, place) AS worker,
  arg_max(deadline_ms, place) AS deadline_ms,
  arg_max(retry_of, place) AS retry_of,
  arg_max(idempotency_key, place) AS idempotency_key,
  arg_max(streamed, place) AS streamed,
  arg_max(stop_reason, place) AS stop_reason,
  arg_max(status_code, place) AS status_code,
  arg_max(error_type, place) AS error_type,
  -- What the end itself says beats a leaving that was noticed after it.
  arg_max(outcome, {'end': event = 'done', 'place': place}) AS told_outcome,
  arg_max(correct, place) AS correct,
  arg_max(input_tokens, place) AS input_tokens,
  arg_max(output_tokens, place) AS output_tokens,
  arg_max(reasoning_tokens, place) AS reasoning_tokens,
  arg_max(cached_tokens, place) AS cached_tokens,
  arg_max(retokenized_input_tokens, place) AS retokenized_input_tokens,
  arg_max(retokenized_output_tokens, place) AS retokenized_output_tokens,
  min(source_file) <> max(source_file) AS told_twice,
  -- Tokens of the chunk that held the first content.
  arg_min({'tokens': tokens}, {'t': time_ns, 'unknown': tokens IS NULL, 's': source_file, 'p': position})
    FILTER (event IN ('first_content', 'content'))['tokens'] AS first_chunk_tokens,
  greatest(count(DISTINCT tenant) - 1, 0) + greatest(count(DISTINCT outcome) - 1, 0)
    + greatest(count(DISTINCT output_tokens) - 1, 0) + greatest(count(DISTINCT input_tokens) - 1, 0)
    + greatest(count(DISTINCT model) - 1, 0) + greatest(count(DISTINCT load_point) - 1, 0)
    + greatest(count(DISTINCT status_code) - 1, 0) + greatest(count(DISTINCT response_id) - 1, 0)
    AS fact_conflicts,
  -- Every chunk says its kind, and none is answer text.
  coalesce(bool_and(content_kind IN ('reasoning', 'tool')) FILTER (event = 'content'), false)
    AND count(*) FILTER (event = 'content' AND content_kind IS NULL) = 0 AS only_reasoning,
  bool_or(event = 'scheduled') AS has_scheduled,
  bool_or(event = 'done') AS has_done,
  bool_or(event = 'rejected') AS has_rejected,
  bool_or(event NOT IN ('scheduled')) AS has_more
FROM keyed
GROUP BY observation_id, run, side, request, attempt, trace_id, clock, clock_kind;

COMMENT ON TABLE event_observation IS 'One row per request, attempt, side and clock of the event rows; of facts that disagree the later line''s wins, of outcomes that of done';
COMMENT ON COLUMN event_observation.parent_request IS 'The request that this one is a branch of';
COMMENT ON COLUMN event_observation.told_outcome IS 'The outcome as the log states it';
COMMENT ON COLUMN event_observation.first_chunk_tokens IS 'Output tokens in the chunk that held the first content; NULL when not recorded';
COMMENT ON COLUMN event_observation.fact_conflicts IS 'Facts of this attempt on which two lines disagree';
COMMENT ON COLUMN event_observation.only_reasoning IS 'Content came, each chunk told its kind, and none was answer text';
COMMENT ON COLUMN event_observation.told_twice IS 'Several files tell of it';
COMMENT ON COLUMN event_observation.has_scheduled IS 'A scheduled line was seen';
COMMENT ON COLUMN event_observation.has_done IS 'A terminal line was seen';
COMMENT ON COLUMN event_observation.has_rejected IS 'A rejection was seen';
COMMENT ON COLUMN event_observation.has_more IS 'Any line besides scheduled was seen';
