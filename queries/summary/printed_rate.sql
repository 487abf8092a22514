-- The counts and rates that each load generator would print; rates by the duration that its own file states.
CREATE VIEW printed_rate AS
WITH placed AS (
  SELECT a.* REPLACE (coalesce(s.whole, a.load_point) AS load_point)
  FROM printed_attempt AS a CROSS JOIN (VALUES (NULL), ('(all)')) AS s (whole)
), counted AS (
  SELECT
    run, load_point, count(*) AS offered, count(*) FILTER (ok) AS ok,
    count(*) FILTER (NOT ok AND outcome NOT IN ('cancelled', 'unsent', 'unresolved')) AS failed,
    sum(text_input_tokens) FILTER (ok)::BIGINT AS text_in, sum(text_tokens) FILTER (ok)::BIGINT AS text_out,
    sum(server_input_tokens) FILTER (ok)::BIGINT AS server_in, sum(server_tokens) FILTER (ok)::BIGINT AS server_out,
    sum(coalesce(server_input_tokens, text_input_tokens)) FILTER (ok)::BIGINT AS some_in,
    sum(coalesce(server_tokens, text_tokens)) FILTER (ok)::BIGINT AS some_out
  FROM placed
  GROUP BY run, load_point
), timed AS (
  SELECT run, tool, coalesce(load_point, '(all)') AS load_point, max(value) AS duration_s
  FROM tool_figure
  WHERE kind = 'setting' AND metric = 'duration' AND value > 0
  GROUP BY ALL
  HAVING count(*) = 1
), told AS (
  SELECT
    c.*, t.duration_s, f.tool, f.version, f.metric, f.unit, f.formula, f.weighting, f.population, f.ours, g.good, g.n AS judged
  FROM counted AS c
  JOIN printed_formula AS f ON f.weighting = 'whole run'
  LEFT JOIN timed AS t ON t.run = c.run AND t.tool = f.tool AND t.load_point = c.load_point
  LEFT JOIN printed_goodput AS g ON g.run = c.run AND g.load_point = c.load_point AND g.tool = f.tool AND g.slo = 'told to the tool' AND g.goodput = 'goodput'
)
SELECT
  run, load_point, tool, version, metric, unit, offered AS n, formula, weighting, population, ours,
  CASE
    WHEN formula = 'attempts that ended well' THEN ok
    WHEN formula = 'attempts that did not end well' THEN offered - ok
    WHEN formula = 'attempts that failed' THEN failed
    WHEN formula = 'attempts that the file holds' THEN offered
    WHEN formula = '100 (attempts - ok) / attempts' THEN 100.0 * (offered - ok) / offered
    WHEN formula = '(attempts - ok) / attempts' THEN (offered - ok) / offered
    WHEN formula = 'attempts that ended well / its duration' THEN ok / duration_s
    WHEN formula = 'output tokens counted from the text / its duration' THEN text_out / duration_s
    WHEN formula = 'input tokens counted from the text / its duration' THEN text_in / duration_s
    WHEN formula = 'input and output tokens counted from the text / its duration' THEN (text_in + text_out) / duration_s
    WHEN formula = 'input tokens / its duration' THEN some_in / duration_s
    WHEN formula = 'input tokens and output tokens counted from the text / its duration' THEN (some_in + text_out) / duration_s
    WHEN formula = 'output tokens / its duration' THEN some_out / duration_s
    WHEN formula = 'input and output tokens / its duration' THEN (some_in + some_out) / duration_s
    WHEN formula = 'sum of output tokens counted from the text' THEN text_out
    WHEN formula = 'sum of input tokens counted from the text' THEN text_in
    WHEN formula = 'sum of output tokens as the server counted them' THEN server_out
    WHEN formula = 'sum of input tokens as the server counted them' THEN server_in
    WHEN formula = 'sum of output tokens' THEN some_out
    WHEN formula = 'sum of input tokens' THEN some_in
    WHEN formula = 'attempts that meet every limit' THEN good
    WHEN formula = 'good / all sent' THEN good / judged
    WHEN formula = '100 good / ok' THEN 100.0 * good / judged
    WHEN formula = 'good / its duration' THEN good / duration_s
  END::DOUBLE AS value
FROM told;

COMMENT ON VIEW printed_rate IS 'One row per run, load point, load generator and count or rate of its; NULL where the file lacks what it takes';
COMMENT ON COLUMN printed_rate.tool IS 'The load generator';
COMMENT ON COLUMN printed_rate.version IS 'The version whose formula this is';
COMMENT ON COLUMN printed_rate.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN printed_rate.n IS 'Attempts in the stratum';
COMMENT ON COLUMN printed_rate.formula IS 'The formula in words';
COMMENT ON COLUMN printed_rate.weighting IS 'Always whole run: one number';
COMMENT ON COLUMN printed_rate.population IS 'Which attempts are in it';
COMMENT ON COLUMN printed_rate.ours IS 'The number of ours that is nearest';
COMMENT ON COLUMN printed_rate.value IS 'The number, in `unit`';
