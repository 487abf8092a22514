-- Why an attempt was made: the first, a retry after a failure, a hedged copy beside one that ran, or a fallback to another model.
CREATE VIEW attempt_kind AS
WITH timed AS (
  SELECT
    run, request_id, attempt, attempt_id, outcome, model, route, deadline_ms, idempotency_key,
    CASE WHEN client_clock IS NOT NULL THEN client_clock WHEN gateway_clock IS NOT NULL THEN gateway_clock ELSE engine_clock END AS its_clock,
    coalesce(client_clock_kind, gateway_clock_kind, engine_clock_kind) AS clock_kind,
    CASE WHEN client_clock IS NOT NULL THEN client_clock_kind || ' ' || client_clock WHEN gateway_clock IS NOT NULL THEN gateway_clock_kind || ' ' || gateway_clock
         ELSE engine_clock_kind || ' ' || engine_clock END AS clock,
    CASE WHEN client_clock IS NOT NULL THEN client_sent_ns WHEN gateway_clock IS NOT NULL THEN gateway_arrived_ns ELSE engine_arrived_ns END AS sent_ns,
    CASE WHEN client_clock IS NOT NULL THEN client_done_ns WHEN gateway_clock IS NOT NULL THEN gateway_done_ns ELSE engine_done_ns END AS end_ns
  FROM attempt
), placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS place,
    min(clock) OVER (PARTITION BY run, request_id) = max(clock) OVER (PARTITION BY run, request_id)
      -- One that starts anew with each request, perhaps with each attempt, sets none beside another.
      AND clock_kind <> 'duration' AS one_clock,
    count(*) FILTER (outcome NOT IN ('rejected', 'unsent')) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) > 0 AS worked_before,
    lag(outcome) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS before_outcome,
    lag(model) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS before_model,
    lag(route) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS before_route,
    max(end_ns) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_end_ns,
    count(*) FILTER (end_ns IS NULL) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_open,
    first_value(sent_ns) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS first_sent_ns,
    first_value(deadline_ms) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS first_deadline_ms,
    first_value(idempotency_key) OVER (PARTITION BY run, request_id ORDER BY attempt, attempt_id) AS first_key
  FROM timed
)
SELECT
  run, request_id, attempt, attempt_id, outcome, before_outcome,
  CASE
    WHEN place = 1 THEN 'first'
    WHEN model <> before_model OR route <> before_route THEN 'fallback'
    WHEN NOT one_clock OR sent_ns IS NULL THEN 'cannot tell'
    WHEN sent_ns < before_end_ns THEN 'hedge'
    WHEN before_open > 0 THEN 'cannot tell'
    ELSE 'retry'
  END AS kind,
  CASE WHEN place > 1 AND one_clock AND before_open = 0 THEN elapsed_ms(before_end_ns, sent_ns) END AS backoff_ms,
  CASE WHEN place > 1 AND one_clock AND coalesce(first_deadline_ms, deadline_ms) IS NOT NULL AND elapsed_ms(first_sent_ns, sent_ns) IS NOT NULL
    THEN greatest(elapsed_ms(first_sent_ns, sent_ns) - coalesce(first_deadline_ms, deadline_ms), 0) END AS past_deadline_ms,
  CASE WHEN place > 1 THEN coalesce(idempotency_key = first_key, false) END AS same_key, CASE WHEN place > 1 THEN worked_before END AS worked_before,
  its_clock AS clock
FROM placed;

COMMENT ON VIEW attempt_kind IS 'One row per attempt: first, retry (after the earlier ones ended), hedge (beside one that still ran), fallback (to another model or route), or cannot tell';
COMMENT ON COLUMN attempt_kind.before_outcome IS 'How the attempt before it ended';
COMMENT ON COLUMN attempt_kind.kind IS 'first, retry, hedge, fallback; cannot tell where the times are on several clocks, or an earlier end was not recorded';
COMMENT ON COLUMN attempt_kind.backoff_ms IS 'Pause since the last end of an earlier attempt, ms';
COMMENT ON COLUMN attempt_kind.past_deadline_ms IS 'Sent so long after the deadline of the request, 0 before it; NULL without a deadline, ms';
COMMENT ON COLUMN attempt_kind.same_key IS 'Whether it bears the idempotency key of the first attempt; NULL for the first';
COMMENT ON COLUMN attempt_kind.worked_before IS 'Whether an attempt before it was neither refused nor left unsent, so that a server may have worked on it; NULL for the first';
