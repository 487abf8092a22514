-- Metric values under the keys of their strata, with what each counts as among all requests.
CREATE VIEW stratum_value AS
WITH kind AS (
  SELECT DISTINCT run, metric, first_chunk FROM metric_end WHERE first_chunk IS NOT NULL AND counts_as = 'value'
), placed AS (
  -- A request without a value has no first chunk to be known or assumed: it stands in the population of each kind.
  SELECT t.* FROM metric_end AS t
  WHERE t.first_chunk IS NULL OR t.counts_as = 'value'
    OR NOT EXISTS (SELECT 1 FROM kind AS k WHERE k.run = t.run AND k.metric = t.metric)
  UNION ALL BY NAME
  SELECT t.* EXCLUDE (first_chunk), k.first_chunk
  FROM metric_end AS t JOIN kind AS k ON k.run = t.run AND k.metric = t.metric
  WHERE t.first_chunk IS NOT NULL AND t.counts_as <> 'value'
)
SELECT
  e.metric, e.unit, e.family, e.first_chunk, e.run, m.bounded, m.uncertain, m.failing, m.partly,
  stratum_key(load_point) AS load_point, stratum_key(tenant) AS tenant,
  stratum_key(input_bin) AS input_bin, stratum_key(output_bin) AS output_bin,
  stratum_key(window_start) AS window_start,
  outcome, counts_as, low, high,
  CASE counts_as
    WHEN 'value' THEN low
    WHEN 'failed' THEN 'infinity'::DOUBLE
    WHEN 'undetermined' THEN CASE WHEN e.metric IN ('tpot', 'tpot_engine', 'ntpot') THEN '-infinity'::DOUBLE
      ELSE coalesce(low, left_ms, '-infinity'::DOUBLE) END
    WHEN 'unknown' THEN '-infinity'::DOUBLE END AS all_low,
  CASE counts_as WHEN 'value' THEN high WHEN 'failed' THEN 'infinity'::DOUBLE
    WHEN 'undetermined' THEN 'infinity'::DOUBLE WHEN 'unknown' THEN 'infinity'::DOUBLE END AS all_high
FROM placed AS e
JOIN metric_shape AS m ON m.run = e.run AND m.metric = e.metric;

COMMENT ON VIEW stratum_value IS 'One row per counted request and metric of its run, keys of the strata filled in; all_low and all_high are its ends among all requests';
COMMENT ON COLUMN stratum_value.counts_as IS 'value, failed (never arrives), undetermined, unknown, not applicable or excluded';
COMMENT ON COLUMN stratum_value.bounded IS 'Some values of the metric are only known as an interval';
COMMENT ON COLUMN stratum_value.uncertain IS 'Some requests are undetermined or without evidence for the metric';
COMMENT ON COLUMN stratum_value.failing IS 'Some requests never reach the metric';
COMMENT ON COLUMN stratum_value.partly IS 'Some requests reached the metric and then failed or left';
COMMENT ON COLUMN stratum_value.low IS 'At least this, ms';
COMMENT ON COLUMN stratum_value.high IS 'At most this, ms';
COMMENT ON COLUMN stratum_value.all_low IS 'Lower end among all, ms: infinity where it never came, -infinity where nothing is known';
COMMENT ON COLUMN stratum_value.all_high IS 'Upper end among all, ms: infinity where it never came or may not have';
