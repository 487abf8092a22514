-- Requests marked cold or warm-up that the numbers leave out.
CREATE VIEW audit_cold_inside AS
SELECT run, 'phase left out' AS audit, 'note' AS severity, phase AS subject,
  'requests of this phase are not in the numbers' AS detail, count(*) AS n
FROM request
WHERE phase <> 'measured' AND NOT counted AND offered
GROUP BY run, phase;

COMMENT ON VIEW audit_cold_inside IS 'Requests marked cold or warm-up that the numbers leave out; empty when healthy';
