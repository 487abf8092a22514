-- Requests that no server side recorded, although the run has server records.
CREATE VIEW audit_client_only AS
SELECT
  r.run, 'client only' AS audit, 'warning' AS severity, r.request_id AS subject,
  'no server record; the client saw ' || r.outcome || coalesce(' (status ' || r.status_code || ')', '') AS detail, 1::BIGINT AS n
FROM request AS r
WHERE r.sides = 'client' AND r.outcome <> 'unsent'
  AND EXISTS (SELECT 1 FROM attempt AS a WHERE a.run = r.run AND (a.sides LIKE '%engine%' OR a.sides LIKE '%gateway%'));

COMMENT ON VIEW audit_client_only IS 'Requests that no server side recorded, although the run has server records; empty when healthy';
