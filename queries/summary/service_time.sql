-- How long an engine worked on each attempt: its scheduled intervals, without the time that it was preempted.
CREATE VIEW service_time AS
WITH turn AS (
  SELECT
    n.attempt_id, l.event, l.time_ns, l.clock,
    lead(l.event) OVER w AS next_event, lead(l.time_ns) OVER w AS next_ns
  FROM event_line AS l
  JOIN attempt_member AS m ON m.observation_id = l.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  WHERE l.event IN ('preempted', 'resumed') AND l.side = 'engine'
  WINDOW w AS (PARTITION BY n.attempt_id, l.clock ORDER BY l.time_ns, l.event)
), away AS (
  SELECT
    attempt_id, clock, count(*) FILTER (event = 'preempted') AS preemptions,
    sum(CASE WHEN event = 'preempted' AND next_event = 'resumed' THEN next_ns - time_ns END)::BIGINT AS away_ns,
    -- Taken off and never put back: it was away from then on.
    max(time_ns) FILTER (event = 'preempted' AND next_event IS NULL) AS away_since_ns
  FROM turn
  GROUP BY attempt_id, clock
), held AS (
  SELECT
    a.run, a.request_id, a.attempt_id, a.engine_clock AS clock, a.outcome, coalesce(w.preemptions, 0) AS preemptions,
    coalesce(a.engine_started_ns, a.engine_started_high_ns) AS started_ns,
    coalesce(a.engine_last_token_ns, a.engine_done_ns) AS last_ns, a.engine_arrived_ns AS arrived_ns, a.engine_done_ns AS done_ns,
    coalesce(w.away_ns, 0) AS away_ns, w.away_since_ns
  FROM attempt AS a
  LEFT JOIN away AS w ON w.attempt_id = a.attempt_id AND w.clock = a.engine_clock
  WHERE a.engine_clock IS NOT NULL
)
SELECT
  run, request_id, attempt_id, clock, outcome, preemptions,
  elapsed_ms(started_ns, last_ns) AS scheduled_to_last_ms,
  CASE WHEN preemptions > 0 THEN (away_ns + coalesce(greatest(last_ns - away_since_ns, 0), 0)) / 1e6 ELSE 0 END AS preempted_ms,
  elapsed_ms(started_ns, last_ns) - (away_ns + coalesce(greatest(last_ns - away_since_ns, 0), 0)) / 1e6 AS service_ms,
  elapsed_ms(arrived_ns, done_ns) AS response_ms,
  elapsed_ms(arrived_ns, done_ns) - (elapsed_ms(started_ns, last_ns) - (away_ns + coalesce(greatest(last_ns - away_since_ns, 0), 0)) / 1e6) AS waiting_ms,
  elapsed_why(started_ns, last_ns) AS service_why
FROM held;

COMMENT ON VIEW service_time IS 'One row per attempt that an engine saw: the time in which it was scheduled, and the rest, which is waiting. A share of a batch counts as work';
COMMENT ON COLUMN service_time.preemptions IS 'How often it was taken off the device';
COMMENT ON COLUMN service_time.scheduled_to_last_ms IS 'From its first scheduled step to its last token, or its end without one, ms';
COMMENT ON COLUMN service_time.preempted_ms IS 'Of that, taken off and not yet resumed, ms';
COMMENT ON COLUMN service_time.service_ms IS 'The sum of its scheduled intervals, ms';
COMMENT ON COLUMN service_time.response_ms IS 'From arrived to done at the engine, ms';
COMMENT ON COLUMN service_time.waiting_ms IS 'response - service, ms';
COMMENT ON COLUMN service_time.service_why IS 'Why there is no service time';
