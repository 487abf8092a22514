-- How a worker came up: each phase until it was ready, and its part of the critical path.
CREATE VIEW ready_path AS
WITH ready AS (
  SELECT
    run, worker, clock, clock_kind, start_ns AS ready_ns,
    lag(start_ns) OVER (PARTITION BY run, worker, clock, clock_kind ORDER BY start_ns) AS before_ns
  FROM control_event
  WHERE control = 'ready'
), phase AS (
  SELECT * FROM control_event WHERE control IN ('detect', 'provision', 'load', 'warm')
), own AS (
  SELECT r.*, p.control, p.start_ns, least(coalesce(p.end_ns, p.until_ns, r.ready_ns), r.ready_ns) AS end_ns, p.end_ns IS NOT NULL AS ends_itself, p.origin
  FROM ready AS r
  JOIN phase AS p ON p.run = r.run AND p.clock = r.clock AND p.clock_kind = r.clock_kind AND p.worker IS NOT DISTINCT FROM r.worker
    AND p.start_ns < r.ready_ns AND (r.before_ns IS NULL OR p.start_ns >= r.before_ns)
), first_own AS (
  SELECT run, worker, clock, clock_kind, ready_ns, min(start_ns) AS first_ns FROM own GROUP BY run, worker, clock, clock_kind, ready_ns
), shared AS (
  -- What is told of the whole service belongs to the next worker that comes up; an older cause has its worker already.
  SELECT r.*, p.control, p.start_ns, p.end_ns AS told_end_ns, p.origin, coalesce(f.first_ns, r.ready_ns) AS first_ns,
    row_number() OVER (PARTITION BY r.run, r.worker, r.clock, r.clock_kind, r.ready_ns, p.control ORDER BY p.start_ns DESC) AS newest
  FROM ready AS r
  LEFT JOIN first_own AS f ON f.run = r.run AND f.worker IS NOT DISTINCT FROM r.worker AND f.clock = r.clock AND f.clock_kind = r.clock_kind AND f.ready_ns = r.ready_ns
  JOIN phase AS p ON p.run = r.run AND p.clock = r.clock AND p.clock_kind = r.clock_kind AND p.worker IS NULL AND r.worker IS NOT NULL AND p.control IN ('detect', 'provision')
    AND p.start_ns <= coalesce(f.first_ns, r.ready_ns) AND (r.before_ns IS NULL OR p.start_ns >= r.before_ns)
  WHERE NOT EXISTS (SELECT 1 FROM ready AS o WHERE o.run = r.run AND o.clock = r.clock AND o.clock_kind = r.clock_kind
    AND o.ready_ns > p.start_ns AND o.ready_ns <= coalesce(f.first_ns, r.ready_ns) AND o.worker IS DISTINCT FROM r.worker)
), joined AS (
  SELECT run, worker, clock, clock_kind, ready_ns, control, start_ns, end_ns, origin FROM own
  UNION ALL
  SELECT run, worker, clock, clock_kind, ready_ns, control, start_ns,
    coalesce(told_end_ns, lead(start_ns) OVER (PARTITION BY run, worker, clock, clock_kind, ready_ns ORDER BY start_ns), first_ns), origin
  FROM shared
  WHERE newest = 1
), walked AS (
  -- Backwards from ready: where phases overlap, the one that ended last is what was waited for.
  SELECT
    *,
    min(start_ns) OVER (PARTITION BY run, worker, clock, clock_kind, ready_ns ORDER BY end_ns DESC, start_ns DESC, control
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS taken_ns,
    min(start_ns) OVER (PARTITION BY run, worker, clock, clock_kind, ready_ns) AS first_ns
  FROM joined
)
SELECT
  run, worker, clock, ready_ns, control AS phase, origin,
  elapsed_ms(first_ns, start_ns) AS start_ms, elapsed_ms(first_ns, end_ns) AS end_ms, elapsed_ms(start_ns, end_ns) AS duration_ms,
  greatest(least(end_ns, coalesce(taken_ns, end_ns)) - start_ns, 0) / 1e6 AS path_ms,
  elapsed_ms(first_ns, ready_ns) AS ready_ms
FROM walked;

COMMENT ON VIEW ready_path IS 'One row per worker that came up and phase before it was ready; path_ms of all of them is the time that the phases account for, overlaps once';
COMMENT ON COLUMN ready_path.worker IS 'The worker; NULL: the service as a whole';
COMMENT ON COLUMN ready_path.ready_ns IS 'When it was ready, on its clock';
COMMENT ON COLUMN ready_path.phase IS 'detect, provision, load or warm';
COMMENT ON COLUMN ready_path.origin IS 'event or span';
COMMENT ON COLUMN ready_path.start_ms IS 'Begin, since the first phase began, ms';
COMMENT ON COLUMN ready_path.end_ms IS 'End, since the first phase began, ms';
COMMENT ON COLUMN ready_path.duration_ms IS 'How long the phase took, ms';
COMMENT ON COLUMN ready_path.path_ms IS 'Its part of the critical path: where phases overlap the one that ended last has the time, ms';
COMMENT ON COLUMN ready_path.ready_ms IS 'From the first phase''s begin to ready: new capacity is of no use before, ms';
