-- Many waited until they gave up, and nobody was refused.
CREATE VIEW audit_no_overload_gate AS
SELECT
  run, 'no overload gate' AS audit, 'warning' AS severity, 'load point ' || load_point AS subject,
  timed_out || ' of ' || attempts || ' attempts timed out and none was refused: an early refusal would have been the more honest answer' AS detail,
  timed_out AS n
FROM admission
WHERE load_point <> '(all)' AND rejected = 0 AND timed_out > 0 AND timed_out * 20 >= attempts;

COMMENT ON VIEW audit_no_overload_gate IS 'Load points at which one in twenty attempts or more timed out while none was refused; empty when healthy';
