-- First content at the very time of its start: a zero that stands for what was not measured.
CREATE VIEW audit_no_time_passed AS
SELECT run, 'no time had passed' AS audit, 'fault' AS severity, what AS subject,
  'a zero is no measurement: times to it, and times per token from it, are not used. First: ' || min(attempt_id) AS detail, count(*) AS n
FROM (
  SELECT run, attempt_id, unnest([
    CASE WHEN client_first_content_ns = client_sent_ns THEN 'client first_content at the time of sent' END,
    CASE WHEN gateway_first_content_ns = gateway_arrived_ns THEN 'gateway first_content at the time of arrived' END,
    CASE WHEN engine_first_token_ns = engine_arrived_ns THEN 'engine first_token at the time of arrived' END
  ]) AS what
  FROM attempt
)
WHERE what IS NOT NULL
GROUP BY run, what;

COMMENT ON VIEW audit_no_time_passed IS 'First content at the very time of its start: a zero that stands for what was not measured; empty when healthy';
