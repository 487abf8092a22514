-- Each side's account of each attempt as offsets from the start of its request, for drawing.
CREATE VIEW request_timeline AS
WITH account AS (
  SELECT
    a.run, a.request_id, a.attempt, a.attempt_id, 'client' AS side, 1 AS place, a.client_clock AS clock, 0 AS shift_ns, 0 AS error_ns,
    coalesce(a.client_scheduled_ns, a.client_sent_ns) AS start_ns, a.client_first_content_ns AS first_ns, a.client_done_ns AS end_ns,
    v.outcome, a.client_clock AS head_clock
  FROM attempt AS a
  JOIN side_view AS v ON v.attempt_id = a.attempt_id AND v.side = 'client'
  WHERE a.client_clock IS NOT NULL
  UNION ALL
  SELECT
    a.run, a.request_id, a.attempt, a.attempt_id, 'gateway', 2, a.gateway_clock,
    CASE WHEN a.client_clock IS NULL THEN 0 ELSE c.gateway_to_client_ns END,
    CASE WHEN a.client_clock IS NULL THEN 0 ELSE c.gateway_to_client_error_ns END,
    a.gateway_arrived_ns, a.gateway_first_content_ns, a.gateway_done_ns,
    v.outcome, coalesce(a.client_clock, a.gateway_clock)
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
  JOIN side_view AS v ON v.attempt_id = a.attempt_id AND v.side = 'gateway'
  WHERE a.gateway_clock IS NOT NULL
  UNION ALL
  SELECT
    a.run, a.request_id, a.attempt, a.attempt_id, 'engine', 3, a.engine_clock,
    CASE WHEN a.client_clock IS NOT NULL THEN c.engine_to_client_ns WHEN a.gateway_clock IS NOT NULL THEN c.engine_to_gateway_ns ELSE 0 END,
    CASE WHEN a.client_clock IS NOT NULL THEN c.engine_to_client_error_ns
         WHEN a.gateway_clock IS NOT NULL THEN c.engine_to_gateway_error_ns ELSE 0 END,
    a.engine_arrived_ns, a.engine_first_token_ns, a.engine_done_ns,
    v.outcome, coalesce(a.client_clock, a.gateway_clock, a.engine_clock)
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
  JOIN side_view AS v ON v.attempt_id = a.attempt_id AND v.side = 'engine'
  WHERE a.engine_clock IS NOT NULL
), headed AS (
  -- The request's clock is that of its first attempt; an attempt on another one has a zero of its own.
  SELECT *, arg_min(head_clock, {'attempt': attempt, 'id': attempt_id}) OVER (PARTITION BY run, request_id) AS request_clock FROM account
), zeroed AS (
  -- A side whose clock nothing relates to the request's starts at its own zero.
  SELECT
    * EXCLUDE (shift_ns), CASE WHEN head_clock = request_clock THEN shift_ns END AS shift_ns,
    CASE WHEN shift_ns IS NOT NULL AND head_clock = request_clock
      THEN coalesce(
        min(CASE WHEN clock = head_clock THEN start_ns END) OVER (PARTITION BY run, request_id, head_clock),
        min(start_ns + shift_ns) OVER (PARTITION BY run, request_id, head_clock))
      ELSE min(start_ns) OVER (PARTITION BY run, attempt_id, clock) END AS zero_ns
  FROM headed
)
SELECT
  run, request_id, attempt, attempt_id, side, place, clock, shift_ns IS NOT NULL AS related, error_ns / 1e6 AS error_ms,
  zero_ns - coalesce(shift_ns, 0) AS zero_ns,
  (start_ns + coalesce(shift_ns, 0) - zero_ns) / 1e6 AS start_ms,
  (first_ns + coalesce(shift_ns, 0) - zero_ns) / 1e6 AS first_ms,
  (end_ns + coalesce(shift_ns, 0) - zero_ns) / 1e6 AS end_ms,
  outcome
FROM zeroed;

COMMENT ON VIEW request_timeline IS 'One row per attempt and side that saw it: when it began, showed its first content and ended, counted from the start of its request';
COMMENT ON COLUMN request_timeline.outcome IS 'How it ended as this side saw it; NULL when it did not see the end';
COMMENT ON COLUMN request_timeline.place IS 'Order of the sides, outermost first';
COMMENT ON COLUMN request_timeline.related IS 'Whether this clock is the request''s, or declared to relate to it; if not, the row starts at its own zero';
COMMENT ON COLUMN request_timeline.error_ms IS 'Declared error of the relation of the clocks, ms';
COMMENT ON COLUMN request_timeline.start_ms IS 'Sent (or scheduled), or arrived, ms';
COMMENT ON COLUMN request_timeline.first_ms IS 'First content, or the engine''s first token, ms; NULL where it was not recorded';
COMMENT ON COLUMN request_timeline.end_ms IS 'The end that this side saw, ms';
COMMENT ON COLUMN request_timeline.zero_ns IS 'Where 0 lies on this clock, ns';
