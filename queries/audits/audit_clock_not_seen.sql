-- Clocks that the manifest relates and that nothing was read from: a misspelt name relates nothing.
CREATE VIEW audit_clock_not_seen AS
WITH seen AS (
  SELECT run, clock FROM boundary
  UNION
  SELECT run, clock FROM span
  UNION
  SELECT run, clock FROM event
)
SELECT
  r.run, 'clock not seen' AS audit, 'warning' AS severity, r.clock_a AS subject,
  'artifact.clocks relates it, and no time of this run was read from it, so that the relation is of no use. There are: '
    || coalesce((SELECT string_agg(DISTINCT s.clock, ', ' ORDER BY s.clock) FROM seen AS s WHERE s.run = r.run), 'none') AS detail,
  count(*) AS n
FROM clock_relation AS r
ANTI JOIN seen AS s ON s.run = r.run AND s.clock = r.clock_a
-- A run that was not read yet has no clocks at all.
WHERE r.run IN (SELECT run FROM seen)
GROUP BY r.run, r.clock_a;

COMMENT ON VIEW audit_clock_not_seen IS 'Clocks that the manifest relates and that no time was read from; empty when healthy';
