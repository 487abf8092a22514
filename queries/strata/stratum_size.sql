-- How many requests each metric is over in each stratum and population, and how many have no value.
CREATE TABLE stratum_size AS
WITH gathered AS (
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
    count(all_low) AS all_n
  FROM stratum_value
  GROUP BY metric, unit, family, first_chunk, run, GROUPING SETS (
    (), (load_point), (load_point, tenant), (load_point, input_bin), (load_point, output_bin), (load_point, window_start),
    (load_point, input_bin, output_bin), (load_point, tenant, input_bin, output_bin), (load_point, tenant, window_start),
    (load_point, tenant, input_bin, output_bin, window_start))
), populated AS (
  SELECT *, 'ok' AS population, ok_n AS n FROM gathered
  UNION ALL
  SELECT *, 'reached', reached_n FROM gathered
  WHERE family = 'stage' OR metric IN ('ttft', 'ttft_gateway', 'ttft_engine', 'ttft_scheduled')
  UNION ALL
  SELECT *, 'all', all_n FROM gathered WHERE family = 'time'
)
SELECT
  metric, unit, population, run, load_point, tenant, input_bin, output_bin, window_start, first_chunk,
  n, failed, undetermined, unknown, not_applicable
FROM populated
WHERE n + failed + undetermined + unknown + not_applicable > 0;

COMMENT ON TABLE stratum_size IS 'One row per metric, population and stratum: the values it has, and the counts of requests that have none';
COMMENT ON COLUMN stratum_size.n IS 'Values in the population; for all: values, failed, undetermined and unknown together';
