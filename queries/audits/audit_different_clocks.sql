-- Sides of attempts whose clocks nothing relates: no interval between them is computed.
CREATE VIEW audit_different_clocks AS
SELECT
  a.run, 'different clocks' AS audit, 'note' AS severity, a.engine_clock || ' and ' || a.client_clock AS subject,
  'the manifest declares no relation of these clocks, so delivery and the stages inside the client''s time are not computed' AS detail,
  count(*) AS n
FROM attempt AS a
JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
WHERE a.engine_clock IS NOT NULL AND a.client_clock IS NOT NULL AND c.engine_to_client_ns IS NULL
GROUP BY a.run, a.engine_clock, a.client_clock;

COMMENT ON VIEW audit_different_clocks IS 'Sides of attempts whose clocks nothing relates: no interval between them is computed; empty when healthy';
