-- How many requests kept each promise, in every stratum: the counts behind shares and verdicts.
CREATE TABLE attainment_count AS
WITH keyed AS (
  SELECT
    run, slo, stratum_key(load_point) AS load_point, stratum_key(tenant) AS tenant,
    stratum_key(input_bin) AS input_bin, stratum_key(output_bin) AS output_bin,
    stratum_key(window_start) AS window_start, state
  FROM request_slo
)
SELECT
  slo, run,
  coalesce(load_point, '(all)') AS load_point, coalesce(tenant, '(all)') AS tenant, coalesce(input_bin, '(all)') AS input_bin,
  coalesce(output_bin, '(all)') AS output_bin, coalesce(window_start, '(all)') AS window_start,
  count(*) FILTER (state IN ('good', 'bad', 'undetermined', 'unknown')) AS n,
  count(*) FILTER (state = 'good') AS good,
  count(*) FILTER (state = 'bad') AS bad,
  count(*) FILTER (state = 'undetermined') AS undetermined,
  count(*) FILTER (state = 'unknown') AS unknown,
  count(*) FILTER (state IN ('not applicable', 'excluded')) AS not_applicable
FROM keyed
GROUP BY slo, run, GROUPING SETS (
  (), (load_point), (load_point, tenant), (load_point, input_bin), (load_point, output_bin), (load_point, window_start),
  (load_point, input_bin, output_bin), (load_point, tenant, input_bin, output_bin), (load_point, tenant, window_start),
  (load_point, tenant, input_bin, output_bin, window_start));

COMMENT ON TABLE attainment_count IS 'One row per promise and stratum: requests by how they stand to it';
COMMENT ON COLUMN attainment_count.n IS 'Requests to which the promise applies: good, bad, undetermined and unknown';
