-- What the door let in and what it refused, over the attempts of the requests that count.
CREATE VIEW admission AS
SELECT
  run, coalesce(load_point, '(all)') AS load_point,
  count(*) AS attempts,
  count(*) FILTER (NOT refused AND outcome <> 'unsent' AND let_in) AS admitted,
  count(*) FILTER (refused) AS rejected,
  count(*) FILTER (NOT refused AND outcome = 'unsent') AS unsent,
  count(*) FILTER (NOT refused AND outcome <> 'unsent' AND NOT let_in) AS not_known,
  count(*) FILTER (outcome = 'timeout') AS timed_out
FROM (
  SELECT
    a.run, stratum_key(r.load_point) AS load_point, a.outcome,
    -- A refusal that any side recorded is one, whatever its waiter made of it.
    a.outcome = 'rejected' OR coalesce(gateway_rejected_ns, engine_rejected_ns) IS NOT NULL AS refused,
    a.outcome = 'ok' OR coalesce(gateway_admitted_ns, engine_admitted_ns, engine_admitted_high_ns, engine_started_ns, engine_started_high_ns,
      engine_first_token_ns, gateway_first_content_ns, client_first_content_ns) IS NOT NULL AS let_in
  FROM attempt AS a
  JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id AND r.counted
)
GROUP BY run, GROUPING SETS ((), (load_point));

COMMENT ON VIEW admission IS 'One row per run and load point: attempts of the counted requests: admitted, refused, or neither known';
COMMENT ON COLUMN admission.admitted IS 'Admitted, started, answered in part or whole';
COMMENT ON COLUMN admission.rejected IS 'Refused at the door: 429, 503, queue full, deadline check';
COMMENT ON COLUMN admission.unsent IS 'Scheduled and never sent';
COMMENT ON COLUMN admission.not_known IS 'Neither seen to be admitted nor refused';
COMMENT ON COLUMN admission.timed_out IS 'Of all of them, those whose waiter gave up on time';
