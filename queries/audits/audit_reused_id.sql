-- Request ids that several attempts share: told apart by trace.
CREATE VIEW audit_reused_id AS
SELECT n.run, 'reused id' AS audit, 'note' AS severity, o.request_id AS subject,
  'several attempts carry this id; they are kept apart as ' || string_agg(n.request_id, ', ' ORDER BY n.request_id) AS detail, count(*) AS n
FROM attempt_name AS n
JOIN observation AS o ON o.observation_id = n.root_id
WHERE n.request_id <> coalesce(o.request_id, n.request_id)
GROUP BY n.run, o.request_id;

COMMENT ON VIEW audit_reused_id IS 'Request ids that several attempts share: told apart by trace; empty when healthy';
