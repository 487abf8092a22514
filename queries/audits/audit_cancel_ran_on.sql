-- Requests that the client gave up while a server went on working.
CREATE VIEW audit_cancel_ran_on AS
SELECT run, 'ran on after cancel' AS audit, 'warning' AS severity, request_id AS subject,
  'the engine finished ' || round(overrun_ms, 1) || ' ms after the client left'
    || CASE WHEN gateway_saw = false THEN '; the gateway recorded no cancellation' ELSE '' END AS detail, 1::BIGINT AS n
FROM cancellation
WHERE outcome IN ('cancelled', 'timeout') AND decided_by = 'client' AND release <> 'released' AND overrun_ms > 0;

COMMENT ON VIEW audit_cancel_ran_on IS 'Requests that the client gave up while a server went on working; empty when healthy';
