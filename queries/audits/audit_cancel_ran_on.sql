-- Requests that the client gave up while a server went on working.
CREATE VIEW audit_cancel_ran_on AS
SELECT a.run, 'ran on after cancel' AS audit, 'warning' AS severity, a.request_id AS subject,
  'the engine finished ' || round((a.engine_done_ns + c.engine_to_client_ns - a.client_done_ns) / 1e6, 1)
    || ' ms after the client left' || CASE WHEN a.gateway_clock IS NOT NULL AND a.gateway_cancel_seen_ns IS NULL
    THEN '; the gateway recorded no cancellation' ELSE '' END AS detail, 1::BIGINT AS n
FROM attempt AS a
JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
WHERE a.outcome IN ('cancelled', 'timeout') AND a.decided_by = 'client' AND a.engine_released_ns IS NULL
  AND a.engine_done_ns + c.engine_to_client_ns > a.client_done_ns;

COMMENT ON VIEW audit_cancel_ran_on IS 'Requests that the client gave up while a server went on working; empty when healthy';
