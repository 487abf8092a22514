-- What the door let in and what it refused, over every attempt.
CREATE VIEW admission AS
SELECT
  run, coalesce(load_point, '(all)') AS load_point,
  count(*) AS attempts,
  count(*) FILTER (outcome <> 'rejected' AND let_in) AS admitted,
  count(*) FILTER (outcome = 'rejected') AS rejected,
  count(*) FILTER (outcome = 'unsent') AS unsent,
  count(*) FILTER (outcome NOT IN ('rejected', 'unsent') AND NOT let_in) AS not_known,
  count(*) FILTER (outcome = 'timeout') AS timed_out
FROM (
  SELECT
    run, stratum_key(load_point) AS load_point, outcome,
    outcome = 'ok' OR coalesce(gateway_admitted_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns, engine_started_high_ns,
      engine_first_token_ns, gateway_first_content_ns, client_first_content_ns) IS NOT NULL AS let_in
  FROM attempt
)
GROUP BY run, GROUPING SETS ((), (load_point));

COMMENT ON VIEW admission IS 'One row per run and load point: attempts that were admitted, refused, or of which neither is known';
COMMENT ON COLUMN admission.admitted IS 'Admitted, started, answered in part or whole';
COMMENT ON COLUMN admission.rejected IS 'Refused at the door: 429, 503, queue full, deadline check';
COMMENT ON COLUMN admission.unsent IS 'Scheduled and never sent';
COMMENT ON COLUMN admission.not_known IS 'Neither seen to be admitted nor refused';
COMMENT ON COLUMN admission.timed_out IS 'Of all of them, those whose waiter gave up on time';
