-- What the traffic of a run was, as far as the data shows it.
CREATE VIEW workload AS
WITH sized AS (
  SELECT
    run,
    count(*) AS requests,
    count(input_tokens) AS with_input, count(output_tokens) AS with_output,
    list_sort(list(input_tokens) FILTER (input_tokens IS NOT NULL)) AS inputs,
    list_sort(list(output_tokens) FILTER (output_tokens IS NOT NULL)) AS outputs,
    bool_and(coalesce(streamed, false)) AS all_streamed, bool_or(coalesce(streamed, true)) AS any_streamed,
    count(DISTINCT model) AS models, min(model) AS model, count(DISTINCT tenant) AS tenants,
    count(DISTINCT load_point) AS load_points, min(arrived_ns) AS first_ns, max(arrived_ns) AS last_ns
  FROM request
  WHERE counted
  GROUP BY run
)
SELECT
  run, requests, models, model, tenants, load_points, with_input, with_output,
  order_statistic(inputs, nearest_rank(500000, with_input)) AS input_p50,
  order_statistic(inputs, nearest_rank(950000, with_input)) AS input_p95,
  order_statistic(inputs, with_input) AS input_max,
  order_statistic(outputs, nearest_rank(500000, with_output)) AS output_p50,
  order_statistic(outputs, nearest_rank(950000, with_output)) AS output_p95,
  order_statistic(outputs, with_output) AS output_max,
  CASE WHEN all_streamed THEN true WHEN NOT any_streamed THEN false END AS streamed,
  CASE WHEN requests > 1 AND last_ns > first_ns THEN (requests - 1) / ((last_ns - first_ns) / 1e9) END AS arrival_per_s
FROM sized;

COMMENT ON VIEW workload IS 'One row per run: lengths in tokens by nearest rank, streaming, model, tenants, mean arrival rate';
COMMENT ON COLUMN workload.requests IS 'Counted requests';
COMMENT ON COLUMN workload.models IS 'How many models answered';
COMMENT ON COLUMN workload.model IS 'The model; the first by name where there are several';
COMMENT ON COLUMN workload.tenants IS 'How many tenants are named';
COMMENT ON COLUMN workload.load_points IS 'How many load points are named';
COMMENT ON COLUMN workload.with_input IS 'Requests whose input tokens are known';
COMMENT ON COLUMN workload.with_output IS 'Requests whose output tokens are known';
COMMENT ON COLUMN workload.input_p50 IS 'Median input length, tokens';
COMMENT ON COLUMN workload.input_p95 IS '95th percentile of the input length, tokens';
COMMENT ON COLUMN workload.input_max IS 'Longest input, tokens';
COMMENT ON COLUMN workload.output_p50 IS 'Median output length, tokens';
COMMENT ON COLUMN workload.output_p95 IS '95th percentile of the output length, tokens';
COMMENT ON COLUMN workload.output_max IS 'Longest output, tokens';
COMMENT ON COLUMN workload.streamed IS 'true: all streamed, false: none, NULL: mixed or not recorded';
COMMENT ON COLUMN workload.arrival_per_s IS 'Arrivals per second between the first and the last';
