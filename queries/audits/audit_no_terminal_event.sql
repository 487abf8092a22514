-- Attempts whose end nobody saw.
CREATE VIEW audit_no_terminal_event AS
SELECT run, 'no terminal event' AS audit, 'warning' AS severity, request_id AS subject,
  'in flight when the data ends; counted as unresolved' AS detail, 1::BIGINT AS n
FROM attempt
WHERE outcome = 'unresolved';

COMMENT ON VIEW audit_no_terminal_event IS 'Attempts whose end nobody saw; empty when healthy';
