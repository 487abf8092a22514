-- Which boundaries can be pointed to: seen and missing per side, with owner and declared policy.
CREATE VIEW boundary_coverage AS
WITH expected AS (
  SELECT * FROM (VALUES
    ('client', 'sent', 'client'), ('client', 'first_content', 'client'), ('client', 'last_content', 'client'), ('client', 'done', 'client'),
    ('gateway', 'arrived', 'gateway'), ('gateway', 'admitted', 'admission'), ('gateway', 'done', 'gateway'),
    ('engine', 'arrived', 'engine'), ('engine', 'admitted', 'admission'), ('engine', 'started', 'scheduler'),
    ('engine', 'first_token', 'worker'), ('engine', 'last_token', 'worker'), ('engine', 'done', 'engine'), ('engine', 'released', 'worker')
  ) AS e (side, boundary, owner)
), handover AS (
  -- Where a request passes from one owner to the next, and what has to be decided there.
  SELECT * FROM (VALUES
    ('arrived', 'edge to admission', 'quota and deadline check'),
    ('admitted', 'admission to scheduler', 'bounded capacity'),
    ('started', 'scheduler to worker', 'fairness and preemption'),
    ('first_token', 'worker to stream', 'backpressure and cancellation'),
    ('last_token', 'worker to stream', 'backpressure and cancellation')
  ) AS h (boundary, handover, required_policy)
), placed AS (
  SELECT * FROM (VALUES ('scheduled', 1), ('sent', 2), ('arrived', 3), ('admitted', 4), ('rejected', 5), ('started', 6), ('preempted', 7),
    ('resumed', 8), ('prefill_done', 9), ('decode_started', 10), ('first_token', 11), ('first_content', 12), ('first_answer', 13),
    ('last_token', 14), ('last_content', 15), ('done', 16), ('cancel_seen', 17), ('cancel_forwarded', 18), ('dequeued', 19), ('released', 20)
  ) AS p (boundary, place)
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
), applied AS (
  -- A declared policy is that of the declared owner, where the data shows its side.
  SELECT
    l.*, f.owner AS found_owner, f.seen, f.evidence, p.policy, p.unknown,
    f.owner = p.owner OR p.owner IS NULL OR NOT EXISTS (SELECT 1 FROM found AS x WHERE x.run = l.run AND x.boundary = l.boundary) AS applies
  FROM listed AS l
  LEFT JOIN found AS f ON f.run = l.run AND f.side = l.side AND f.boundary = l.boundary
  LEFT JOIN boundary_policy AS p ON p.run = l.run AND p.boundary = l.boundary
)
SELECT
  a.run, a.side, a.boundary, coalesce(a.found_owner, a.owner) AS owner,
  coalesce(a.seen, 0) AS seen, t.attempts - coalesce(a.seen, 0) AS missing, a.evidence,
  CASE WHEN a.applies THEN a.policy END AS policy,
  CASE WHEN a.applies AND a.policy IS NOT NULL THEN 'declared' WHEN a.applies AND a.unknown IS NOT NULL THEN 'said to be unknown: ' || a.unknown
       ELSE 'not declared' END AS policy_state,
  h.handover, h.required_policy, o.place
FROM applied AS a
JOIN total AS t ON t.run = a.run
LEFT JOIN handover AS h ON h.boundary = a.boundary
LEFT JOIN placed AS o ON o.boundary = a.boundary;

COMMENT ON VIEW boundary_coverage IS 'One row per run, side and boundary: in how many attempts it was seen, how it is known, who owns it and by which declared policy';
COMMENT ON COLUMN boundary_coverage.seen IS 'Attempts that show it';
COMMENT ON COLUMN boundary_coverage.missing IS 'Attempts that do not';
COMMENT ON COLUMN boundary_coverage.owner IS 'Who answers for it';
COMMENT ON COLUMN boundary_coverage.evidence IS 'How it is known: measured, derived, bounded';
COMMENT ON COLUMN boundary_coverage.policy IS 'The policy that the manifest declares for it';
COMMENT ON COLUMN boundary_coverage.policy_state IS 'declared, said to be unknown (and why), or not declared';
COMMENT ON COLUMN boundary_coverage.handover IS 'Which owners it lies between, where a request passes from one to the next';
COMMENT ON COLUMN boundary_coverage.required_policy IS 'What has to be decided at that handover';
COMMENT ON COLUMN boundary_coverage.place IS 'Order in which boundaries happen';
