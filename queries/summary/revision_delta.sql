-- Each revision of a run against the others: a canary is judged by what its requests got.
CREATE VIEW revision_delta AS
WITH judged AS (
  -- Attempts: a request that failed here and was answered elsewhere would count for the other.
  SELECT a.run, a.revision, count(*) AS n, count(*) FILTER (a.outcome = 'ok' AND coalesce(a.correct, true)) AS good
  FROM attempt AS a
  JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id AND r.counted
  WHERE a.revision IS NOT NULL AND a.outcome NOT IN ('cancelled', 'unresolved', 'unsent')
  GROUP BY a.run, a.revision
), beside AS (
  SELECT
    *, (sum(n) OVER (PARTITION BY run))::BIGINT - n AS other_n, (sum(good) OVER (PARTITION BY run))::BIGINT - good AS other_good
  FROM judged
)
SELECT
  run, revision, n, good, good / n AS share, wilson_low(good, n) AS ci_low, wilson_high(good, n) AS ci_high,
  other_n, other_good, other_good / other_n AS other_share, wilson_low(other_good, other_n) AS other_ci_low, wilson_high(other_good, other_n) AS other_ci_high,
  CASE WHEN wilson_high(good, n) < wilson_low(other_good, other_n) THEN 'worse'
       WHEN wilson_low(good, n) > wilson_high(other_good, other_n) THEN 'better' ELSE 'cannot tell' END AS finding
FROM beside
WHERE other_n > 0;

COMMENT ON VIEW revision_delta IS 'One row per run and revision, where a run has several: share of attempts answered and not judged wrong, beside that of the other revisions';
COMMENT ON COLUMN revision_delta.n IS 'Attempts at it of counted requests, without those that were left by their waiter, unsent or unresolved';
COMMENT ON COLUMN revision_delta.good IS 'Of them, ok and not judged wrong';
COMMENT ON COLUMN revision_delta.share IS 'Share of them';
COMMENT ON COLUMN revision_delta.ci_low IS 'Wilson interval, 95 %, lower end';
COMMENT ON COLUMN revision_delta.ci_high IS 'Its upper end';
COMMENT ON COLUMN revision_delta.other_n IS 'Attempts at the other revisions';
COMMENT ON COLUMN revision_delta.other_good IS 'Of them, ok and not judged wrong';
COMMENT ON COLUMN revision_delta.other_share IS 'Share of them';
COMMENT ON COLUMN revision_delta.other_ci_low IS 'Wilson interval, 95 %, lower end';
COMMENT ON COLUMN revision_delta.other_ci_high IS 'Its upper end';
COMMENT ON COLUMN revision_delta.finding IS 'worse or better where the intervals do not overlap; else cannot tell';
