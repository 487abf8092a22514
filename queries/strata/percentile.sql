-- The percentiles of one metric in one stratum on one row, with the population and what it leaves out.
CREATE VIEW percentile AS
SELECT
  s.metric, s.unit, s.population, s.run, s.load_point, s.tenant, s.input_bin, s.output_bin, s.window_start,
  s.n, s.failed, s.undetermined, s.unknown, s.not_applicable,
  max(q.low) FILTER (q.q = 0.5) AS p50,
  max(q.low) FILTER (q.q = 0.9) AS p90,
  max(q.low) FILTER (q.q = 0.95) AS p95,
  max(q.low) FILTER (q.q = 0.99) AS p99,
  max(q.low) FILTER (q.q = 0.999) AS p999,
  max(q.high) FILTER (q.q = 0.5) AS p50_high,
  max(q.high) FILTER (q.q = 0.9) AS p90_high,
  max(q.high) FILTER (q.q = 0.95) AS p95_high,
  max(q.high) FILTER (q.q = 0.99) AS p99_high,
  max(q.high) FILTER (q.q = 0.999) AS p999_high,
  'nearest_rank' AS method, s.first_chunk,
  concat_ws('; ',
    CASE WHEN s.n = 0 THEN 'nobody has a value' END,
    CASE WHEN s.n < 20 THEN 'n too small for p95' END,
    CASE WHEN s.n < 100 THEN 'n too small for p99' END,
    CASE WHEN s.n < 1000 THEN 'n too small for p99.9' END,
    CASE WHEN s.first_chunk = 'assumed' THEN 'first chunk assumed 1 token' END) AS note
FROM stratum_size AS s
LEFT JOIN quantile AS q
  ON q.metric = s.metric AND q.population = s.population AND q.run = s.run AND q.load_point = s.load_point
  AND q.tenant = s.tenant AND q.input_bin = s.input_bin AND q.output_bin = s.output_bin
  AND q.window_start = s.window_start AND q.first_chunk IS NOT DISTINCT FROM s.first_chunk
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
