-- Requests that the run's numbers are about although they met a worker that was still cold.
CREATE VIEW audit_cold_in_window AS
SELECT
  t.run, 'cold inside the window' AS audit, 'warning' AS severity, coalesce('worker ' || t.worker, 'the service') AS subject,
  'counted as measured although they arrived before the worker was ready; phase cold keeps them apart. First: ' || min(r.request_id) AS detail,
  count(DISTINCT r.request_id) AS n
FROM worker_traffic AS t
JOIN request AS r ON r.run = t.run AND r.request_id = t.request_id AND r.counted AND r.phase = 'measured'
WHERE t.before_ready
GROUP BY t.run, t.worker
UNION ALL
SELECT
  run, 'cold inside the window', 'note', 'requests told as cold',
  'left out of the run''s numbers; a select of phase cold counts them. First: ' || min(request_id), count(*)
FROM request
WHERE phase = 'cold' AND NOT counted
GROUP BY run;

COMMENT ON VIEW audit_cold_in_window IS 'Cold requests among the measured ones, and those that were left out as cold; empty when healthy';
