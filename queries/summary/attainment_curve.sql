-- The share of all requests that had reached a metric by each time, at no more than about 200 ranks.
CREATE VIEW attainment_curve AS
WITH ordered AS (
  SELECT
    metric, unit, run, coalesce(load_point, '(all)') AS load_point, first_chunk, count(*) AS n,
    list_sort(list(all_low)) AS low_values, list_sort(list(all_high)) AS high_values,
    count(*) FILTER (all_low < 'infinity'::DOUBLE) AS possible, count(*) FILTER (all_high < 'infinity'::DOUBLE) AS sure
  FROM stratum_value
  WHERE family = 'time' AND all_low IS NOT NULL
  GROUP BY metric, unit, run, first_chunk, GROUPING SETS ((), (load_point))
), chosen AS (
  -- Evenly spaced ranks, and the ranks after which nobody surely or possibly arrives: where the plateau begins.
  SELECT o.metric, o.run, o.load_point, o.first_chunk, (s.i * o.n + 199) // 200 AS rank
  FROM ordered AS o
  CROSS JOIN (SELECT unnest(range(1, 201)) AS i) AS s
  UNION
  SELECT metric, run, load_point, first_chunk, unnest([1, sure, possible]) AS rank FROM ordered
)
SELECT
  o.metric, o.unit, o.run, o.load_point, o.first_chunk, o.n, c.rank, c.rank / o.n AS share,
  order_statistic(o.low_values, c.rank) AS low_ms,
  order_statistic(o.high_values, c.rank) AS high_ms
FROM chosen AS c
JOIN ordered AS o ON o.metric = c.metric AND o.run = c.run AND o.load_point = c.load_point
  AND o.first_chunk IS NOT DISTINCT FROM c.first_chunk
WHERE c.rank >= 1;

COMMENT ON VIEW attainment_curve IS 'One row per metric, load point and chosen rank: by high_ms this share of all requests surely had it, by low_ms at the earliest';
COMMENT ON COLUMN attainment_curve.n IS 'Requests to which the metric applies, failures among them';
COMMENT ON COLUMN attainment_curve.rank IS 'How many requests, fastest first';
COMMENT ON COLUMN attainment_curve.share IS 'rank / n';
COMMENT ON COLUMN attainment_curve.low_ms IS 'The earliest time by which so many may have had it, ms; infinity where so many never do, NULL where nothing bounds it';
COMMENT ON COLUMN attainment_curve.high_ms IS 'The time by which so many surely had it, ms; infinity where that is never sure';
