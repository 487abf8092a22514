-- Probes that failed while the worker was said to be ready.
CREATE VIEW audit_probe_failed AS
SELECT
  p.run, 'probe failed while ready' AS audit, 'warning' AS severity, coalesce('worker ' || p.worker, 'the service') AS subject,
  'came back with ' || string_agg(DISTINCT p.status_code::VARCHAR, ', ' ORDER BY p.status_code::VARCHAR) AS detail, count(*) AS n
FROM control_event AS p
JOIN control_event AS r ON r.run = p.run AND r.control = 'ready' AND r.worker IS NOT DISTINCT FROM p.worker AND r.clock = p.clock AND r.clock_kind = p.clock_kind
  AND p.start_ns >= r.start_ns AND (r.until_ns IS NULL OR p.start_ns < r.until_ns)
WHERE p.control = 'probe' AND p.status_code >= 400
GROUP BY p.run, p.worker;

COMMENT ON VIEW audit_probe_failed IS 'Probes that failed while their worker was said to be ready; empty when healthy';
