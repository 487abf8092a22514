-- Attempts that were sent when the deadline of their request had passed.
CREATE VIEW audit_retry_past_deadline AS
SELECT
  run, 'retry past the deadline' AS audit, 'warning' AS severity, kind AS subject,
  'sent up to ' || round(max(past_deadline_ms), 1) || ' ms after the request''s deadline, when no answer could be in time. First: ' || min(attempt_id) AS detail,
  count(*) AS n
FROM attempt_kind
WHERE past_deadline_ms > 0
GROUP BY run, kind;

COMMENT ON VIEW audit_retry_past_deadline IS 'Attempts sent after the deadline of their request; empty when healthy';
