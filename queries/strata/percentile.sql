-- The percentiles of one metric in one stratum on one row, with the population and what it leaves out.
CREATE VIEW percentile AS
SELECT
  metric, unit, population, run, load_point, tenant, input_bin, output_bin, window_start,
  n, failed, undetermined, unknown, not_applicable,
  max(low) FILTER (q = 0.5) AS p50,
  max(low) FILTER (q = 0.9) AS p90,
  max(low) FILTER (q = 0.95) AS p95,
  max(low) FILTER (q = 0.99) AS p99,
  max(low) FILTER (q = 0.999) AS p999,
  max(high) FILTER (q = 0.5) AS p50_high,
  max(high) FILTER (q = 0.9) AS p90_high,
  max(high) FILTER (q = 0.95) AS p95_high,
  max(high) FILTER (q = 0.99) AS p99_high,
  max(high) FILTER (q = 0.999) AS p999_high,
  'nearest_rank' AS method, first_chunk,
  concat_ws('; ',
    CASE WHEN n < 20 THEN 'n too small for p95' END,
    CASE WHEN n < 100 THEN 'n too small for p99' END,
    CASE WHEN n < 1000 THEN 'n too small for p99.9' END,
    CASE WHEN first_chunk = 'assumed' THEN 'first chunk assumed 1 token' END) AS note
FROM quantile
GROUP BY ALL;

COMMENT ON VIEW percentile IS 'One row per metric, population and stratum: nearest-rank percentiles in ms; infinity means not reached';
COMMENT ON COLUMN percentile.p50 IS 'p50, ms; the lower end where p50_high differs';
COMMENT ON COLUMN percentile.p90 IS 'p90, ms; the lower end where p90_high differs';
COMMENT ON COLUMN percentile.p95 IS 'p95, ms; the lower end where p95_high differs';
COMMENT ON COLUMN percentile.p99 IS 'p99, ms; the lower end where p99_high differs';
COMMENT ON COLUMN percentile.p999 IS 'p99.9, ms; the lower end where p999_high differs';
COMMENT ON COLUMN percentile.p50_high IS 'Upper end of p50, ms, equal to it where it is exact';
COMMENT ON COLUMN percentile.p90_high IS 'Upper end of p90, ms, equal to it where it is exact';
COMMENT ON COLUMN percentile.p95_high IS 'Upper end of p95, ms, equal to it where it is exact';
COMMENT ON COLUMN percentile.p99_high IS 'Upper end of p99, ms, equal to it where it is exact';
COMMENT ON COLUMN percentile.p999_high IS 'Upper end of p999, ms, equal to it where it is exact';
