-- How many attempts and requests ended how, in every stratum.
CREATE TABLE outcome_count AS
WITH unit AS (
  SELECT run, load_point, tenant, input_bin, output_bin, window_start, outcome, 0 AS attempts, 1 AS requests
  FROM request WHERE counted
  UNION ALL
  SELECT r.run, r.load_point, r.tenant, r.input_bin, r.output_bin, r.window_start, a.outcome, 1, 0
  FROM attempt AS a
  JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id
  WHERE r.counted
), keyed AS (
  SELECT
    run, stratum_key(load_point) AS load_point, stratum_key(tenant) AS tenant,
    stratum_key(input_bin) AS input_bin, stratum_key(output_bin) AS output_bin,
    stratum_key(window_start) AS window_start, outcome, attempts, requests
  FROM unit
)
SELECT
  run,
  coalesce(load_point, '(all)') AS load_point, coalesce(tenant, '(all)') AS tenant, coalesce(input_bin, '(all)') AS input_bin,
  coalesce(output_bin, '(all)') AS output_bin, coalesce(window_start, '(all)') AS window_start,
  outcome, sum(attempts)::BIGINT AS attempts, sum(requests)::BIGINT AS requests
FROM keyed
GROUP BY run, outcome, GROUPING SETS (
  (), (load_point), (load_point, tenant), (load_point, input_bin), (load_point, output_bin), (load_point, window_start),
  (load_point, input_bin, output_bin), (load_point, tenant, input_bin, output_bin), (load_point, tenant, window_start),
  (load_point, tenant, input_bin, output_bin, window_start));

COMMENT ON TABLE outcome_count IS 'One row per stratum and outcome: attempts and requests that ended so; they sum to the stratum';
