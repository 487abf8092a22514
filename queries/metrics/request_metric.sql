-- Every metric of a request: its answer's, counted from the request's first send, backoff included.
CREATE TABLE request_metric AS
WITH base AS (
  SELECT
    r.run, r.request_id, r.load_point, r.tenant, r.input_bin, r.output_bin, r.window_start, r.window_start_ns,
    r.outcome, r.correct, r.counted, r.attempts,
    r.first_sent_ns, r.first_scheduled_ns, r.first_gateway_ns, n.gateway_first_content_ns, n.gateway_done_ns, n.client_first_content_ns, n.client_first_content_low_ns, n.client_first_content_high_ns, n.client_first_answer_ns, n.client_done_ns,
    CASE WHEN r.first_clock IS DISTINCT FROM n.client_clock OR r.first_clock_kind IS DISTINCT FROM n.client_clock_kind THEN 'different clocks' END AS clock_why,
    CASE WHEN r.first_gateway_clock IS DISTINCT FROM n.gateway_clock OR r.first_gateway_clock_kind IS DISTINCT FROM n.gateway_clock_kind THEN 'different clocks' END AS gateway_clock_why,
    m.* EXCLUDE (run, request_id)
  FROM request AS r
  JOIN attempt AS n ON n.attempt_id = r.answer_id
  JOIN attempt_metric AS m ON m.attempt_id = r.answer_id
)
SELECT
  run, request_id, load_point, tenant, input_bin, output_bin, window_start, window_start_ns, outcome, correct, counted, attempts,
  CASE WHEN ttft_ms IS NOT NULL AND clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_first_content_ns) END AS ttft_ms, coalesce(ttft_why, clock_why) AS ttft_why,
  CASE WHEN ttft_low_ms IS NOT NULL AND clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_first_content_low_ns) END AS ttft_low_ms,
  CASE WHEN ttft_high_ms IS NOT NULL AND clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_first_content_high_ns) END AS ttft_high_ms,
  CASE WHEN ttft_gateway_ms IS NOT NULL AND gateway_clock_why IS NULL THEN elapsed_ms(first_gateway_ns, gateway_first_content_ns) END AS ttft_gateway_ms,
  coalesce(ttft_gateway_why, gateway_clock_why) AS ttft_gateway_why, ttft_engine_ms, ttft_engine_why,
  CASE WHEN ttft_why IS NULL AND clock_why IS NULL THEN elapsed_ms(first_scheduled_ns, client_first_content_ns) END AS ttft_scheduled_ms,
  coalesce(CASE WHEN ttft_why = 'not streamed' THEN ttft_why END, CASE WHEN first_scheduled_ns IS NULL THEN 'no open-loop schedule' END,
    ttft_why, clock_why, elapsed_why(first_scheduled_ns, client_first_content_ns)) AS ttft_scheduled_why,
  CASE WHEN ttfa_ms IS NOT NULL AND clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_first_answer_ns) END AS ttfa_ms, coalesce(ttfa_why, clock_why) AS ttfa_why,
  CASE WHEN e2e_ms IS NOT NULL AND clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_done_ns) END AS e2e_ms, coalesce(e2e_why, clock_why) AS e2e_why,
  CASE WHEN e2e_gateway_ms IS NOT NULL AND gateway_clock_why IS NULL THEN elapsed_ms(first_gateway_ns, gateway_done_ns) END AS e2e_gateway_ms,
  coalesce(e2e_gateway_why, gateway_clock_why) AS e2e_gateway_why, e2e_engine_ms, e2e_engine_why,
  tpot_ms, tpot_why, first_chunk, tpot_engine_ms, tpot_engine_why, ntpot_ms, ntpot_why,
  time_to_reject_ms, time_to_reject_why, elapsed_ms(first_scheduled_ns, first_sent_ns) AS lateness_ms,
  CASE WHEN first_scheduled_ns IS NULL THEN 'no open-loop schedule' ELSE elapsed_why(first_scheduled_ns, first_sent_ns) END AS lateness_why,
  elapsed_ms(first_scheduled_ns, first_sent_ns) AS client_queue_low_ms, elapsed_ms(first_scheduled_ns, first_sent_ns) AS client_queue_high_ms, edge_low_ms, edge_high_ms, queue_low_ms, queue_high_ms,
  prefill_low_ms, prefill_high_ms, kv_transfer_low_ms, kv_transfer_high_ms, decode_low_ms, decode_high_ms, delivery_low_ms, delivery_high_ms,
  terminal_low_ms, terminal_high_ms, unattributed_low_ms, unattributed_high_ms,
  release_lag_ms, release_lag_why, CASE WHEN clock_why IS NULL THEN elapsed_ms(first_sent_ns, client_done_ns) END AS left_ms,
  CASE WHEN gateway_clock_why IS NULL THEN elapsed_ms(first_gateway_ns, gateway_done_ns) END AS gateway_left_ms
FROM base;

COMMENT ON TABLE request_metric IS 'One row per request: every metric of the attempt that answered it, client times from the first send; NULL with a reason where it has none';
COMMENT ON COLUMN request_metric.first_chunk IS 'Whether the tokens of the first chunk are known, or assumed to be 1, in tpot';
COMMENT ON COLUMN request_metric.left_ms IS 'Time from the first send to the end that the client saw';
COMMENT ON COLUMN request_metric.gateway_left_ms IS 'Time from the first arrival at the gateway to the end that the gateway saw';
COMMENT ON COLUMN request_metric.counted IS 'Enters the run''s numbers';
