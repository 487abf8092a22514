-- What a tool's own file says beside what its formula makes of the rows in the same file.
CREATE VIEW printed_check AS
WITH said AS (
  SELECT run, tool, version, stratum_key(load_point) AS load_point, metric, statistic, unit, source_file, min(value) AS value, count(*) AS times
  FROM tool_figure
  WHERE kind = 'printed' AND value IS NOT NULL
  GROUP BY ALL
), placed AS (
  -- A figure without an operating point is of the whole run, which is the only one where there is just one.
  SELECT s.* REPLACE (CASE WHEN s.load_point = '(none)' THEN '(all)' ELSE s.load_point END AS load_point) FROM said AS s
)
SELECT
  s.run, s.load_point, s.tool, s.version, s.metric, s.statistic, s.unit, s.value AS printed, p.value AS ours,
  CASE
    WHEN p.value IS NULL AND f.metric IS NULL THEN 'not compared'
    WHEN p.value IS NULL THEN 'not in the rows'
    -- Clocks that are kept as doubles of seconds are good to a quarter of a microsecond.
    WHEN abs(p.value - s.value) <= greatest(0.000001 * greatest(abs(s.value), abs(p.value)), CASE WHEN s.unit = 'ms' THEN 0.0005 ELSE 0 END) THEN 'equal'
    ELSE 'differs'
  END AS state,
  CASE WHEN abs(p.value - s.value) <= greatest(0.000001 * greatest(abs(s.value), abs(p.value)), CASE WHEN s.unit = 'ms' THEN 0.0005 ELSE 0 END) THEN NULL
    ELSE coalesce(x.why, CASE WHEN f.metric IS NULL THEN 'no formula of it is known here' END) END AS why,
  p.n, f.formula, s.source_file
FROM placed AS s
LEFT JOIN as_printed AS p
  ON p.run = s.run AND p.load_point = s.load_point AND p.tool = s.tool AND p.metric = s.metric AND p.statistic = s.statistic AND p.slo IS NULL
LEFT JOIN printed_formula AS f ON f.tool = s.tool AND f.metric = s.metric
LEFT JOIN printed_difference AS x ON x.tool = s.tool AND x.metric = s.metric AND (x.statistic IS NULL OR x.statistic = s.statistic);

COMMENT ON VIEW printed_check IS 'One row per figure that a tool''s own file prints: the same figure made from its rows, and whether the two agree';
COMMENT ON COLUMN printed_check.tool IS 'The load generator';
COMMENT ON COLUMN printed_check.version IS 'The version that wrote the file';
COMMENT ON COLUMN printed_check.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN printed_check.statistic IS 'mean, std, min, max, sum, p50 ...';
COMMENT ON COLUMN printed_check.printed IS 'As the tool''s file has it, in `unit`';
COMMENT ON COLUMN printed_check.ours IS 'As its formula makes it of the rows; NULL where they lack what it needs';
COMMENT ON COLUMN printed_check.state IS 'equal (to six digits, or half a microsecond), differs, not in the rows (evidence is missing), not compared (no formula of it here)';
COMMENT ON COLUMN printed_check.why IS 'Why the two differ, or why ours is missing, where that is known';
COMMENT ON COLUMN printed_check.n IS 'Values that ours is over';
COMMENT ON COLUMN printed_check.formula IS 'The formula in words';
