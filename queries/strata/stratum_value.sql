-- Metric values under the keys of their strata, with what each counts as among all requests.
CREATE VIEW stratum_value AS
WITH told AS (
  -- A metric that a run never recorded is not one of its metrics; what heads the run is, even if every request failed.
  SELECT e.*
  FROM metric_end AS e
  JOIN metric AS m ON m.metric = e.metric
  JOIN run AS w ON w.run = e.run
  WHERE (w.side = m.side AND (m.metric LIKE 'ttft%' OR m.metric LIKE 'e2e%') AND m.metric <> 'ttft_scheduled')
    OR EXISTS (SELECT 1 FROM metric_value AS v WHERE v.run = e.run AND v.metric = e.metric AND v.state = 'value')

)
SELECT
  metric, unit, family, first_chunk, run,
  stratum_key(load_point) AS load_point, stratum_key(tenant) AS tenant,
  stratum_key(input_bin) AS input_bin, stratum_key(output_bin) AS output_bin,
  stratum_key(window_start) AS window_start,
  outcome, counts_as, low, high,
  CASE counts_as
    WHEN 'value' THEN low
    WHEN 'failed' THEN 'infinity'::DOUBLE
    WHEN 'undetermined' THEN coalesce(low, left_ms, '-infinity'::DOUBLE)
    WHEN 'unknown' THEN '-infinity'::DOUBLE END AS all_low,
  CASE counts_as WHEN 'value' THEN high WHEN 'failed' THEN 'infinity'::DOUBLE
    WHEN 'undetermined' THEN 'infinity'::DOUBLE WHEN 'unknown' THEN 'infinity'::DOUBLE END AS all_high
FROM told;

COMMENT ON VIEW stratum_value IS 'One row per counted request and metric of its run, keys of the strata filled in; all_low and all_high are its ends among all requests';
COMMENT ON COLUMN stratum_value.counts_as IS 'value, failed (never arrives), undetermined, unknown, not applicable or excluded';
COMMENT ON COLUMN stratum_value.low IS 'At least this, ms';
COMMENT ON COLUMN stratum_value.high IS 'At most this, ms';
COMMENT ON COLUMN stratum_value.all_low IS 'Lower end among all, ms: infinity where it never came, -infinity where nothing is known';
COMMENT ON COLUMN stratum_value.all_high IS 'Upper end among all, ms: infinity where it never came or may not have';
