-- What became of an attempt that its waiter gave up: the chain from the cancellation to the memory given back.
CREATE VIEW cancellation AS
WITH chain AS (
  SELECT
    a.*, m.release_lag_ms, m.release_lag_why, c.engine_to_client_ns, c.engine_to_client_error_ns,
    -- Read on the gateway's clock where there is a gateway.
    CASE WHEN a.gateway_clock IS NULL THEN 0 ELSE c.engine_to_gateway_ns END AS shift_ns,
    CASE WHEN a.gateway_clock IS NULL THEN 0 ELSE c.engine_to_gateway_error_ns END AS error_ns
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
  JOIN attempt_metric AS m ON m.attempt_id = a.attempt_id
  WHERE a.outcome = 'cancelled' OR (a.outcome = 'timeout' AND a.decided_by = 'client')
    OR coalesce(a.gateway_cancel_seen_ns, a.engine_cancel_seen_ns, a.gateway_cancel_forwarded_ns) IS NOT NULL
)
SELECT
  run, request_id, attempt, attempt_id, outcome, decided_by, sides,
  CASE WHEN gateway_clock IS NOT NULL THEN gateway_cancel_seen_ns IS NOT NULL END AS gateway_saw,
  elapsed_ms(gateway_cancel_seen_ns, gateway_cancel_forwarded_ns) AS forward_ms,
  elapsed_ms(gateway_cancel_forwarded_ns, engine_dequeued_ns + shift_ns) AS dequeue_ms,
  elapsed_ms(engine_dequeued_ns, engine_released_ns) AS release_ms,
  release_lag_ms, release_lag_why, error_ns / 1e6 AS error_ms,
  CASE WHEN engine_released_ns IS NOT NULL THEN 'released'
       WHEN engine_clock IS NULL THEN 'engine not seen'
       ELSE 'closed, release not acknowledged' END AS release,
  -- Work that nobody waited for any more.
  elapsed_ms(client_done_ns, engine_done_ns + engine_to_client_ns) AS overrun_ms, engine_to_client_error_ns / 1e6 AS overrun_error_ms,
  CASE WHEN client_done_ns IS NULL THEN 'the client''s end was not recorded'
       WHEN engine_done_ns IS NULL THEN 'the engine''s end was not recorded'
       WHEN engine_to_client_ns IS NULL THEN 'different clocks'
       WHEN engine_done_ns + engine_to_client_ns < client_done_ns THEN 'the engine ended before the client left' END AS overrun_why,
  CASE WHEN token_basis = 'engine' AND output_tokens >= client_output_tokens THEN output_tokens - client_output_tokens END AS overrun_tokens
FROM chain;

COMMENT ON VIEW cancellation IS 'One row per attempt that was given up: the hops of its cancellation, the release lag, and the work that the engine did after the client had left';
COMMENT ON COLUMN cancellation.gateway_saw IS 'Whether the gateway recorded the cancellation; NULL without a gateway';
COMMENT ON COLUMN cancellation.forward_ms IS 'From the gateway''s seeing the cancellation to its forwarding, ms';
COMMENT ON COLUMN cancellation.dequeue_ms IS 'From the forwarding to the request taken out of the queue, ms; give or take error_ms';
COMMENT ON COLUMN cancellation.release_ms IS 'From there to the memory given back, ms';
COMMENT ON COLUMN cancellation.release IS 'released; closed, release not acknowledged: nothing says that the memory was given back; or engine not seen';
COMMENT ON COLUMN cancellation.error_ms IS 'Declared error of the relation of the gateway''s and the engine''s clock, ms';
COMMENT ON COLUMN cancellation.overrun_ms IS 'How long the engine worked on after the client had left, ms';
COMMENT ON COLUMN cancellation.overrun_error_ms IS 'Declared error of the relation of the engine''s and the client''s clock, ms';
COMMENT ON COLUMN cancellation.overrun_why IS 'Why there is no overrun';
COMMENT ON COLUMN cancellation.overrun_tokens IS 'Output tokens of the engine beyond those that reached the client';
