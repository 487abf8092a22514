-- The goodput that each load generator would print: which answers it calls good, and of how many.
CREATE VIEW printed_goodput AS
WITH told AS (
  SELECT run, slo, metric, limit_ms FROM slo
  UNION ALL
  -- Limits that the tool was given itself.
  SELECT DISTINCT run, 'told to the tool', replace(metric, 'limit ', ''), value FROM tool_figure
  WHERE kind = 'setting' AND metric IN ('limit ttft', 'limit tpot', 'limit e2e')
), judged AS (
  SELECT run, slo FROM told GROUP BY run, slo HAVING bool_and(metric IN ('ttft', 'tpot', 'e2e'))
), told_value AS (
  SELECT run, tool, metric, attempt_id, value FROM printed_value
), known AS (
  SELECT DISTINCT run, tool, metric FROM told_value
), able AS (
  -- A tool whose numbers cannot be made of the rows says nothing, rather than that nobody was good.
  SELECT j.run, j.slo, c.tool, c.goodput
  FROM judged AS j
  JOIN told AS t ON t.run = j.run AND t.slo = j.slo
  JOIN printed_condition AS c ON c.ours = t.metric
  LEFT JOIN known AS k ON k.run = j.run AND k.tool = c.tool AND k.metric = c.metric
  GROUP BY j.run, j.slo, c.tool, c.goodput
  HAVING bool_and(k.run IS NOT NULL)
), attempt_state AS (
  SELECT
    a.run, a.load_point, j.slo, c.tool, c.goodput, a.attempt_id, a.ok, a.outcome,
    bool_and(CASE WHEN v.value IS NOT NULL THEN v.value <= t.limit_ms ELSE c.missing = 'passes' END) AS met,
    bool_or(v.value IS NULL AND c.missing = 'excluded') AS excluded
  FROM printed_attempt AS a
  JOIN able AS j ON j.run = a.run
  JOIN told AS t ON t.run = j.run AND t.slo = j.slo
  JOIN printed_condition AS c ON c.ours = t.metric AND c.tool = j.tool AND c.goodput = j.goodput
  LEFT JOIN told_value AS v ON v.attempt_id = a.attempt_id AND v.tool = c.tool AND v.metric = c.metric
  GROUP BY a.run, a.load_point, j.slo, c.tool, c.goodput, a.attempt_id, a.ok, a.outcome
), placed AS (
  SELECT * FROM attempt_state
  UNION ALL
  SELECT * REPLACE ('(all)' AS load_point) FROM attempt_state
)
SELECT
  run, load_point, slo, tool, goodput,
  count(*) FILTER (ok AND met) AS good,
  CASE tool
    WHEN 'inference-perf' THEN count(*) FILTER (ok)
    WHEN 'GuideLLM' THEN count(*) FILTER (outcome NOT IN ('cancelled', 'unsent', 'unresolved') AND NOT (ok AND excluded))
    ELSE count(*) FILTER (outcome <> 'unsent') END AS n,
  CASE tool
    WHEN 'inference-perf' THEN 'answered'
    WHEN 'GuideLLM' THEN 'answered and failed, without the cancelled and those it cannot judge'
    WHEN 'vLLM bench' THEN 'all sent; the tool itself prints a rate and no share'
    ELSE 'all sent' END AS population
FROM placed
GROUP BY run, load_point, slo, tool, goodput;

COMMENT ON VIEW printed_goodput IS 'One row per run, load point, promise, load generator and goodput of its: how many attempts it would call good, and of how many';
COMMENT ON COLUMN printed_goodput.slo IS 'The promise, or told to the tool: the limits that the load generator was given itself';
COMMENT ON COLUMN printed_goodput.tool IS 'The load generator';
COMMENT ON COLUMN printed_goodput.goodput IS 'goodput as the tool has it by default, or with the server''s count of tokens, which it takes on request';
COMMENT ON COLUMN printed_goodput.good IS 'Attempts that it would call good';
COMMENT ON COLUMN printed_goodput.n IS 'Attempts that it divides by';
COMMENT ON COLUMN printed_goodput.population IS 'Which those are';
