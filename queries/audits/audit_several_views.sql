-- Attempts of which one side has several views: only the richest, or the last to end, speaks.
CREATE VIEW audit_several_views AS
SELECT v.run, 'several views' AS audit, 'warning' AS severity, a.request_id AS subject,
  v.views || ' views of the ' || v.side ||  ' side belong to this attempt; tries inside it are not told apart, the last to end speaks' AS detail,
  v.views AS n
FROM side_view AS v
JOIN attempt AS a ON a.attempt_id = v.attempt_id
WHERE v.views > 1 AND v.side <> 'client';

COMMENT ON VIEW audit_several_views IS 'Attempts of which a server side has several views: only one speaks; empty when healthy';
