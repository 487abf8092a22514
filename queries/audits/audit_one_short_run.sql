-- Runs with a single repetition.
CREATE VIEW audit_one_short_run AS
SELECT run, 'one short run' AS audit, 'note' AS severity, run AS subject,
  'a single repetition: it cannot tell luck from behaviour' AS detail, 1::BIGINT AS n
FROM request
WHERE counted
GROUP BY run
HAVING count(DISTINCT coalesce(repeat, 0)) = 1;

COMMENT ON VIEW audit_one_short_run IS 'Runs with a single repetition; empty when healthy';
