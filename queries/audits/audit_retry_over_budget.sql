-- More attempts than the manifest allows.
CREATE VIEW audit_retry_over_budget AS
SELECT
  r.run, 'retries over budget' AS audit, 'fault' AS severity, 'attempts of one request' AS subject,
  'the manifest allows ' || w.max_attempts || ', the most is ' || max(r.attempts) || '. First: ' || min(r.request_id) AS detail, count(*) AS n
FROM request AS r
JOIN run AS w ON w.run = r.run
WHERE r.attempts > w.max_attempts
GROUP BY r.run, w.max_attempts
UNION ALL
SELECT
  a.run, 'retries over budget', 'fault', 'share of further attempts',
  'the manifest allows ' || w.retry_budget_share || ' further attempts (retries and copies) a request, there are ' || round((a.attempts - a.requests) / a.requests, 4), a.attempts - a.requests
FROM retry_amplification AS a
JOIN run AS w ON w.run = a.run
WHERE a.load_point = '(all)' AND a.window_start = '(all)' AND a.attempts - a.requests > w.retry_budget_share * a.requests + 1e-6;

COMMENT ON VIEW audit_retry_over_budget IS 'More attempts than the manifest allows, of one request or in all; empty when healthy';
