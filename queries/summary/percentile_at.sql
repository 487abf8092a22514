-- Any other level: FROM percentile_at('ttft', 0.75).
CREATE MACRO percentile_at(which, q) AS TABLE
SELECT
  metric, unit, population, run, load_point, tenant, input_bin, output_bin, window_start, first_chunk,
  n, failed, undetermined, unknown, not_applicable,
  order_statistic(low_values, nearest_rank(level_e6(q), n)) AS low,
  order_statistic(high_values, nearest_rank(level_e6(q), n)) AS high,
  'nearest_rank' AS method
FROM distribution
WHERE metric = which AND n > 0;

COMMENT ON MACRO TABLE percentile_at IS 'Any quantile level of one metric, nearest rank: percentile_at(metric, q), one row per population and stratum';
