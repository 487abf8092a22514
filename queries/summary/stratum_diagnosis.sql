-- Which wait makes a stratum slower than the run as a whole.
CREATE VIEW stratum_diagnosis AS
WITH total AS (
  SELECT q.*, CASE WHEN q.metric LIKE 'ttft%' THEN 'first content' ELSE 'end' END AS about
  FROM quantile AS q
  JOIN run AS w ON w.run = q.run
  WHERE q.q = 0.5 AND q.population = 'ok'
    AND q.metric IN (CASE w.side WHEN 'client' THEN 'ttft' WHEN 'gateway' THEN 'ttft_gateway' ELSE 'ttft_engine' END,
      CASE w.side WHEN 'client' THEN 'e2e' WHEN 'gateway' THEN 'e2e_gateway' ELSE 'e2e_engine' END)
), compared AS (
  SELECT g.*, t.value AS total_ms, a.value AS median_total_ms, t.value - a.value AS total_excess_ms
  FROM greatest_excess AS g
  LEFT JOIN total AS t ON t.run = g.run AND t.about = g.about AND t.load_point = g.load_point AND t.tenant = g.tenant
    AND t.input_bin = g.input_bin AND t.output_bin = g.output_bin AND t.window_start = g.window_start
  LEFT JOIN total AS a ON a.run = g.run AND a.about = g.about AND a.load_point = '(all)' AND a.tenant = '(all)'
    AND a.input_bin = '(all)' AND a.output_bin = '(all)' AND a.window_start = '(all)'
  WHERE g.request_id IS NULL
)
SELECT
  run, load_point, tenant, input_bin, output_bin, window_start, about, total_ms, median_total_ms,
  -- What was tried before, and what nobody saw, have no median of their own: the wait must hold most of what the whole grew by.
  CASE WHEN total_excess_ms IS NULL THEN 'not enough evidence'
       WHEN finding = 'no excess' AND total_excess_ms > 0 THEN 'not enough evidence'
       WHEN total_excess_ms > 0 AND 2 * excess_low_ms < total_excess_ms THEN 'not enough evidence'
       ELSE finding END AS finding,
  part, n, low_ms, high_ms, median_low_ms, median_high_ms, median_n, excess_low_ms, excess_high_ms, other_part, other_high_ms,
  CASE WHEN n < 20 THEN 'n too small' END AS note
FROM compared;

COMMENT ON VIEW stratum_diagnosis IS 'One row per stratum and end that is asked about: which wait''s median is longer than the run''s, over ok requests, with the numbers that say so';
COMMENT ON COLUMN stratum_diagnosis.about IS 'first content or end';
COMMENT ON COLUMN stratum_diagnosis.total_ms IS 'Median time to first content, or to the end, in the stratum, ms';
COMMENT ON COLUMN stratum_diagnosis.median_total_ms IS 'The same in the run, ms';
COMMENT ON COLUMN stratum_diagnosis.finding IS 'As in diagnosis';
COMMENT ON COLUMN stratum_diagnosis.part IS 'The wait whose excess is surely the greatest';
COMMENT ON COLUMN stratum_diagnosis.n IS 'ok requests of the stratum that have that wait';
COMMENT ON COLUMN stratum_diagnosis.low_ms IS 'Its median in the stratum, lower end, ms';
COMMENT ON COLUMN stratum_diagnosis.high_ms IS 'Its median in the stratum, upper end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_low_ms IS 'Its median in the run, lower end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_high_ms IS 'Its median in the run, upper end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_n IS 'ok requests of the run that have that wait';
COMMENT ON COLUMN stratum_diagnosis.excess_low_ms IS 'Longer by at least this, ms';
COMMENT ON COLUMN stratum_diagnosis.excess_high_ms IS 'Longer by at most this, ms';
COMMENT ON COLUMN stratum_diagnosis.other_part IS 'The wait that may have grown most besides';
COMMENT ON COLUMN stratum_diagnosis.other_high_ms IS 'By at most this, ms';
