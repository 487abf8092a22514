-- State that was taken and of which nothing says that it was given back.
CREATE VIEW audit_state_not_released AS
SELECT
  run, 'state without release' AS audit, CASE WHEN finding = 'open' THEN 'warning' ELSE 'note' END AS severity,
  state || ' of the ' || owner AS subject, finding || '. First: ' || min(attempt_id) AS detail, count(*) AS n
FROM state_ledger
WHERE finding <> 'released'
GROUP BY run, state, owner, finding;

COMMENT ON VIEW audit_state_not_released IS 'Streams, queue entries, KV blocks and traces without an event that gave them back; empty when healthy';
