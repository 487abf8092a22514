-- The span of time that rates of a run divide by.
CREATE VIEW run_window AS
SELECT
  w.run,
  coalesce(w.window_start_ns, min(r.arrived_ns)) AS start_ns,
  coalesce(w.window_end_ns, max(greatest(r.done_ns, r.arrived_ns))) AS end_ns,
  (coalesce(w.window_end_ns, max(greatest(r.done_ns, r.arrived_ns))) - coalesce(w.window_start_ns, min(r.arrived_ns))) / 1e9 AS length_s,
  CASE WHEN w.window_start_ns IS NOT NULL AND w.window_end_ns IS NOT NULL THEN 'declared'
       ELSE 'from the first arrival to the last end' END AS basis
FROM run AS w
JOIN request AS r ON r.run = w.run AND r.counted
GROUP BY w.run, w.window_start_ns, w.window_end_ns;

COMMENT ON VIEW run_window IS 'One row per run: the wall-clock span that its rates divide by, and whether it was declared';
COMMENT ON COLUMN run_window.start_ns IS 'Start of the span';
COMMENT ON COLUMN run_window.end_ns IS 'End of the span';
COMMENT ON COLUMN run_window.length_s IS 'Length of the span, seconds';
COMMENT ON COLUMN run_window.basis IS 'declared, or what stood in for a declaration';
