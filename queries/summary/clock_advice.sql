-- What the traffic itself says of two clocks: a request is sent before it arrives, and its answer leaves before it is seen.
CREATE VIEW clock_advice AS
WITH seen AS (
  SELECT
    run, attempt_id, 'client' AS side_a, client_clock AS clock_a, client_clock_kind AS kind_a,
    'engine' AS side_b, engine_clock AS clock_b, engine_clock_kind AS kind_b,
    engine_arrived_ns - client_sent_ns AS at_most_ns,
    -- Work that goes on after the answer (an end that is told late) would move the bound: tokens come first. The last
    -- token may have no text, so that the last content may be older than it.
    CASE WHEN outcome = 'ok' THEN coalesce(greatest(engine_first_token_ns - client_first_content_ns, engine_last_token_ns - client_done_ns),
      engine_first_token_ns - client_first_content_ns, engine_last_token_ns - client_done_ns) END AS at_least_ns,
    CASE WHEN outcome = 'ok' THEN engine_done_ns - client_done_ns END AS ends_ns
  FROM attempt
  UNION ALL
  SELECT
    run, attempt_id, 'client', client_clock, client_clock_kind, 'gateway', gateway_clock, gateway_clock_kind,
    gateway_arrived_ns - client_sent_ns,
    CASE WHEN outcome = 'ok' THEN gateway_first_content_ns - client_first_content_ns END, CASE WHEN outcome = 'ok' THEN gateway_done_ns - client_done_ns END
  FROM attempt
  UNION ALL
  SELECT
    run, attempt_id, 'gateway', gateway_clock, gateway_clock_kind, 'engine', engine_clock, engine_clock_kind,
    engine_arrived_ns - gateway_arrived_ns,
    CASE WHEN outcome = 'ok' THEN engine_first_token_ns - gateway_first_content_ns END, CASE WHEN outcome = 'ok' THEN engine_done_ns - gateway_done_ns END
  FROM attempt
), bounded AS (
  SELECT
    run, clock_a, clock_b, kind_a AS clock_kind, min(side_a) AS side_a, min(side_b) AS side_b,
    count(DISTINCT attempt_id) AS attempts,
    -- A server's record may end after its answer: its end bounds the offset only where no token does, and proves nothing.
    coalesce(max(at_least_ns), max(ends_ns)) AS low_ns, min(at_most_ns) AS high_ns, CASE WHEN max(at_least_ns) IS NOT NULL THEN 'token' ELSE 'end' END AS low_by,
    coalesce(arg_max(attempt_id, {'ns': at_least_ns, 'id': attempt_id}) FILTER (at_least_ns IS NOT NULL),
      arg_max(attempt_id, {'ns': ends_ns, 'id': attempt_id}) FILTER (ends_ns IS NOT NULL)) AS low_from,
    arg_min(attempt_id, {'ns': at_most_ns, 'id': attempt_id}) FILTER (at_most_ns IS NOT NULL) AS high_from
  FROM seen
  WHERE kind_a = kind_b AND kind_a <> 'duration' AND coalesce(at_most_ns, at_least_ns, ends_ns) IS NOT NULL
  GROUP BY run, clock_a, clock_b, kind_a
), step AS (
  SELECT run, clock, max(step_ms) AS step_ms FROM clock_resolution GROUP BY run, clock
), judged AS (
  SELECT
    b.*,
    -- A time that was written in whole milliseconds may be off by one.
    CAST(ceil((coalesce(sa.step_ms, 0) + coalesce(sb.step_ms, 0)) * 1e6) AS BIGINT) AS step_ns,
    CASE WHEN b.clock_a = b.clock_b THEN 'same clock' ELSE coalesce(r.relation, 'not declared') END AS declared,
    CASE WHEN b.clock_a = b.clock_b THEN 0 ELSE r.offset_ns END AS declared_ns,
    CASE WHEN b.clock_a = b.clock_b THEN 0 ELSE r.error_ns END AS declared_error_ns,
    b.low_ns + (b.high_ns - b.low_ns) // 2 AS middle_ns
  FROM bounded AS b
  LEFT JOIN step AS sa ON sa.run = b.run AND sa.clock = b.clock_a
  LEFT JOIN step AS sb ON sb.run = b.run AND sb.clock = b.clock_b
  LEFT JOIN clock_relation AS r ON r.run = b.run AND r.clock_a = b.clock_a AND r.clock_b = b.clock_b
)
SELECT
  run, clock_a, clock_b, clock_kind, side_a, side_b, attempts,
  low_ns / 1e6 AS low_ms, high_ns / 1e6 AS high_ms,
  CASE WHEN low_ns <= high_ns THEN middle_ns / 1e6 END AS offset_ms,
  CASE WHEN low_ns <= high_ns THEN greatest(high_ns - middle_ns, middle_ns - low_ns) / 1e6 END AS error_ms,
  low_by, low_from, high_from, declared, declared_ns / 1e6 AS declared_ms, declared_error_ns / 1e6 AS declared_error_ms,
  CASE
    WHEN low_ns IS NULL OR high_ns IS NULL THEN 'bounded on one side only'
    WHEN low_by = 'end' AND (low_ns > high_ns OR declared_ns + declared_error_ns < low_ns) THEN 'cannot tell: a server''s record may end after its answer'
    WHEN low_ns > high_ns + step_ns THEN 'no offset fits every request: one of the clocks drifts or was set, or a time is not what its name says'
    WHEN declared_ns + declared_error_ns + step_ns < low_ns OR declared_ns - declared_error_ns - step_ns > high_ns THEN 'contradicts what is taken for true'
    WHEN low_ns > high_ns THEN 'too coarse to tell'
    WHEN declared_ns IS NULL THEN 'to be declared in the manifest if it is believed'
    ELSE 'agrees with what is taken for true'
  END AS finding,
  CASE WHEN clock_a <> clock_b AND low_ns <= high_ns THEN
    '{"clocks": [' || to_json(clock_a)::VARCHAR || ', ' || to_json(clock_b)::VARCHAR || '], "relation": "offset", "offset_ms": '
      || (middle_ns / 1e6) || ', "error_ms": ' || (greatest(high_ns - middle_ns, middle_ns - low_ns) / 1e6) || '}' END AS entry
FROM judged;

COMMENT ON VIEW clock_advice IS 'One row per run and two clocks that saw the same attempts: between which bounds their offset must lie if no answer came before its request. Advice: nothing is computed with it';
COMMENT ON COLUMN clock_advice.clock_a IS 'Clock of the outer side';
COMMENT ON COLUMN clock_advice.clock_b IS 'Clock of the inner side';
COMMENT ON COLUMN clock_advice.clock_kind IS 'wall or monotonic';
COMMENT ON COLUMN clock_advice.side_a IS 'The outer side';
COMMENT ON COLUMN clock_advice.side_b IS 'The inner side';
COMMENT ON COLUMN clock_advice.attempts IS 'Attempts that both saw';
COMMENT ON COLUMN clock_advice.low_ms IS 'What clock_b reads minus what clock_a reads at one instant: at least this, as an answer that is ok was given before it was seen, ms';
COMMENT ON COLUMN clock_advice.high_ms IS 'At most this, as a request was sent before it arrived, ms';
COMMENT ON COLUMN clock_advice.offset_ms IS 'The middle of the bounds, if one offset can fit all attempts, ms';
COMMENT ON COLUMN clock_advice.error_ms IS 'Give or take this, ms';
COMMENT ON COLUMN clock_advice.low_by IS 'What the lower bound rests on: a token that was seen later, or only the end of the server''s record';
COMMENT ON COLUMN clock_advice.low_from IS 'The attempt that gives the lower bound';
COMMENT ON COLUMN clock_advice.high_from IS 'The attempt that gives the upper bound';
COMMENT ON COLUMN clock_advice.declared IS 'What the manifest says of the two: same machine, offset, not declared; or that they are one clock';
COMMENT ON COLUMN clock_advice.declared_ms IS 'The offset that is taken for true, ms';
COMMENT ON COLUMN clock_advice.declared_error_ms IS 'Its declared error, ms';
COMMENT ON COLUMN clock_advice.finding IS 'What the bounds say of that';
COMMENT ON COLUMN clock_advice.entry IS 'The entry of artifact.clocks in a manifest that would declare the middle and its error';
