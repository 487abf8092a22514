-- Log lines without a trace id, of an id that several traces share: nobody can say whose they are.
CREATE VIEW audit_unplaced_line AS
SELECT run, 'unplaced line' AS audit, 'fault' AS severity, request AS subject,
  'lines without a trace id, while several traces carry this id: they stand as an attempt of their own' AS detail, count(*) AS n
FROM event_line
WHERE reused AND trace_id IS NULL
GROUP BY run, request;

COMMENT ON VIEW audit_unplaced_line IS 'Lines without a trace id, of an id that several traces share; empty when healthy';
