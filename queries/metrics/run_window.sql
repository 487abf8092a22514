-- The span of time that rates of a run divide by.
CREATE VIEW run_window AS
WITH seen AS (
  SELECT
    w.run,
    -- What the warm-up takes from a declared window is not counted, so it is not divided by either.
    CASE WHEN EXISTS (SELECT 1 FROM population_select AS x WHERE x.run = w.run AND x.dimension = 'phase') THEN w.window_start_ns
         ELSE w.window_start_ns + coalesce(w.warmup_ns, 0) END AS told_start_ns,
    w.window_end_ns AS told_end_ns,
    -- A request that cannot be placed, as its start is on a clock that was not set, moves neither end.
    min(r.arrived_ns) AS first_ns, max(greatest(r.done_ns, r.arrived_ns)) FILTER (r.arrived_ns IS NOT NULL) AS last_ns,
    count(r.done_ns) > 0 AS ended,
    bool_or(r.clock_kind = 'monotonic') AND count(DISTINCT coalesce(r.first_clock, '')) > 1 AS apart
  FROM run AS w
  JOIN request AS r ON r.run = w.run AND r.counted
  GROUP BY w.run, w.window_start_ns, w.window_end_ns, w.warmup_ns
)
SELECT
  run,
  coalesce(told_start_ns, CASE WHEN NOT apart THEN first_ns END) AS start_ns,
  coalesce(told_end_ns, CASE WHEN NOT apart THEN last_ns END) AS end_ns,
  (coalesce(told_end_ns, CASE WHEN NOT apart THEN last_ns END) - coalesce(told_start_ns, CASE WHEN NOT apart THEN first_ns END)) / 1e9 AS length_s,
  CASE WHEN told_start_ns IS NOT NULL AND told_end_ns IS NOT NULL THEN 'declared'
       WHEN apart THEN 'none: monotonic clocks of several hosts'
       WHEN first_ns IS NULL THEN 'none: no request has a time that places it'
       WHEN NOT ended THEN 'from the first to the last arrival: no end was recorded'
       ELSE 'from the first arrival to the last end' END AS basis
FROM seen;

COMMENT ON VIEW run_window IS 'One row per run: the wall-clock span that its rates divide by, and whether it was declared';
COMMENT ON COLUMN run_window.start_ns IS 'Start of the span';
COMMENT ON COLUMN run_window.end_ns IS 'End of the span';
COMMENT ON COLUMN run_window.length_s IS 'Length of the span, seconds';
COMMENT ON COLUMN run_window.basis IS 'declared, or what stood in for a declaration';
