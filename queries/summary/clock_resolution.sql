-- How fine each clock was written down: the coarsest step that fits all of its times.
CREATE VIEW clock_resolution AS
SELECT
  run, clock, clock_kind, side, count(time_ns) AS times,
  CASE WHEN bool_and(time_ns % 1000000000 = 0) THEN 1000000000
       WHEN bool_and(time_ns % 1000000 = 0) THEN 1000000
       WHEN bool_and(time_ns % 1000 = 0) THEN 1000
       WHEN bool_and(time_ns % 100 = 0) THEN 100
       ELSE 1 END / 1e6 AS step_ms
FROM boundary
WHERE time_ns IS NOT NULL AND evidence = 'measured'
GROUP BY run, clock, clock_kind, side;

COMMENT ON VIEW clock_resolution IS 'One row per run, clock and side: the coarsest step (s, ms, µs, 100 ns, ns) that all of its times are multiples of. An interval between two of them is right to one step either way';
COMMENT ON COLUMN clock_resolution.times IS 'Times that were read from it';
COMMENT ON COLUMN clock_resolution.step_ms IS 'The step, ms; with few times it may look coarser than it is';
