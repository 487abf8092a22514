-- Retries without a pause, and pauses without jitter: both come back as a burst.
CREATE VIEW audit_retry_backoff AS
WITH step AS (
  SELECT run, clock, max(step_ms) AS step_ms FROM clock_resolution GROUP BY run, clock
), again AS (
  -- A pause is told to the millisecond only by a clock that is finer than that.
  SELECT k.* FROM attempt_kind AS k
  JOIN step AS s ON s.run = k.run AND s.clock = k.clock AND s.step_ms < 1
  WHERE k.kind = 'retry'
)
SELECT
  run, 'retry without backoff' AS audit, 'warning' AS severity, 'after ' || coalesce(before_outcome, 'unknown') AS subject,
  'sent less than 1 ms after the failure that they repeat. First: ' || min(attempt_id) AS detail, count(*) AS n
FROM again
WHERE backoff_ms < 1
GROUP BY run, before_outcome
UNION ALL
SELECT
  run, 'retry without jitter', 'warning', 'attempt ' || attempt,
  'every pause before it lies within 1 ms of ' || round(min(backoff_ms), 1) || ' ms, so that what failed together comes back together', count(*)
FROM again
WHERE backoff_ms >= 1
GROUP BY run, attempt
HAVING count(*) >= 5 AND max(backoff_ms) - min(backoff_ms) <= 1;

COMMENT ON VIEW audit_retry_backoff IS 'Retries sent at once, or all after the same pause; empty when healthy';
