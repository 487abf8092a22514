-- Facts on which two lines of one attempt disagree: the later line's was taken, of outcomes that of done.
CREATE VIEW audit_fact_conflict AS
SELECT run, 'fact conflict' AS audit, 'warning' AS severity, request_id AS subject,
  'two lines disagree on a fact; the later one was taken, of outcomes the one on done' AS detail, fact_conflicts AS n
FROM attempt
WHERE fact_conflicts > 0;

COMMENT ON VIEW audit_fact_conflict IS 'Facts on which two lines of one attempt disagree: the later line''s was taken; empty when healthy';
