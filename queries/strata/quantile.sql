-- Quantile levels of each metric in each stratum, by nearest rank, each with its confidence interval.
-- Filled metric by metric: ordered values of one metric at a time are in memory.
CREATE TABLE quantile AS
WITH level AS (
  SELECT r.run, l.q_e6
  FROM run AS r CROSS JOIN (VALUES (500000), (900000), (950000), (990000), (999000)) AS l (q_e6)
  UNION
  SELECT run, q_e6 FROM percentile_level
), ranked AS (
  -- Every level of a sample size in one row, so that ordered values are read once and not carried from level to level.
  SELECT
    s.run, s.n,
    list(l.q_e6 ORDER BY l.q_e6) AS levels,
    list(nearest_rank(l.q_e6, s.n) ORDER BY l.q_e6) AS ranks,
    list(coalesce(b.low_rank, 0) ORDER BY l.q_e6) AS low_ranks,
    list(coalesce(b.high_rank, 0) ORDER BY l.q_e6) AS high_ranks
  FROM (SELECT DISTINCT run, n FROM stratum_size WHERE n > 0) AS s
  JOIN level AS l ON l.run = s.run
  LEFT JOIN rank_bound AS b ON b.n = s.n AND b.q_e6 = l.q_e6
  GROUP BY s.run, s.n
), picked AS (
  SELECT
    d.metric, d.unit, d.population, d.run, d.load_point, d.tenant, d.input_bin, d.output_bin, d.window_start,
    d.first_chunk, d.n, d.failed, d.undetermined, d.unknown, d.not_applicable,
    unnest(r.levels) AS q_e6,
    unnest(order_statistics(d.low_values, r.ranks)) AS low,
    unnest(order_statistics(d.high_values, r.ranks)) AS high,
    unnest(order_statistics(d.low_values, r.low_ranks)) AS ci_low,
    unnest(order_statistics(d.high_values, r.high_ranks)) AS ci_high
  FROM distribution AS d
  JOIN ranked AS r ON r.run = d.run AND r.n = d.n
)
SELECT
  metric, unit, population, run, load_point, tenant, input_bin, output_bin, window_start,
  first_chunk, n, failed, undetermined, unknown, not_applicable,
  q_e6 / 1e6 AS q,
  CASE WHEN low = high THEN nullif(low, '-infinity'::DOUBLE) END AS value,
  nullif(low, '-infinity'::DOUBLE) AS low,
  nullif(high, '-infinity'::DOUBLE) AS high,
  nullif(ci_low, '-infinity'::DOUBLE) AS ci_low,
  nullif(ci_high, '-infinity'::DOUBLE) AS ci_high,
  'independent requests' AS assumption
FROM picked;

COMMENT ON TABLE quantile IS 'One row per metric, population, stratum and level: nearest rank, [low, high] where it is an interval, order-statistic confidence interval of 95 %';
COMMENT ON COLUMN quantile.q IS 'Level, 0 to 1';
COMMENT ON COLUMN quantile.value IS 'The quantile, ms, infinity where it is not reached; NULL where it is only known to lie in [low, high]';
COMMENT ON COLUMN quantile.low IS 'Lower end, ms';
COMMENT ON COLUMN quantile.high IS 'Upper end, ms, infinity where it may never be reached';
COMMENT ON COLUMN quantile.ci_low IS 'Lower end of the 95 % confidence interval, ms; NULL where the sample bounds it on no side';
COMMENT ON COLUMN quantile.ci_high IS 'Upper end of the 95 % confidence interval, ms; NULL where the sample bounds it on no side';
COMMENT ON COLUMN quantile.assumption IS 'What the confidence interval assumes';
