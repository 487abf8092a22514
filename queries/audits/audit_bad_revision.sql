-- A revision that does worse than the others it stood beside.
CREATE VIEW audit_bad_revision AS
SELECT
  run, 'bad revision' AS audit, 'fault' AS severity, revision AS subject,
  round(100 * share, 1) || ' % of its attempts were answered and not judged wrong (at most ' || round(100 * ci_high, 1) || ' %), of the others '
    || round(100 * other_share, 1) || ' % (at least ' || round(100 * other_ci_low, 1) || ' %): stop the rollout, roll back' AS detail,
  n - good AS n
FROM revision_delta
WHERE finding = 'worse';

COMMENT ON VIEW audit_bad_revision IS 'Revisions that do worse than those beside them; empty when healthy';
