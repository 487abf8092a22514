-- Each attempt that a server let in, with the state that its worker was in on the same clock.
CREATE VIEW worker_traffic AS
WITH state AS (
  SELECT run, worker, clock, clock_kind, control, start_ns, end_ns, step FROM control_event
  WHERE control IN ('load', 'warm', 'ready', 'drain', 'stop', 'kill')
), own AS (
  SELECT DISTINCT run, worker, clock, clock_kind FROM state WHERE worker IS NOT NULL
), lasting AS (
  SELECT
    * EXCLUDE (end_ns), coalesce(end_ns, lead(start_ns) OVER w, 9223372036854775807) AS until_ns,
    row_number() OVER w = 1 AS is_first,
    min(start_ns) FILTER (control = 'ready') OVER (w ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) AS ready_ns,
    end_ns IS NOT NULL AS ends_itself
  FROM state
  WINDOW w AS (PARTITION BY run, coalesce(worker, ''), clock, clock_kind ORDER BY start_ns, step)
), arrival AS (
  SELECT run, request_id, attempt_id, worker, engine_clock AS clock, engine_clock_kind AS clock_kind,
    coalesce(engine_arrived_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns) AS arrived_ns
  FROM attempt
  WHERE engine_rejected_ns IS NULL AND outcome <> 'rejected'
  UNION ALL
  -- What a gateway holds back until a worker is ready was not let in when it arrived.
  SELECT run, request_id, attempt_id, worker, gateway_clock, gateway_clock_kind,
    coalesce(gateway_admitted_ns, CASE WHEN engine_clock IS NULL THEN gateway_arrived_ns END)
  FROM attempt
  WHERE gateway_rejected_ns IS NULL AND outcome <> 'rejected' AND (engine_clock IS DISTINCT FROM gateway_clock
    OR coalesce(engine_arrived_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns) IS NULL)
)
SELECT
  a.run, a.request_id, a.attempt_id, s.worker, a.clock, a.arrived_ns,
  -- Before the first that is told of a worker: it was not up.
  CASE WHEN a.arrived_ns < s.start_ns THEN 'before ' || s.control ELSE s.control END AS state,
  -- Loading is before ready where it has an end of its own, or where somebody says later that it is ready.
  (a.arrived_ns < s.start_ns OR s.control IN ('load', 'warm')) AND (s.ends_itself AND a.arrived_ns >= s.start_ns OR s.ready_ns > a.arrived_ns) AS before_ready,
  a.arrived_ns >= s.start_ns AND s.control IN ('drain', 'stop', 'kill') AS after_drain
FROM arrival AS a
JOIN lasting AS s ON s.run = a.run AND s.clock = a.clock AND s.clock_kind = a.clock_kind AND (s.worker IS NULL OR s.worker = a.worker)
  AND a.arrived_ns < s.until_ns
  AND (a.arrived_ns >= s.start_ns OR s.is_first AND s.control IN ('load', 'warm', 'ready') AND s.ready_ns IS NOT NULL)
LEFT JOIN own AS o ON o.run = a.run AND o.worker = a.worker AND o.clock = a.clock AND o.clock_kind = a.clock_kind
-- A worker with states of its own shares only the end of the whole service.
WHERE s.worker IS NOT NULL OR o.worker IS NULL OR s.control IN ('drain', 'stop', 'kill');

COMMENT ON VIEW worker_traffic IS 'One row per attempt that was let in and worker (or service) whose state is told on the same clock: what state it found';
COMMENT ON COLUMN worker_traffic.worker IS 'The worker whose state it is; NULL: the service as a whole';
COMMENT ON COLUMN worker_traffic.arrived_ns IS 'When it arrived there, on the same clock';
COMMENT ON COLUMN worker_traffic.state IS 'load, warm, ready, drain, stop, kill; or before the first of them';
COMMENT ON COLUMN worker_traffic.before_ready IS 'Let in before the worker was ready';
COMMENT ON COLUMN worker_traffic.after_drain IS 'Let in after it began to drain';
