-- Spans of traces that hold no request: start-up, health checks.
CREATE VIEW audit_set_aside AS
SELECT
  run, 'set aside' AS audit, 'note' AS severity, coalesce(service, '(no service)') AS subject,
  'spans of traces without a request, such as ' || min(name) || '; not counted as requests' AS detail, count(*) AS n
FROM span_role
WHERE NOT of_request
GROUP BY run, service;

COMMENT ON VIEW audit_set_aside IS 'Spans of traces that hold no request: start-up, health checks; empty when healthy';
