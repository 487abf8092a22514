-- Repetitions of work that may have been done already, without what would tell a server so.
CREATE VIEW audit_retry_not_idempotent AS
WITH keyed AS (
  SELECT run, bool_or(idempotency_key IS NOT NULL) AS has_keys FROM attempt GROUP BY run
)
SELECT
  a.run, 'retry not idempotent' AS audit, 'warning' AS severity, a.kind AS subject,
  CASE WHEN w.retry_idempotent = false THEN 'the manifest says that a repeated request is not safe'
       ELSE 'without the idempotency key of the first attempt, after one that a server may have worked on' END
    || '. First: ' || min(a.attempt_id) AS detail,
  count(*) AS n
FROM attempt_kind AS a
JOIN run AS w ON w.run = a.run
JOIN keyed AS k ON k.run = a.run
WHERE a.kind <> 'first' AND a.worked_before AND NOT a.same_key
  AND (w.retry_idempotent = false OR k.has_keys AND coalesce(w.retry_idempotent, false) = false)
GROUP BY a.run, a.kind, w.retry_idempotent;

COMMENT ON VIEW audit_retry_not_idempotent IS 'Retries and copies of attempts that were not refused, where a repetition is declared unsafe or bears another idempotency key; empty when healthy';
