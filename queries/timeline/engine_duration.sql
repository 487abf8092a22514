-- Durations that the engine measured itself, on a monotonic clock of its own.
CREATE VIEW engine_duration AS
WITH read AS (
  SELECT
    n.attempt_id, s.run, v.view_id,
    TRY_CAST(s.ttft_text AS DOUBLE) AS ttft, TRY_CAST(s.queue_text AS DOUBLE) AS queue,
    TRY_CAST(s.prefill_text AS DOUBLE) AS prefill, TRY_CAST(s.decode_text AS DOUBLE) AS decode,
    s.start_ns, s.output_tokens
  FROM span_observation AS s
  JOIN observation AS o ON o.observation_id = s.observation_id
  JOIN attempt_member AS m ON m.observation_id = s.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  JOIN side_view AS v ON v.attempt_id = n.attempt_id AND v.side = 'engine'
    AND v.view_id = o.view_id
  WHERE s.side = 'engine'
), first_output AS (
  -- Of several outputs of one attempt the one that came first.
  SELECT *, row_number() OVER (PARTITION BY run, attempt_id ORDER BY start_ns + ttft * 1e9 NULLS LAST, start_ns) AS place
  FROM read
)
SELECT
  attempt_id, run,
  CASE WHEN queue > 0 AND queue <= 1e6 THEN round(queue * 1e9) / 1e6 END AS queue_ms,
  CASE WHEN prefill > 0 AND prefill <= 1e6 THEN round(prefill * 1e9) / 1e6 END AS prefill_ms,
  CASE WHEN (decode > 0 OR decode = 0 AND output_tokens <= 1) AND decode <= 1e6 THEN round(decode * 1e9) / 1e6 END AS decode_ms
FROM first_output
WHERE place = 1;

COMMENT ON VIEW engine_duration IS 'One row per attempt whose engine stated durations; values that cannot be durations are NULL';
