-- Attempts whose end nobody saw.
CREATE VIEW audit_no_terminal_event AS
WITH arrivals AS (
  -- A trace of arrivals says of no request how it ended: that is one thing to say, and no request was cut off.
  SELECT run, count(*) AS n
  FROM attempt
  GROUP BY run
  HAVING bool_and(outcome = 'unresolved' AND sides = 'gateway' AND gateway_admitted_ns IS NULL
    AND gateway_first_content_ns IS NULL AND gateway_last_content_ns IS NULL AND gateway_done_ns IS NULL)
)
SELECT run, 'no terminal event' AS audit, 'warning' AS severity, request_id AS subject,
  'in flight when the data ends; counted as unresolved' AS detail, 1::BIGINT AS n
FROM attempt
WHERE outcome = 'unresolved' AND run NOT IN (SELECT run FROM arrivals)
UNION ALL
SELECT run, 'no terminal event', 'note', 'every request',
  'the source tells arrivals and no end: how these ended, and how long they took, is not recorded', n
FROM arrivals;

COMMENT ON VIEW audit_no_terminal_event IS 'Attempts whose end nobody saw; empty when healthy';
