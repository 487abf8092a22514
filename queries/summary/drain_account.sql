-- What became of the attempts that were in flight when a worker began to drain.
CREATE VIEW drain_account AS
WITH turn AS (
  SELECT run, worker, clock, clock_kind, control, start_ns,
    lag(control) OVER w AS before, min(start_ns) FILTER (control = 'ready') OVER (w ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING) AS next_ns
  FROM control_event
  WHERE control IN ('ready', 'drain')
  WINDOW w AS (PARTITION BY run, coalesce(worker, ''), clock, clock_kind ORDER BY start_ns, control DESC)
), drain AS (
  SELECT
    d.run, d.worker, d.clock, d.clock_kind, d.start_ns AS drain_ns,
    -- The end of the time that they are given, else the end of the worker; what follows a later ready is another's.
    min(b.start_ns) FILTER (b.control = 'grace') AS grace_ns, min(b.start_ns) FILTER (b.control IN ('stop', 'kill')) AS stop_ns,
    arg_min(b.control, b.start_ns) FILTER (b.control IN ('stop', 'kill')) AS ended_by
  FROM turn AS d
  LEFT JOIN control_event AS b ON b.run = d.run AND b.clock = d.clock AND b.clock_kind = d.clock_kind AND b.start_ns >= d.start_ns
    AND (b.worker IS NULL OR b.worker = d.worker) AND b.control IN ('grace', 'stop', 'kill')
    AND (d.next_ns IS NULL OR b.start_ns <= d.next_ns)
  -- A drain that is told again is the same one.
  WHERE d.control = 'drain' AND d.before IS DISTINCT FROM 'drain'
  GROUP BY d.run, d.worker, d.clock, d.clock_kind, d.start_ns
), bounded AS (
  SELECT *, least(coalesce(grace_ns, stop_ns), coalesce(stop_ns, grace_ns)) AS bound_ns FROM drain
), stay AS (
  SELECT run, attempt_id, worker, outcome, engine_clock AS clock, engine_clock_kind AS clock_kind, coalesce(engine_arrived_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns) AS entered_ns, engine_done_ns AS left_ns,
    coalesce(engine_first_token_ns, gateway_first_content_ns, client_first_content_ns) IS NOT NULL AS has_content
  FROM attempt
  WHERE engine_clock IS NOT NULL
  UNION ALL
  SELECT run, attempt_id, worker, outcome, gateway_clock, gateway_clock_kind, gateway_arrived_ns, gateway_done_ns,
    coalesce(gateway_first_content_ns, client_first_content_ns) IS NOT NULL
  FROM attempt
  WHERE gateway_clock IS NOT NULL
    AND (engine_clock IS DISTINCT FROM gateway_clock OR coalesce(engine_arrived_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns) IS NULL)
), caught AS (
  SELECT b.*, s.attempt_id, s.outcome, s.has_content, s.left_ns <= b.bound_ns OR (b.bound_ns IS NULL AND s.left_ns IS NOT NULL) AS ended
  FROM bounded AS b
  JOIN stay AS s ON s.run = b.run AND s.clock = b.clock AND s.clock_kind = b.clock_kind AND (b.worker IS NULL OR s.worker = b.worker)
    AND s.entered_ns < b.drain_ns AND (s.left_ns IS NULL OR s.left_ns > b.drain_ns) AND s.outcome <> 'rejected'
)
SELECT
  b.run, b.worker, b.clock, b.drain_ns, b.bound_ns, elapsed_ms(b.drain_ns, b.bound_ns) AS bound_ms,
  CASE WHEN b.bound_ns IS NULL THEN 'not bounded: no grace, stop or kill was recorded'
       WHEN b.bound_ns = b.grace_ns THEN 'grace' ELSE b.ended_by END AS bound_by,
  count(c.attempt_id) AS in_flight,
  count(c.attempt_id) FILTER (c.ended AND c.outcome = 'ok') AS finished,
  count(c.attempt_id) FILTER (c.ended AND c.outcome NOT IN ('ok', 'cancelled') AND c.has_content) AS partial,
  count(c.attempt_id) FILTER (c.ended AND c.outcome = 'cancelled') AS cancelled,
  count(c.attempt_id) FILTER (c.ended AND c.outcome NOT IN ('ok', 'cancelled') AND NOT c.has_content) AS failed,
  count(c.attempt_id) FILTER (c.ended IS NOT true) AS running,
  b.grace_ns, b.stop_ns, b.ended_by
FROM bounded AS b
LEFT JOIN caught AS c ON c.run = b.run AND c.worker IS NOT DISTINCT FROM b.worker AND c.clock = b.clock AND c.drain_ns = b.drain_ns
GROUP BY b.run, b.worker, b.clock, b.drain_ns, b.bound_ns, b.grace_ns, b.stop_ns, b.ended_by;

COMMENT ON VIEW drain_account IS 'One row per drain: in_flight = finished + partial + cancelled + failed + running';
COMMENT ON COLUMN drain_account.worker IS 'The worker; NULL: the service as a whole';
COMMENT ON COLUMN drain_account.drain_ns IS 'When it began, on its clock';
COMMENT ON COLUMN drain_account.bound_ns IS 'By when those in flight had to be done: the end of the grace, or of the worker, whichever came first';
COMMENT ON COLUMN drain_account.bound_ms IS 'How long that was, ms';
COMMENT ON COLUMN drain_account.bound_by IS 'grace, stop or kill; or that nothing bounds it';
COMMENT ON COLUMN drain_account.in_flight IS 'Attempts that had arrived and not ended, on the same clock';
COMMENT ON COLUMN drain_account.finished IS 'Of them, ok by the bound';
COMMENT ON COLUMN drain_account.partial IS 'Of them, ended otherwise by the bound, after some content';
COMMENT ON COLUMN drain_account.cancelled IS 'Of them, left by their waiter by the bound';
COMMENT ON COLUMN drain_account.failed IS 'Of them, failed by the bound without content';
COMMENT ON COLUMN drain_account.running IS 'Of them, still there at the bound, or without any end';
COMMENT ON COLUMN drain_account.grace_ns IS 'End of the grace, as told';
COMMENT ON COLUMN drain_account.stop_ns IS 'When the worker ended';
COMMENT ON COLUMN drain_account.ended_by IS 'stop or kill';
