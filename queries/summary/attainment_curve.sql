-- The share of all requests that had reached a metric by each time, at no more than about 200 ranks.
CREATE VIEW attainment_curve AS
WITH whole AS (
  SELECT *
  FROM distribution
  WHERE population = 'all' AND n > 0
    AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'
), chosen AS (
  -- Evenly spaced ranks, and the ranks after which nobody surely or possibly arrives: where the plateau begins.
  SELECT d.metric, d.run, d.load_point, d.first_chunk, (s.i * d.n + 199) // 200 AS rank
  FROM whole AS d
  CROSS JOIN (SELECT unnest(range(1, 201)) AS i) AS s
  UNION
  SELECT metric, run, load_point, first_chunk, 1 FROM whole
  UNION
  SELECT metric, run, load_point, first_chunk, n - failed FROM whole
  UNION
  SELECT metric, run, load_point, first_chunk, n - failed - undetermined - unknown FROM whole
)
SELECT
  d.metric, d.unit, d.run, d.load_point, d.first_chunk, d.n, c.rank, c.rank / d.n AS share,
  order_statistic(d.low_values, c.rank) AS low_ms,
  order_statistic(d.high_values, c.rank) AS high_ms
FROM chosen AS c
JOIN whole AS d ON d.metric = c.metric AND d.run = c.run AND d.load_point = c.load_point
  AND d.first_chunk IS NOT DISTINCT FROM c.first_chunk
WHERE c.rank >= 1;

COMMENT ON VIEW attainment_curve IS 'One row per metric, load point and chosen rank: by high_ms this share of all requests surely had it, by low_ms at the earliest';
COMMENT ON COLUMN attainment_curve.n IS 'Requests to which the metric applies, failures among them';
COMMENT ON COLUMN attainment_curve.rank IS 'How many requests, fastest first';
COMMENT ON COLUMN attainment_curve.share IS 'rank / n';
COMMENT ON COLUMN attainment_curve.low_ms IS 'The earliest time by which so many may have had it, ms; infinity where so many never do';
COMMENT ON COLUMN attainment_curve.high_ms IS 'The time by which so many surely had it, ms; infinity where that is never sure';
