-- Workers that were ended before those in flight had the time that they were given, and drains that nothing bounds.
CREATE VIEW audit_drain AS
SELECT
  run, 'drain' AS audit, CASE WHEN ended_by = 'kill' AND running > 0 THEN 'fault' ELSE 'warning' END AS severity,
  coalesce('worker ' || worker, 'the service') AS subject,
  CASE WHEN stop_ns < grace_ns AND running > 0 THEN 'ended by ' || ended_by || ' ' || round((grace_ns - stop_ns) / 1e6, 1) || ' ms before the end of its grace'
       WHEN running > 0 THEN 'still running at the bound (' || bound_by || ')' END
    || ': ' || running || ' of ' || in_flight || ' in flight had not ended' AS detail,
  running AS n
FROM drain_account
WHERE running > 0 AND bound_ns IS NOT NULL
UNION ALL
SELECT run, 'drain', 'warning', coalesce('worker ' || worker, 'the service'),
  'nothing says by when those in flight had to be done: a drain is bounded by a grace, a stop or a kill', in_flight
FROM drain_account
WHERE bound_ns IS NULL;

COMMENT ON VIEW audit_drain IS 'Drains whose attempts had not ended at the bound, or that have none; empty when healthy';
