-- Which boundaries can be pointed to: seen and missing per side, with owner and declared policy.
CREATE VIEW boundary_coverage AS
WITH expected AS (
  SELECT * FROM (VALUES
    ('client', 'sent', 'client'), ('client', 'first_content', 'client'), ('client', 'last_content', 'client'), ('client', 'done', 'client'),
    ('gateway', 'arrived', 'gateway'), ('gateway', 'admitted', 'admission'), ('gateway', 'done', 'gateway'),
    ('engine', 'arrived', 'engine'), ('engine', 'admitted', 'admission'), ('engine', 'started', 'scheduler'),
    ('engine', 'first_token', 'worker'), ('engine', 'last_token', 'worker'), ('engine', 'done', 'engine'), ('engine', 'released', 'worker')
  ) AS e (side, boundary, owner)
), total AS (
  SELECT run, count(*) AS attempts FROM attempt GROUP BY run
), found AS (
  SELECT b.run, b.side, b.boundary, min(b.owner) AS owner, count(DISTINCT b.attempt_id) AS seen,
    string_agg(DISTINCT b.evidence, ', ' ORDER BY b.evidence) AS evidence
  FROM boundary AS b
  GROUP BY b.run, b.side, b.boundary
), listed AS (
  SELECT t.run, e.side, e.boundary, e.owner FROM total AS t CROSS JOIN expected AS e
  UNION
  SELECT f.run, f.side, f.boundary, f.owner FROM found AS f
  ANTI JOIN expected AS e ON e.side = f.side AND e.boundary = f.boundary
)
SELECT
  l.run, l.side, l.boundary, coalesce(f.owner, l.owner) AS owner,
  coalesce(f.seen, 0) AS seen, t.attempts - coalesce(f.seen, 0) AS missing, f.evidence,
  CASE WHEN f.owner = p.owner OR p.owner IS NULL OR NOT EXISTS (
      SELECT 1 FROM found AS x WHERE x.run = l.run AND x.boundary = l.boundary) THEN p.policy END AS policy
FROM listed AS l
JOIN total AS t ON t.run = l.run
LEFT JOIN found AS f ON f.run = l.run AND f.side = l.side AND f.boundary = l.boundary
LEFT JOIN boundary_policy AS p ON p.run = l.run AND p.boundary = l.boundary;

COMMENT ON VIEW boundary_coverage IS 'One row per run, side and boundary: in how many attempts it was seen, how it is known, who owns it and by which declared policy';
COMMENT ON COLUMN boundary_coverage.seen IS 'Attempts that show it';
COMMENT ON COLUMN boundary_coverage.missing IS 'Attempts that do not';
COMMENT ON COLUMN boundary_coverage.owner IS 'Who answers for it';
COMMENT ON COLUMN boundary_coverage.evidence IS 'How it is known: measured, derived, bounded';
COMMENT ON COLUMN boundary_coverage.policy IS 'The policy that the manifest declares for it';
