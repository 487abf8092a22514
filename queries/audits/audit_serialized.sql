-- A server that never worked on two attempts at once although more were there.
CREATE VIEW audit_serialized AS
SELECT
  o.run, 'serialized' AS audit, 'warning' AS severity, o.clock AS subject,
  CASE o.side WHEN 'engine' THEN 'it never ran more than one attempt at once, while up to ' || o.peak_in_flight || ' were there'
       ELSE 'no two answers were ever on their way at once, while up to ' || o.peak_in_flight || ' requests were waiting' END AS detail,
  o.worked AS n
FROM occupancy AS o
WHERE o.peak_working = 1 AND o.peak_in_flight > 1 AND o.worked >= 5
  -- A stream is short beside the wait for it: only where one or the other was nearly always on its way it says something.
  AND (o.side = 'engine' OR o.busy_share > 0.8)
  -- An engine's own record is nearer than what its answers look like.
  AND (o.side = 'engine' OR NOT EXISTS (SELECT 1 FROM occupancy AS e WHERE e.run = o.run AND e.side = 'engine' AND e.worked > 0) AND o.side = 'client');

COMMENT ON VIEW audit_serialized IS 'Engines that never ran two attempts at once although more were there; empty when healthy';
