-- Records that could not be taken.
CREATE VIEW audit_refused_record AS
SELECT
  coalesce(f.run, '(all)') AS run, 'refused records' AS audit, 'fault' AS severity, r.source_file AS subject,
  r.reason || ', first at ' || min(r.position) AS detail, count(*) AS n
FROM refused AS r
JOIN source_file AS f ON f.path = r.source_file
GROUP BY f.run, r.source_file, r.reason;

COMMENT ON VIEW audit_refused_record IS 'Records that could not be taken; empty when healthy';
