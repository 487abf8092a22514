-- Durations that the engine measured itself, on a monotonic clock of its own.
CREATE VIEW engine_duration AS
WITH read AS (
  SELECT
    n.attempt_id, s.run, rule_stages(s.rule, s.durations) AS told, s.start_ns, s.observation_id
  FROM span_observation AS s
  JOIN observation AS o ON o.observation_id = s.observation_id
  JOIN attempt_member AS m ON m.observation_id = s.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  JOIN side_view AS v ON v.attempt_id = n.attempt_id AND v.side = 'engine'
    AND v.view_id = o.view_id
  WHERE s.side = 'engine'
), first_output AS (
  -- Of several outputs of one attempt the one that came first.
  SELECT r.*, row_number() OVER (PARTITION BY r.run, r.attempt_id ORDER BY b.low_ns NULLS LAST, r.start_ns, r.observation_id) AS place
  FROM read AS r
  LEFT JOIN boundary AS b ON b.observation_id = r.observation_id AND b.boundary = 'first_token'
)
SELECT
  attempt_id, run,
  told['queue_ns'] / 1e6 AS queue_ms,
  told['prefill_ns'] / 1e6 AS prefill_ms,
  told['decode_ns'] / 1e6 AS decode_ms,
  told['kv_transfer_ns'] / 1e6 AS kv_transfer_ms
FROM first_output
WHERE place = 1;

COMMENT ON VIEW engine_duration IS 'One row per attempt whose engine stated durations; values that cannot be durations are NULL';
