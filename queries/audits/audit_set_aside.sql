-- Spans of traces that hold no request: start-up, health checks.
CREATE VIEW audit_set_aside AS
SELECT
  s.run, 'set aside' AS audit, 'note' AS severity, coalesce(s.service, '(no service)') AS subject,
  'spans of traces without a request, such as ' || min(s.name) || '; not counted as requests' AS detail, count(*) AS n
FROM span AS s
ANTI JOIN request_trace AS r ON r.run = s.run AND r.trace_id = s.trace_id
GROUP BY s.run, s.service;

COMMENT ON VIEW audit_set_aside IS 'Spans of traces that hold no request: start-up, health checks; empty when healthy';
