-- Views of attempts that several files tell of: their facts were merged, and their messages taken from the file that tells most.
CREATE VIEW audit_told_twice AS
SELECT run, 'told by several files' AS audit, 'note' AS severity, side AS subject,
  'merged by id; messages are taken from the file that tells most of them' AS detail, count(*) AS n
FROM observation
WHERE told_twice
GROUP BY run, side;

COMMENT ON VIEW audit_told_twice IS 'Views of attempts that several files tell of, merged by id; empty when healthy';
