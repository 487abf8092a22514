-- Whether each promise was kept over the whole run: exact one-sided bounds at both ends of what is known.
CREATE VIEW verdict AS
WITH promise AS (
  SELECT run, slo, max(target) AS target, max(confidence) AS confidence,
    string_agg(metric || ' ' || op || ' ' || format('{:g}', limit_ms) || ' ms', ' and ' ORDER BY condition) AS conditions
  FROM slo
  GROUP BY run, slo
)
SELECT
  p.run, p.slo, p.conditions, p.target, p.confidence,
  coalesce(a.n, 0) AS n, a.good, a.bad, a.undetermined, a.unknown, a.not_applicable, a.share_low, a.share_high, a.ci_low, a.ci_high,
  l.low AS bound_low, h.high AS bound_high,
  CASE
    WHEN coalesce(a.n, 0) = 0 THEN 'cannot tell'
    WHEN l.low >= p.target THEN 'kept'
    WHEN h.high < p.target THEN 'broken'
    ELSE 'cannot tell'
  END AS verdict,
  CASE
    WHEN coalesce(a.n, 0) = 0 THEN 'no request to which the promise applies'
    WHEN l.low >= p.target THEN 'the lower bound of the share that surely kept it reaches the target'
    WHEN h.high < p.target THEN 'the upper bound of the share that may have kept it stays below the target'
    WHEN a.share_low < p.target AND a.share_high >= p.target AND a.undetermined + a.unknown > 0
      THEN 'it depends on requests that cannot be judged'
    ELSE 'too few requests for this confidence'
  END AS why
FROM promise AS p
LEFT JOIN attainment AS a ON a.run = p.run AND a.slo = p.slo AND a.load_point = '(all)' AND a.tenant = '(all)'
  AND a.input_bin = '(all)' AND a.output_bin = '(all)' AND a.window_start = '(all)'
LEFT JOIN share_bound AS l ON l.good = a.good AND l.n = a.n AND l.confidence = p.confidence
LEFT JOIN share_bound AS h ON h.good = a.good + a.undetermined + a.unknown AND h.n = a.n AND h.confidence = p.confidence;

COMMENT ON VIEW verdict IS 'One row per promise: kept, broken or cannot tell, with the bounds that decide it';
COMMENT ON COLUMN verdict.conditions IS 'What a good request must meet';
COMMENT ON COLUMN verdict.n IS 'Requests to which the promise applies';
COMMENT ON COLUMN verdict.share_low IS 'Share that surely kept it';
COMMENT ON COLUMN verdict.share_high IS 'Share that may have kept it';
COMMENT ON COLUMN verdict.ci_low IS 'Lower end of the 95 % Wilson interval of share_low';
COMMENT ON COLUMN verdict.ci_high IS 'Upper end of the 95 % Wilson interval of share_high';
COMMENT ON COLUMN verdict.bound_low IS 'Exact one-sided lower bound of share_low at the declared confidence';
COMMENT ON COLUMN verdict.bound_high IS 'Exact one-sided upper bound of share_high at the declared confidence';
COMMENT ON COLUMN verdict.verdict IS 'kept, broken or cannot tell';
COMMENT ON COLUMN verdict.why IS 'What decides it';
