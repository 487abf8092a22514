-- Each metric of each counted request as one row: a value (or two ends of one), or what stands in its place.
CREATE VIEW metric_value AS
WITH long AS (
  SELECT
    r.run, r.request_id, m.metric, m.unit, m.family,
    CASE WHEN m.metric = 'tpot' THEN r.first_chunk END AS first_chunk,
    r.load_point, r.tenant, r.input_bin, r.output_bin, r.window_start, r.outcome, r.correct,
    CASE m.metric
      WHEN 'ttft' THEN coalesce(r.ttft_ms, r.ttft_low_ms)
      WHEN 'ttft_gateway' THEN r.ttft_gateway_ms
      WHEN 'ttft_engine' THEN r.ttft_engine_ms
      WHEN 'ttft_scheduled' THEN r.ttft_scheduled_ms
      WHEN 'ttfa' THEN r.ttfa_ms
      WHEN 'e2e' THEN r.e2e_ms
      WHEN 'e2e_gateway' THEN r.e2e_gateway_ms
      WHEN 'e2e_engine' THEN r.e2e_engine_ms
      WHEN 'tpot' THEN r.tpot_ms
      WHEN 'tpot_engine' THEN r.tpot_engine_ms
      WHEN 'ntpot' THEN r.ntpot_ms
      WHEN 'time_to_reject' THEN r.time_to_reject_ms
      WHEN 'lateness' THEN r.lateness_ms
      WHEN 'release_lag' THEN r.release_lag_ms
      WHEN 'client_queue' THEN r.client_queue_low_ms
      WHEN 'edge' THEN r.edge_low_ms
      WHEN 'queue' THEN r.queue_low_ms
      WHEN 'prefill' THEN r.prefill_low_ms
      WHEN 'kv_transfer' THEN r.kv_transfer_low_ms
      WHEN 'decode' THEN r.decode_low_ms
      WHEN 'delivery' THEN r.delivery_low_ms
      WHEN 'terminal' THEN r.terminal_low_ms
      WHEN 'unattributed' THEN r.unattributed_low_ms
    END AS low,
    CASE m.metric
      WHEN 'ttft' THEN coalesce(r.ttft_ms, r.ttft_high_ms)
      WHEN 'ttft_gateway' THEN r.ttft_gateway_ms
      WHEN 'ttft_engine' THEN r.ttft_engine_ms
      WHEN 'ttft_scheduled' THEN r.ttft_scheduled_ms
      WHEN 'ttfa' THEN r.ttfa_ms
      WHEN 'e2e' THEN r.e2e_ms
      WHEN 'e2e_gateway' THEN r.e2e_gateway_ms
      WHEN 'e2e_engine' THEN r.e2e_engine_ms
      WHEN 'tpot' THEN r.tpot_ms
      WHEN 'tpot_engine' THEN r.tpot_engine_ms
      WHEN 'ntpot' THEN r.ntpot_ms
      WHEN 'time_to_reject' THEN r.time_to_reject_ms
      WHEN 'lateness' THEN r.lateness_ms
      WHEN 'release_lag' THEN r.release_lag_ms
      WHEN 'client_queue' THEN r.client_queue_high_ms
      WHEN 'edge' THEN r.edge_high_ms
      WHEN 'queue' THEN r.queue_high_ms
      WHEN 'prefill' THEN r.prefill_high_ms
      WHEN 'kv_transfer' THEN r.kv_transfer_high_ms
      WHEN 'decode' THEN r.decode_high_ms
      WHEN 'delivery' THEN r.delivery_high_ms
      WHEN 'terminal' THEN r.terminal_high_ms
      WHEN 'unattributed' THEN r.unattributed_high_ms
    END AS high,
    CASE m.metric
      WHEN 'ttft' THEN r.ttft_why
      WHEN 'ttft_gateway' THEN r.ttft_gateway_why
      WHEN 'ttft_engine' THEN r.ttft_engine_why
      WHEN 'ttft_scheduled' THEN r.ttft_scheduled_why
      WHEN 'ttfa' THEN r.ttfa_why
      WHEN 'e2e' THEN r.e2e_why
      WHEN 'e2e_gateway' THEN r.e2e_gateway_why
      WHEN 'e2e_engine' THEN r.e2e_engine_why
      WHEN 'tpot' THEN r.tpot_why
      WHEN 'tpot_engine' THEN r.tpot_engine_why
      WHEN 'ntpot' THEN r.ntpot_why
      WHEN 'time_to_reject' THEN r.time_to_reject_why
      WHEN 'lateness' THEN r.lateness_why
      WHEN 'release_lag' THEN r.release_lag_why
      ELSE 'not recorded'
    END AS why,
    -- Known of a request that was given up: it had waited this long.
    CASE WHEN m.metric IN ('ttft', 'ttft_scheduled', 'ttfa', 'e2e') THEN r.left_ms
         WHEN m.metric IN ('ttft_gateway', 'e2e_gateway') THEN r.gateway_left_ms END AS left_ms
  FROM request_metric AS r
  CROSS JOIN metric AS m
  WHERE r.counted
)
SELECT
  run, request_id, metric, unit, family, first_chunk, load_point, tenant, input_bin, output_bin, window_start, outcome, correct,
  low, high, CASE WHEN low IS NULL THEN why END AS why, left_ms,
  CASE
    WHEN low IS NOT NULL THEN 'value'
    WHEN why IN ('not streamed', 'no open-loop schedule', 'no token after the first chunk', 'one output token or none',
                 'several outputs', 'not rejected', 'not cancelled') THEN 'not applicable'
    WHEN why = 'no content came' THEN 'absent'
    ELSE 'unknown'
  END AS state
FROM long;

COMMENT ON VIEW metric_value IS 'One row per counted request and metric: the value as [low, high] ms, or why there is none';
COMMENT ON COLUMN metric_value.low IS 'At least this, ms';
COMMENT ON COLUMN metric_value.high IS 'At most this, ms';
COMMENT ON COLUMN metric_value.why IS 'Why there is no value';
COMMENT ON COLUMN metric_value.left_ms IS 'How long the waiter had waited when it left, for metrics that count from sent';
COMMENT ON COLUMN metric_value.state IS 'value, absent (observed that it never came), not applicable, unknown (evidence missing)';
COMMENT ON COLUMN metric_value.family IS 'time or stage';
