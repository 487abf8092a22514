-- Attempts that a worker was given before it was ready, or after it had begun to drain.
CREATE VIEW audit_traffic_state AS
SELECT
  run, CASE WHEN before_ready THEN 'traffic before ready' ELSE 'traffic after drain' END AS audit, 'fault' AS severity,
  coalesce('worker ' || worker, 'the service') AS subject, 'let in while in state ' || state || '. First: ' || min(attempt_id) AS detail, count(*) AS n
FROM worker_traffic
WHERE before_ready OR after_drain
GROUP BY run, worker, before_ready, state;

COMMENT ON VIEW audit_traffic_state IS 'Attempts let in before a worker was ready or after it began to drain; empty when healthy';
