-- Two clocks, or one, by which answers came before their requests.
CREATE VIEW audit_clock_contradiction AS
SELECT
  run, 'clocks contradicted' AS audit, CASE WHEN declared = 'not declared' THEN 'warning' ELSE 'fault' END AS severity,
  CASE WHEN clock_a = clock_b THEN clock_a || ' at ' || side_a || ' and ' || side_b ELSE clock_a || ' and ' || clock_b END AS subject,
  finding || '. ' || low_from || ' puts the offset at ' || round(low_ms, 3) || ' ms or more, ' || high_from || ' at ' || round(high_ms, 3)
    || ' ms or less' || CASE WHEN declared_ms IS NOT NULL THEN '; taken for true: ' || round(declared_ms, 3) || ' ms, give or take ' || round(declared_error_ms, 3) ELSE '' END AS detail,
  attempts AS n
FROM clock_advice
WHERE finding LIKE 'no offset fits%' OR finding LIKE 'contradicts%';

COMMENT ON VIEW audit_clock_contradiction IS 'Clocks whose times cannot all be true: an answer before its request, or a declared offset outside of what the traffic allows; empty when healthy';
