-- Views whose id matches several attempts: left on their own, not guessed.
CREATE VIEW audit_ambiguous_join AS
SELECT run, 'ambiguous join' AS audit, 'warning' AS severity, observation_id AS subject,
  'its ids match several attempts, so it was joined to none' AS detail, 1::BIGINT AS n
FROM attempt_member
WHERE ambiguous;

COMMENT ON VIEW audit_ambiguous_join IS 'Views whose id matches several attempts: left on their own, not guessed; empty when healthy';
