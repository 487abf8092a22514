-- Each attempt that a server let in, with the state that its worker was in on the same clock.
CREATE VIEW worker_traffic AS
WITH state AS (
  SELECT run, worker, clock, clock_kind, control, start_ns FROM control_event
  WHERE control IN ('load', 'warm', 'ready', 'drain', 'stop', 'kill')
), span_of AS (
  SELECT
    *, coalesce(lead(start_ns) OVER (PARTITION BY run, coalesce(worker, ''), clock, clock_kind ORDER BY start_ns, control), 9223372036854775807) AS until_ns,
    row_number() OVER (PARTITION BY run, coalesce(worker, ''), clock, clock_kind ORDER BY start_ns, control) = 1 AS is_first
  FROM state
), arrival AS (
  SELECT run, request_id, attempt_id, worker, engine_clock AS clock, engine_clock_kind AS clock_kind, engine_arrived_ns AS arrived_ns FROM attempt
  WHERE engine_arrived_ns IS NOT NULL AND engine_rejected_ns IS NULL AND outcome <> 'rejected'
  UNION ALL
  SELECT run, request_id, attempt_id, worker, gateway_clock, gateway_clock_kind, gateway_arrived_ns FROM attempt
  WHERE gateway_arrived_ns IS NOT NULL AND gateway_rejected_ns IS NULL AND outcome <> 'rejected' AND engine_clock IS DISTINCT FROM gateway_clock
)
SELECT
  a.run, a.request_id, a.attempt_id, s.worker, a.clock, a.arrived_ns,
  -- Before the first that is told of a worker: it was not up.
  CASE WHEN a.arrived_ns < s.start_ns THEN 'before ' || s.control ELSE s.control END AS state,
  s.control IN ('load', 'warm') OR a.arrived_ns < s.start_ns AS before_ready,
  a.arrived_ns >= s.start_ns AND s.control IN ('drain', 'stop', 'kill') AS after_drain
FROM arrival AS a
JOIN span_of AS s ON s.run = a.run AND s.clock = a.clock AND s.clock_kind = a.clock_kind AND (s.worker IS NULL OR s.worker = a.worker)
  AND a.arrived_ns < s.until_ns
  AND (a.arrived_ns >= s.start_ns OR s.is_first AND s.control IN ('load', 'warm', 'ready'));

COMMENT ON VIEW worker_traffic IS 'One row per attempt that was let in and worker (or service) whose state is told on the same clock: what state it found';
COMMENT ON COLUMN worker_traffic.worker IS 'The worker whose state it is; NULL: the service as a whole';
COMMENT ON COLUMN worker_traffic.arrived_ns IS 'When it arrived there, on the same clock';
COMMENT ON COLUMN worker_traffic.state IS 'load, warm, ready, drain, stop, kill; or before the first of them';
COMMENT ON COLUMN worker_traffic.before_ready IS 'Let in before the worker was ready';
COMMENT ON COLUMN worker_traffic.after_drain IS 'Let in after it began to drain';
