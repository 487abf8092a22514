-- Attempts that asked for several outputs (n > 1): one attempt each, no time per output token.
CREATE VIEW audit_several_outputs AS
SELECT run, 'several outputs' AS audit, 'note' AS severity, request_id AS subject,
  'one request with n > 1: its spans count as one attempt' AS detail, outputs AS n
FROM attempt
WHERE outputs > 1;

COMMENT ON VIEW audit_several_outputs IS 'Attempts that asked for several outputs (n > 1): one attempt each, no time per output token; empty when healthy';
