-- The ordered values of each metric in each population and stratum; computed when asked for, not stored.
CREATE VIEW distribution AS
WITH gathered AS (
  SELECT
    metric, family, first_chunk, run,
    coalesce(load_point, '(all)') AS load_point, coalesce(tenant, '(all)') AS tenant, coalesce(input_bin, '(all)') AS input_bin,
    coalesce(output_bin, '(all)') AS output_bin, coalesce(window_start, '(all)') AS window_start,
    bool_or(bounded) AS bounded, bool_or(uncertain) AS uncertain, bool_or(failing) AS failing, bool_or(partly) AS partly,
    -- A list is gathered only where it differs from one that is there already.
    list_sort(list(low) FILTER (counts_as = 'value')) AS ok_low,
    list_sort(list(high) FILTER (counts_as = 'value' AND bounded)) AS ok_high,
    list_sort(list(low) FILTER (partly AND low IS NOT NULL AND counts_as <> 'not applicable'
      AND (family = 'stage' OR metric IN ('ttft', 'ttft_gateway', 'ttft_engine', 'ttft_scheduled')))) AS reached,
    list_sort(list(high) FILTER (partly AND bounded AND high IS NOT NULL AND counts_as <> 'not applicable'
      AND (family = 'stage' OR metric = 'ttft'))) AS reached_high,
    list_sort(list(all_low) FILTER (family = 'time' AND (failing OR uncertain) AND all_low IS NOT NULL)) AS all_low,
    list_sort(list(all_high) FILTER (family = 'time' AND (uncertain OR (failing AND bounded)) AND all_high IS NOT NULL)) AS all_high
  FROM stratum_value
  GROUP BY metric, family, first_chunk, run, GROUPING SETS (
    (), (load_point), (load_point, tenant), (load_point, input_bin), (load_point, output_bin), (load_point, window_start),
    (load_point, input_bin, output_bin), (load_point, tenant, input_bin, output_bin), (load_point, tenant, window_start),
    (load_point, tenant, input_bin, output_bin, window_start))
), populated AS (
  SELECT *, 'ok' AS population, ok_low AS low_values, CASE WHEN bounded THEN ok_high ELSE ok_low END AS high_values FROM gathered
  UNION ALL
  SELECT *, 'reached', CASE WHEN partly THEN reached ELSE ok_low END,
    CASE WHEN partly AND bounded AND (family = 'stage' OR metric = 'ttft') THEN reached_high WHEN partly THEN reached WHEN bounded THEN ok_high ELSE ok_low END
  FROM gathered
  WHERE family = 'stage' OR metric IN ('ttft', 'ttft_gateway', 'ttft_engine', 'ttft_scheduled')
  UNION ALL
  SELECT *, 'all', CASE WHEN failing OR uncertain THEN all_low ELSE ok_low END,
    CASE WHEN uncertain OR (failing AND bounded) THEN all_high WHEN failing THEN all_low WHEN bounded THEN ok_high ELSE ok_low END
  FROM gathered WHERE family = 'time'
)
SELECT
  s.metric, s.unit, s.population, s.run, s.load_point, s.tenant, s.input_bin, s.output_bin, s.window_start, s.first_chunk,
  s.n, s.failed, s.undetermined, s.unknown, s.not_applicable, p.low_values, p.high_values
FROM stratum_size AS s
JOIN populated AS p
  ON p.metric = s.metric AND p.population = s.population AND p.run = s.run AND p.load_point = s.load_point
  AND p.tenant = s.tenant AND p.input_bin = s.input_bin AND p.output_bin = s.output_bin
  AND p.window_start = s.window_start AND p.first_chunk IS NOT DISTINCT FROM s.first_chunk;

COMMENT ON VIEW distribution IS 'One row per metric, population and stratum: the ordered values, and the counts of requests that have none';
COMMENT ON COLUMN distribution.n IS 'Values in the population; for all: values, failed, undetermined and unknown together';
COMMENT ON COLUMN distribution.low_values IS 'Lower ends in ascending order, ms; infinity where it was never reached, -infinity where nothing is known';
COMMENT ON COLUMN distribution.high_values IS 'Upper ends in ascending order, ms; infinity where it was never reached';
