-- Boundaries of one clock that run backwards: kept raw, NULL in results.
CREATE VIEW audit_out_of_order AS
SELECT run, 'out of order' AS audit, 'fault' AS severity, what AS subject,
  'later boundary has the earlier time; the interval is not computed. First: ' || min(attempt_id) AS detail, count(*) AS n
FROM (
  SELECT run, attempt_id, unnest([
    CASE WHEN client_first_content_ns < client_sent_ns THEN 'client first_content before sent' END,
    CASE WHEN client_done_ns < client_sent_ns THEN 'client done before sent' END,
    CASE WHEN client_last_content_ns < client_first_content_ns THEN 'client last_content before first_content' END,
    CASE WHEN client_done_ns < client_last_content_ns THEN 'client done before last_content' END,
    CASE WHEN gateway_done_ns < gateway_arrived_ns THEN 'gateway done before arrived' END,
    CASE WHEN engine_done_ns < engine_arrived_ns THEN 'engine done before arrived' END,
    CASE WHEN engine_first_token_ns < engine_arrived_ns THEN 'engine first_token before arrived' END
  ]) AS what
  FROM attempt
)
WHERE what IS NOT NULL
GROUP BY run, what
UNION ALL
SELECT run, 'out of order', 'fault', 'span end before start',
  'the span''s times are kept as written and its duration is not used. First: ' || min(name || ' ' || span_id), count(*)
FROM span
WHERE end_ns < start_ns AND end_ns > 0
GROUP BY run;

COMMENT ON VIEW audit_out_of_order IS 'Boundaries of one clock that run backwards: kept raw, NULL in results; empty when healthy';
