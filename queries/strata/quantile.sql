-- One quantile level of one metric in one stratum, by nearest rank, with its confidence interval.
-- Filled metric by metric: ordered values of one metric at a time are in memory.
CREATE TABLE quantile AS
WITH level AS (
  SELECT r.run, l.q_e6
  FROM run AS r CROSS JOIN (VALUES (500000), (900000), (950000), (990000), (999000)) AS l (q_e6)
  UNION
  SELECT run, q_e6 FROM percentile_level
)
SELECT
  d.metric, d.unit, d.population, d.run, d.load_point, d.tenant, d.input_bin, d.output_bin, d.window_start,
  d.first_chunk, d.n, d.failed, d.undetermined, d.unknown, d.not_applicable,
  l.q_e6 / 1e6 AS q,
  CASE WHEN order_statistic(d.low_values, nearest_rank(l.q_e6, d.n)) = order_statistic(d.high_values, nearest_rank(l.q_e6, d.n))
    THEN order_statistic(d.low_values, nearest_rank(l.q_e6, d.n)) END AS value,
  order_statistic(d.low_values, nearest_rank(l.q_e6, d.n)) AS low,
  order_statistic(d.high_values, nearest_rank(l.q_e6, d.n)) AS high,
  order_statistic(d.low_values, b.low_rank) AS ci_low,
  order_statistic(d.high_values, b.high_rank) AS ci_high,
  'independent requests' AS assumption
FROM distribution AS d
JOIN level AS l ON l.run = d.run
LEFT JOIN rank_bound AS b ON b.n = d.n AND b.q_e6 = l.q_e6
WHERE d.n > 0;

COMMENT ON TABLE quantile IS 'One row per metric, population, stratum and level: nearest rank, [low, high] where it is an interval, order-statistic confidence interval of 95 %';
COMMENT ON COLUMN quantile.q IS 'Level, 0 to 1';
COMMENT ON COLUMN quantile.value IS 'The quantile, ms, infinity where it is not reached; NULL where it is only known to lie in [low, high]';
COMMENT ON COLUMN quantile.low IS 'Lower end, ms';
COMMENT ON COLUMN quantile.high IS 'Upper end, ms, infinity where it may never be reached';
COMMENT ON COLUMN quantile.ci_low IS 'Lower end of the 95 % confidence interval, ms; NULL where the sample bounds it on no side';
COMMENT ON COLUMN quantile.ci_high IS 'Upper end of the 95 % confidence interval, ms; NULL where the sample bounds it on no side';
COMMENT ON COLUMN quantile.assumption IS 'What the confidence interval assumes';
