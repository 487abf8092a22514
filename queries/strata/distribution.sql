-- The ordered values of each metric in each stratum, with the counts of what has no value.
CREATE TABLE distribution AS
WITH told AS (
  -- A metric that a run never recorded is not one of its metrics; what heads the run is, even if every request failed.
  SELECT e.*
  FROM metric_end AS e
  JOIN metric AS m ON m.metric = e.metric
  JOIN run AS w ON w.run = e.run
  WHERE (w.side = m.side AND (m.metric LIKE 'ttft%' OR m.metric LIKE 'e2e%') AND m.metric <> 'ttft_scheduled')
    OR EXISTS (SELECT 1 FROM metric_value AS v WHERE v.run = e.run AND v.metric = e.metric AND v.state = 'value')
), keyed AS (
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
  FROM told
), gathered AS (
  SELECT
    metric, unit, family, first_chunk, run,
    coalesce(load_point, '(all)') AS load_point, coalesce(tenant, '(all)') AS tenant, coalesce(input_bin, '(all)') AS input_bin,
    coalesce(output_bin, '(all)') AS output_bin, coalesce(window_start, '(all)') AS window_start,
    count(*) FILTER (counts_as = 'failed') AS failed,
    count(*) FILTER (counts_as = 'undetermined') AS undetermined,
    count(*) FILTER (counts_as = 'unknown') AS unknown,
    count(*) FILTER (counts_as IN ('not applicable', 'excluded')) AS not_applicable,
    count(*) FILTER (counts_as = 'value') AS ok_n,
    count(*) FILTER (low IS NOT NULL AND counts_as <> 'not applicable') AS reached_n,
    count(all_low) FILTER (family = 'time') AS all_n,
    list_sort(list(low) FILTER (counts_as = 'value')) AS ok_low,
    list_sort(list(high) FILTER (counts_as = 'value')) AS ok_high,
    list_sort(list(low) FILTER (metric IN ('ttft', 'ttft_gateway', 'ttft_engine', 'ttft_scheduled') AND low IS NOT NULL
      AND counts_as <> 'not applicable')) AS reached_low,
    list_sort(list(all_low) FILTER (family = 'time' AND all_low IS NOT NULL)) AS all_low,
    list_sort(list(all_high) FILTER (family = 'time' AND all_high IS NOT NULL)) AS all_high
  FROM keyed
  GROUP BY metric, unit, family, first_chunk, run, GROUPING SETS (
    (), (load_point), (load_point, tenant), (load_point, input_bin), (load_point, output_bin), (load_point, window_start),
    (load_point, input_bin, output_bin), (load_point, tenant, input_bin, output_bin), (load_point, tenant, window_start),
    (load_point, tenant, input_bin, output_bin, window_start))
), populated AS (
  SELECT *, 'ok' AS population, ok_n AS n, ok_low AS low_values, ok_high AS high_values FROM gathered
  UNION ALL
  SELECT *, 'reached', reached_n, reached_low, reached_low FROM gathered
  WHERE metric IN ('ttft', 'ttft_gateway', 'ttft_engine', 'ttft_scheduled')
  UNION ALL
  SELECT *, 'all', all_n, all_low, all_high FROM gathered WHERE family = 'time'
)
SELECT
  metric, unit, population, run, load_point, tenant, input_bin, output_bin, window_start, first_chunk,
  n, failed, undetermined, unknown, not_applicable, low_values, high_values
FROM populated
WHERE n + failed + undetermined + unknown > 0;

COMMENT ON TABLE distribution IS 'One row per metric, population and stratum: the ordered values, and the counts of requests that have none';
COMMENT ON COLUMN distribution.n IS 'Values in the population; for all: values, failed, undetermined and unknown together';
COMMENT ON COLUMN distribution.low_values IS 'Lower ends in ascending order, ms; infinity where it was never reached, -infinity where nothing is known';
COMMENT ON COLUMN distribution.high_values IS 'Upper ends in ascending order, ms; infinity where it was never reached';
