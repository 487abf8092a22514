-- What each load generator would print of the same attempts, under its own formulas.
CREATE VIEW as_printed AS
WITH placed AS (
  SELECT v.run, coalesce(s.whole, v.load_point) AS load_point, v.tool, v.metric, v.value, v.weight
  FROM printed_value AS v CROSS JOIN (VALUES (NULL), ('(all)')) AS s (whole)
), gathered AS (
  -- Sums are of whole numbers, so that they do not depend on the order of the rows.
  SELECT
    p.run, p.load_point, p.tool, p.metric, f.percentile,
    count(*) AS n, sum(p.weight)::BIGINT AS weight, list_sort(list(p.value)) AS ordered,
    sum(CAST(round(p.value * p.weight * 1e9) AS HUGEINT)) AS total, min(p.value) AS low, max(p.value) AS high,
    sum(CAST(round(p.value * p.value * p.weight * 1e12) AS HUGEINT)) AS squares
  FROM placed AS p
  JOIN printed_formula AS f ON f.tool = p.tool AND f.metric = p.metric
  GROUP BY ALL
), level AS (
  SELECT * FROM (VALUES ('p0.1', 0.001), ('p1', 0.01), ('p5', 0.05), ('p10', 0.1), ('p25', 0.25), ('p50', 0.5), ('p75', 0.75),
    ('p90', 0.9), ('p95', 0.95), ('p97', 0.97), ('p99', 0.99), ('p99.9', 0.999)) AS l (statistic, q)
), heavy AS (
  SELECT
    p.run, p.load_point, p.tool, p.metric, p.value,
    sum(p.weight) OVER (PARTITION BY p.run, p.load_point, p.tool, p.metric ORDER BY p.value) AS so_far
  FROM placed AS p
  JOIN printed_formula AS f ON f.tool = p.tool AND f.metric = p.metric AND f.percentile = 'weighted'
), weighted AS (
  SELECT g.run, g.load_point, g.tool, g.metric, l.statistic, min(h.value) AS value
  FROM gathered AS g CROSS JOIN level AS l
  JOIN heavy AS h ON h.run = g.run AND h.load_point = g.load_point AND h.tool = g.tool AND h.metric = g.metric
    AND h.so_far >= l.q * g.weight
  WHERE g.percentile = 'weighted'
  GROUP BY ALL
), told AS (
  SELECT run, load_point, tool, metric, l.statistic,
    CASE percentile WHEN 'linear' THEN linear_percentile(ordered, n, l.q) ELSE floor_percentile(ordered, n, l.q) END AS value
  FROM gathered CROSS JOIN level AS l
  WHERE percentile <> 'weighted'
  UNION ALL
  SELECT run, load_point, tool, metric, statistic, value FROM weighted
  UNION ALL
  -- LoadGen divides whole nanoseconds and leaves the rest.
  SELECT run, load_point, tool, metric, 'mean',
    CASE percentile WHEN 'floor' THEN (total // 1000) // weight / 1e6 ELSE total / 1e9 / weight END
  FROM gathered
  UNION ALL
  -- llmperf's is that of a sample, by n - 1, as pandas has it; the others take their values for all there are.
  SELECT run, load_point, tool, metric, 'std',
    sqrt(greatest(squares / 1e12 / weight - (total / 1e9 / weight) * (total / 1e9 / weight), 0)
      * CASE WHEN tool = 'llmperf' THEN weight / nullif(weight - 1, 0) ELSE 1 END)
  FROM gathered
  UNION ALL
  SELECT run, load_point, tool, metric, 'min', low FROM gathered
  UNION ALL
  SELECT run, load_point, tool, metric, 'max', high FROM gathered
  UNION ALL
  SELECT run, load_point, tool, metric, 'sum', total / 1e9 FROM gathered
  UNION ALL
  SELECT run, load_point, tool, metric, 'count', weight::DOUBLE FROM gathered
)
SELECT
  t.run, t.load_point, t.tool, f.version, t.metric, NULL::VARCHAR AS slo, t.statistic, t.value, f.unit, g.n, g.weight,
  f.formula, f.weighting, f.population, f.ours
FROM told AS t
JOIN gathered AS g ON g.run = t.run AND g.load_point = t.load_point AND g.tool = t.tool AND g.metric = t.metric
JOIN printed_formula AS f ON f.tool = t.tool AND f.metric = t.metric
UNION ALL
SELECT
  g.run, g.load_point, g.tool, v.version, g.goodput, g.slo, s.statistic,
  CASE s.statistic WHEN 'count' THEN g.good ELSE g.good / g.n END, CASE s.statistic WHEN 'count' THEN 'requests' ELSE 'ratio' END,
  g.n, g.n, 'answered within every limit', 'per request', g.population, 'attainment'
FROM printed_goodput AS g
JOIN (SELECT tool, max(version) AS version FROM printed_formula GROUP BY tool) AS v ON v.tool = g.tool
CROSS JOIN (VALUES ('share'), ('count')) AS s (statistic)
WHERE g.n > 0
UNION ALL
SELECT run, load_point, tool, version, metric, NULL, 'value', value, unit, n, n, formula, weighting, population, ours
FROM printed_rate
WHERE value IS NOT NULL;

COMMENT ON VIEW as_printed IS 'One row per run, load point, load generator, number of its and statistic: what it would print of these attempts; none where the evidence its formula needs is missing';
COMMENT ON COLUMN as_printed.tool IS 'The load generator';
COMMENT ON COLUMN as_printed.version IS 'The version whose formula this is';
COMMENT ON COLUMN as_printed.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN as_printed.slo IS 'The promise that goodput is about; NULL elsewhere';
COMMENT ON COLUMN as_printed.statistic IS 'mean, std, min, max, sum, count, p50 ...; value of a count or rate; share and count of goodput';
COMMENT ON COLUMN as_printed.value IS 'The number';
COMMENT ON COLUMN as_printed.n IS 'Values that it is over';
COMMENT ON COLUMN as_printed.weight IS 'What they weigh together: the tool''s own count of values';
COMMENT ON COLUMN as_printed.formula IS 'The formula in words';
COMMENT ON COLUMN as_printed.weighting IS 'What a value is of, and what it weighs';
COMMENT ON COLUMN as_printed.population IS 'Which attempts are in it';
COMMENT ON COLUMN as_printed.ours IS 'The metric of ours that is nearest';
