-- Each revision of a run against the others: a canary is judged by what its requests got.
CREATE VIEW revision_delta AS
WITH judged AS (
  SELECT run, revision, count(*) AS n, count(*) FILTER (outcome = 'ok' AND coalesce(correct, true)) AS good
  FROM request
  WHERE counted AND revision IS NOT NULL AND outcome NOT IN ('cancelled', 'unresolved')
  GROUP BY run, revision
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

COMMENT ON VIEW revision_delta IS 'One row per run and revision, where a run has several: share of requests answered and not judged wrong, beside that of the other revisions';
COMMENT ON COLUMN revision_delta.n IS 'Counted requests of it, without those that were left by their waiter or are unresolved';
COMMENT ON COLUMN revision_delta.good IS 'Of them, ok and not judged wrong';
COMMENT ON COLUMN revision_delta.share IS 'Share of them';
COMMENT ON COLUMN revision_delta.ci_low IS 'Wilson interval, 95 %, lower end';
COMMENT ON COLUMN revision_delta.ci_high IS 'Its upper end';
COMMENT ON COLUMN revision_delta.other_n IS 'Requests of the other revisions';
COMMENT ON COLUMN revision_delta.other_good IS 'Of them, ok and not judged wrong';
COMMENT ON COLUMN revision_delta.other_share IS 'Share of them';
COMMENT ON COLUMN revision_delta.other_ci_low IS 'Wilson interval, 95 %, lower end';
COMMENT ON COLUMN revision_delta.other_ci_high IS 'Its upper end';
COMMENT ON COLUMN revision_delta.finding IS 'worse or better where the intervals do not overlap; else cannot tell';
