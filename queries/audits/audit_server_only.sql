-- Requests that a server recorded and no client did, in a run with client records: not counted, as the client's view is the population.
CREATE VIEW audit_server_only AS
SELECT
  r.run, 'server only' AS audit, 'warning' AS severity, r.request_id AS subject,
  r.not_counted_why || '; seen by ' || r.sides AS detail, r.attempts AS n
FROM request AS r
WHERE NOT r.offered;

COMMENT ON VIEW audit_server_only IS 'Requests that a server recorded and no client did, in a run with client records: not counted, as the client''s view is the population; empty when healthy';
