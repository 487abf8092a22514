-- Requests that the numbers leave out, by the reason.
CREATE VIEW audit_not_counted AS
SELECT run, 'not counted' AS audit, CASE WHEN not_counted_why LIKE '%not recorded%' THEN 'warning' ELSE 'note' END AS severity,
  not_counted_why AS subject, 'requests of the outermost side that are not in the numbers' AS detail, count(*) AS n
FROM request
WHERE NOT counted AND offered
GROUP BY run, not_counted_why;

COMMENT ON VIEW audit_not_counted IS 'Requests that the numbers leave out, by the reason; empty when healthy';
