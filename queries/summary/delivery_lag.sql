-- Whether a stream falls behind what the engine emits: the time from first to last, on each side's own clock.
CREATE VIEW delivery_lag AS
WITH both_ends AS (
  SELECT
    a.run, a.request_id, a.attempt_id, a.outcome,
    elapsed_ms(a.engine_first_token_ns, a.engine_last_token_ns) AS emitted_ms,
    elapsed_ms(a.client_first_content_ns, a.client_last_content_ns) AS received_ms,
    (a.client_first_content_ns - a.engine_first_token_ns - c.engine_to_client_ns) / 1e6 AS first_lag_ms,
    (a.client_last_content_ns - a.engine_last_token_ns - c.engine_to_client_ns) / 1e6 AS last_lag_ms,
    c.engine_to_client_error_ns / 1e6 AS error_ms
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
)
SELECT
  run, request_id, attempt_id, outcome, emitted_ms, received_ms, received_ms - emitted_ms AS growth_ms,
  CASE WHEN emitted_ms > 0 THEN (received_ms - emitted_ms) / emitted_ms * 1000 END AS slope_ms_per_s,
  first_lag_ms, last_lag_ms, error_ms
FROM both_ends
WHERE emitted_ms IS NOT NULL AND received_ms IS NOT NULL;

COMMENT ON VIEW delivery_lag IS 'One row per attempt with first and last token at the engine and first and last content at the client: how much later the last came than the first. No relation of the clocks is needed for the growth';
COMMENT ON COLUMN delivery_lag.emitted_ms IS 'From the first to the last token, engine clock, ms';
COMMENT ON COLUMN delivery_lag.received_ms IS 'From the first to the last content, client clock, ms';
COMMENT ON COLUMN delivery_lag.growth_ms IS 'By how much the lag grew over the stream, ms; a last token without text makes it smaller';
COMMENT ON COLUMN delivery_lag.slope_ms_per_s IS 'Growth per second of emission, ms/s';
COMMENT ON COLUMN delivery_lag.first_lag_ms IS 'First token to first content, where the clocks are related, ms';
COMMENT ON COLUMN delivery_lag.last_lag_ms IS 'Last token to last content, where the clocks are related, ms';
COMMENT ON COLUMN delivery_lag.error_ms IS 'Declared error of that relation, ms';
