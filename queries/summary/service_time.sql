-- How long an engine worked on each attempt: its scheduled intervals, without the time that it was preempted.
CREATE VIEW service_time AS
WITH away AS (
  -- Each taking off has its putting back, the last perhaps none: then it was away from then on.
  SELECT
    n.attempt_id, l.clock,
    count(*) FILTER (l.event = 'preempted') AS preemptions, count(*) FILTER (l.event = 'resumed') AS resumptions,
    max(l.time_ns) FILTER (l.event = 'preempted') >= coalesce(max(l.time_ns) FILTER (l.event = 'resumed'), 0) AS ends_away,
    (coalesce(sum(l.time_ns) FILTER (l.event = 'resumed'), 0) - coalesce(sum(l.time_ns) FILTER (l.event = 'preempted'), 0))::HUGEINT AS away_ns
  FROM event_line AS l
  JOIN attempt_member AS m ON m.observation_id = l.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  WHERE l.event IN ('preempted', 'resumed') AND l.side = 'engine'
  GROUP BY n.attempt_id, l.clock
), held AS (
  SELECT
    a.run, a.request_id, a.attempt_id, a.engine_clock AS clock, a.outcome, coalesce(w.preemptions, 0) AS preemptions,
    coalesce(a.engine_started_ns, a.engine_started_high_ns) AS started_ns,
    coalesce(a.engine_last_token_ns, a.engine_done_ns) AS last_ns, a.engine_arrived_ns AS arrived_ns, a.engine_done_ns AS done_ns,
    CASE WHEN w.attempt_id IS NULL THEN 0 WHEN w.preemptions = w.resumptions THEN w.away_ns
         WHEN w.preemptions = w.resumptions + 1 AND w.ends_away THEN w.away_ns + coalesce(a.engine_last_token_ns, a.engine_done_ns) END AS told_away_ns
  FROM attempt AS a
  LEFT JOIN away AS w ON w.attempt_id = a.attempt_id AND w.clock = a.engine_clock
  WHERE a.engine_clock IS NOT NULL
), judged AS (
  SELECT *, CASE WHEN told_away_ns BETWEEN 0 AND last_ns - started_ns THEN told_away_ns::BIGINT WHEN told_away_ns = 0 THEN 0 END AS away_ns FROM held
)
SELECT
  run, request_id, attempt_id, clock, outcome, preemptions,
  elapsed_ms(started_ns, last_ns) AS scheduled_to_last_ms, away_ns / 1e6 AS preempted_ms,
  elapsed_ms(started_ns, last_ns) - away_ns / 1e6 AS service_ms,
  elapsed_ms(arrived_ns, done_ns) AS response_ms,
  elapsed_ms(arrived_ns, done_ns) - (elapsed_ms(started_ns, last_ns) - away_ns / 1e6) AS waiting_ms,
  coalesce(elapsed_why(started_ns, last_ns), CASE WHEN away_ns IS NULL THEN 'preempted and resumed do not pair' END) AS service_why
FROM judged;

COMMENT ON VIEW service_time IS 'One row per attempt that an engine saw: the time in which it was scheduled, and the rest, which is waiting. A share of a batch counts as work';
COMMENT ON COLUMN service_time.preemptions IS 'How often it was taken off the device';
COMMENT ON COLUMN service_time.scheduled_to_last_ms IS 'From its first scheduled step to its last token, or its end without one, ms';
COMMENT ON COLUMN service_time.preempted_ms IS 'Of that, taken off and not yet resumed, ms';
COMMENT ON COLUMN service_time.service_ms IS 'The sum of its scheduled intervals, ms';
COMMENT ON COLUMN service_time.response_ms IS 'From arrived to done at the engine, ms';
COMMENT ON COLUMN service_time.waiting_ms IS 'response - service, ms';
COMMENT ON COLUMN service_time.service_why IS 'Why there is no service time';
