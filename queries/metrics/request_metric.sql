-- Every metric of a request: its answer's, counted from the request's first send, backoff included.
CREATE TABLE request_metric AS
WITH base AS (
  SELECT
    r.run, r.request_id, r.load_point, r.tenant, r.input_bin, r.output_bin, r.window_start, r.window_start_ns,
    r.outcome, r.correct, r.counted, r.attempts,
    CASE WHEN r.first_clock IS DISTINCT FROM n.client_clock THEN NULL ELSE (n.client_sent_ns - r.first_sent_ns) / 1e6 END AS before_ms,
    CASE WHEN r.first_clock IS DISTINCT FROM n.client_clock THEN NULL
         ELSE (coalesce(n.client_scheduled_ns, n.client_sent_ns) - r.first_scheduled_ns) / 1e6 END AS scheduled_before_ms,
    CASE WHEN r.first_clock IS DISTINCT FROM n.client_clock THEN 'different clocks' END AS clock_why,
    m.* EXCLUDE (run, request_id)
  FROM request AS r
  JOIN attempt AS n ON n.run = r.run AND n.attempt_id = r.answer_id
  JOIN attempt_metric AS m ON m.run = r.run AND m.attempt_id = r.answer_id
)
SELECT
  run, request_id, load_point, tenant, input_bin, output_bin, window_start, window_start_ns, outcome, correct, counted, attempts,
  ttft_ms + before_ms AS ttft_ms, coalesce(ttft_why, clock_why) AS ttft_why,
  ttft_gateway_ms, ttft_gateway_why, ttft_engine_ms, ttft_engine_why,
  ttft_scheduled_ms + scheduled_before_ms AS ttft_scheduled_ms, coalesce(ttft_scheduled_why, clock_why) AS ttft_scheduled_why,
  ttfa_ms + before_ms AS ttfa_ms, coalesce(ttfa_why, clock_why) AS ttfa_why,
  e2e_ms + before_ms AS e2e_ms, coalesce(e2e_why, clock_why) AS e2e_why,
  e2e_gateway_ms, e2e_gateway_why, e2e_engine_ms, e2e_engine_why,
  tpot_ms, tpot_why, first_chunk, tpot_engine_ms, tpot_engine_why, ntpot_ms, ntpot_why,
  time_to_reject_ms, time_to_reject_why, lateness_ms, lateness_why,
  client_queue_low_ms, client_queue_high_ms, edge_low_ms, edge_high_ms, queue_low_ms, queue_high_ms,
  prefill_low_ms, prefill_high_ms, decode_low_ms, decode_high_ms, delivery_low_ms, delivery_high_ms,
  terminal_low_ms, terminal_high_ms, unattributed_low_ms, unattributed_high_ms,
  release_lag_ms, release_lag_why, left_ms + before_ms AS left_ms
FROM base;

COMMENT ON TABLE request_metric IS 'One row per request: every metric of the attempt that answered it, client times from the first send; NULL with a reason where it has none';
COMMENT ON COLUMN request_metric.first_chunk IS 'Whether the tokens of the first chunk are known, or assumed to be 1, in tpot';
COMMENT ON COLUMN request_metric.left_ms IS 'Time from the first send to the end that the client saw';
COMMENT ON COLUMN request_metric.counted IS 'Enters the run''s numbers';
