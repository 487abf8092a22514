-- Every metric of an attempt, or the reason why it has none.
CREATE TABLE attempt_metric AS
WITH shown AS (
  SELECT DISTINCT run FROM attempt WHERE client_first_content_ns IS NOT NULL OR client_last_content_ns IS NOT NULL
), stage_wide AS (
  SELECT
    attempt_id, run,
    max(low_ms) FILTER (stage = 'client_queue') AS client_queue_low, max(high_ms) FILTER (stage = 'client_queue') AS client_queue_high,
    max(low_ms) FILTER (stage = 'edge') AS edge_low, max(high_ms) FILTER (stage = 'edge') AS edge_high,
    max(low_ms) FILTER (stage = 'queue') AS queue_low, max(high_ms) FILTER (stage = 'queue') AS queue_high,
    max(low_ms) FILTER (stage = 'prefill') AS prefill_low, max(high_ms) FILTER (stage = 'prefill') AS prefill_high,
    max(low_ms) FILTER (stage = 'kv_transfer') AS kv_transfer_low, max(high_ms) FILTER (stage = 'kv_transfer') AS kv_transfer_high,
    max(low_ms) FILTER (stage = 'decode') AS decode_low, max(high_ms) FILTER (stage = 'decode') AS decode_high,
    max(low_ms) FILTER (stage = 'delivery') AS delivery_low, max(high_ms) FILTER (stage = 'delivery') AS delivery_high,
    max(low_ms) FILTER (stage = 'terminal') AS terminal_low, max(high_ms) FILTER (stage = 'terminal') AS terminal_high,
    max(low_ms) FILTER (stage = 'unattributed') AS unattributed_low, max(high_ms) FILTER (stage = 'unattributed') AS unattributed_high
  FROM stage
  GROUP BY attempt_id, run
), read AS (
  SELECT
    a.*, s.* EXCLUDE (attempt_id, run),
    CASE WHEN coalesce(a.streamed, true) = false THEN 'not streamed' END AS whole_why,
    -- An answer that ended well and showed no content is an observed absence, not a gap in the record; unless it counts
    -- tokens and nobody of the run shows any content, so that it was the record that showed none.
    CASE WHEN a.client_first_content_ns IS NULL AND a.client_last_content_ns IS NULL AND a.outcome = 'ok' AND
              a.client_done_ns IS NOT NULL AND (a.streamed OR a.output_tokens = 0) AND a.client_origin = 'event' AND
              (coalesce(a.output_tokens, 0) = 0 OR h.run IS NOT NULL) THEN 'no content came' END AS absent_why,
    -- No answer comes in no time: a first content at the very start stands for one that was not measured.
    CASE WHEN a.client_first_content_ns = a.client_sent_ns THEN 'no time had passed' END AS client_zero_why,
    CASE WHEN a.gateway_first_content_ns = a.gateway_arrived_ns THEN 'no time had passed' END AS gateway_zero_why,
    CASE WHEN a.engine_first_token_ns = a.engine_arrived_ns THEN 'no time had passed' END AS engine_zero_why,
    CASE WHEN a.outputs > 1 THEN 'several outputs' END AS outputs_why,
    -- The engine may have gone on after the client left: its tokens are not those that the client's time is about.
    CASE WHEN a.outcome <> 'ok' AND a.client_output_tokens IS NULL AND a.retokenized_output_tokens IS NULL THEN 'output tokens not recorded' END AS tokens_why,
    -- Content that came in one piece has no time between tokens: 0 would mean that it was measured.
    CASE WHEN a.client_last_content_ns = a.client_first_content_ns THEN 'content came in one chunk' END AS one_chunk_why,
    coalesce(a.first_chunk_tokens, 1) AS first_tokens
  FROM attempt AS a
  LEFT JOIN stage_wide AS s ON s.attempt_id = a.attempt_id
  LEFT JOIN shown AS h ON h.run = a.run
)
SELECT
  attempt_id, run, request_id,
  CASE WHEN whole_why IS NULL AND client_zero_why IS NULL THEN elapsed_ms(client_sent_ns, client_first_content_ns) END AS ttft_ms,
  -- A first content that is only bounded bounds the time to it.
  CASE WHEN whole_why IS NULL AND client_first_content_ns IS NULL THEN elapsed_ms(client_sent_ns, client_first_content_low_ns) END AS ttft_low_ms,
  CASE WHEN whole_why IS NULL AND client_first_content_ns IS NULL THEN elapsed_ms(client_sent_ns, client_first_content_high_ns) END AS ttft_high_ms,
  coalesce(whole_why, absent_why, client_zero_why, CASE WHEN client_first_content_ns IS NULL AND client_first_content_low_ns IS NOT NULL
    THEN 'only bounded' END, elapsed_why(client_sent_ns, client_first_content_ns)) AS ttft_why,
  CASE WHEN whole_why IS NULL AND gateway_zero_why IS NULL THEN elapsed_ms(gateway_arrived_ns, gateway_first_content_ns) END AS ttft_gateway_ms,
  coalesce(whole_why, gateway_zero_why, elapsed_why(gateway_arrived_ns, gateway_first_content_ns)) AS ttft_gateway_why,
  CASE WHEN engine_zero_why IS NULL THEN elapsed_ms(engine_arrived_ns, engine_first_token_ns) END AS ttft_engine_ms,
  coalesce(engine_zero_why, elapsed_why(engine_arrived_ns, engine_first_token_ns)) AS ttft_engine_why,
  CASE WHEN whole_why IS NULL AND client_zero_why IS NULL THEN elapsed_ms(client_scheduled_ns, client_first_content_ns) END AS ttft_scheduled_ms,
  coalesce(whole_why, CASE WHEN client_scheduled_ns IS NULL THEN 'no open-loop schedule' END, absent_why, client_zero_why,
    elapsed_why(client_scheduled_ns, client_first_content_ns)) AS ttft_scheduled_why,
  CASE WHEN whole_why IS NULL AND client_first_answer_ns IS DISTINCT FROM client_sent_ns THEN elapsed_ms(client_sent_ns, client_first_answer_ns) END AS ttfa_ms,
  coalesce(whole_why, absent_why, CASE WHEN client_first_answer_ns = client_sent_ns THEN 'no time had passed' END,
    CASE WHEN client_first_answer_ns IS NULL AND outcome = 'ok' AND client_only_reasoning THEN 'no content came' END,
    elapsed_why(client_sent_ns, client_first_answer_ns)) AS ttfa_why,
  elapsed_ms(client_sent_ns, client_done_ns) AS e2e_ms,
  elapsed_why(client_sent_ns, client_done_ns) AS e2e_why,
  elapsed_ms(gateway_arrived_ns, gateway_done_ns) AS e2e_gateway_ms,
  elapsed_why(gateway_arrived_ns, gateway_done_ns) AS e2e_gateway_why,
  elapsed_ms(engine_arrived_ns, engine_done_ns) AS e2e_engine_ms,
  elapsed_why(engine_arrived_ns, engine_done_ns) AS e2e_engine_why,
  CASE WHEN whole_why IS NULL AND outputs_why IS NULL AND output_tokens > first_tokens AND one_chunk_why IS NULL AND tokens_why IS NULL
    AND client_zero_why IS NULL THEN elapsed_ms(client_first_content_ns, client_last_content_ns) / (output_tokens - first_tokens) END AS tpot_ms,
  coalesce(whole_why, outputs_why, CASE WHEN output_tokens < first_chunk_tokens THEN 'token counts contradict' END,
    CASE WHEN output_tokens <= first_tokens THEN 'no token after the first chunk' END, absent_why, client_zero_why, one_chunk_why, tokens_why,
    CASE WHEN output_tokens IS NULL THEN 'output tokens not recorded' END,
    elapsed_why(client_first_content_ns, client_last_content_ns)) AS tpot_why,
  CASE WHEN first_chunk_tokens IS NULL THEN 'assumed' ELSE 'known' END AS first_chunk,
  CASE WHEN outputs_why IS NULL AND output_tokens > 1 AND engine_zero_why IS NULL
    THEN elapsed_ms(engine_first_token_ns, engine_last_token_ns) / (output_tokens - 1) END AS tpot_engine_ms,
  coalesce(outputs_why, CASE WHEN output_tokens <= 1 THEN 'one output token or none' END,
    CASE WHEN output_tokens IS NULL THEN 'output tokens not recorded' END, engine_zero_why,
    elapsed_why(engine_first_token_ns, engine_last_token_ns)) AS tpot_engine_why,
  CASE WHEN whole_why IS NULL AND output_tokens > 0 AND tokens_why IS NULL
    THEN elapsed_ms(client_sent_ns, client_last_content_ns) / output_tokens END AS ntpot_ms,
  coalesce(whole_why, CASE WHEN output_tokens = 0 THEN 'one output token or none' END, absent_why, tokens_why,
    CASE WHEN output_tokens IS NULL THEN 'output tokens not recorded' END,
    elapsed_why(client_sent_ns, client_last_content_ns)) AS ntpot_why,
  coalesce(elapsed_ms(gateway_arrived_ns, gateway_rejected_ns), elapsed_ms(engine_arrived_ns, engine_rejected_ns),
    CASE WHEN outcome = 'rejected' THEN elapsed_ms(client_sent_ns, client_done_ns) END) AS time_to_reject_ms,
  CASE WHEN outcome <> 'rejected' THEN 'not rejected' ELSE elapsed_why(client_sent_ns, client_done_ns) END AS time_to_reject_why,
  elapsed_ms(client_scheduled_ns, client_sent_ns) AS lateness_ms,
  CASE WHEN client_scheduled_ns IS NULL THEN 'no open-loop schedule' ELSE elapsed_why(client_scheduled_ns, client_sent_ns) END AS lateness_why,
  client_queue_low AS client_queue_low_ms, client_queue_high AS client_queue_high_ms,
  edge_low AS edge_low_ms, edge_high AS edge_high_ms,
  queue_low AS queue_low_ms, queue_high AS queue_high_ms,
  prefill_low AS prefill_low_ms, prefill_high AS prefill_high_ms,
  kv_transfer_low AS kv_transfer_low_ms, kv_transfer_high AS kv_transfer_high_ms,
  decode_low AS decode_low_ms, decode_high AS decode_high_ms,
  delivery_low AS delivery_low_ms, delivery_high AS delivery_high_ms,
  terminal_low AS terminal_low_ms, terminal_high AS terminal_high_ms,
  unattributed_low AS unattributed_low_ms, unattributed_high AS unattributed_high_ms,
  elapsed_ms(coalesce(engine_cancel_seen_ns, CASE WHEN gateway_clock = engine_clock THEN gateway_cancel_seen_ns END), engine_released_ns) AS release_lag_ms,
  CASE WHEN gateway_cancel_seen_ns IS NULL AND engine_cancel_seen_ns IS NULL THEN 'not cancelled'
       WHEN engine_released_ns IS NULL THEN 'release not acknowledged'
       WHEN engine_cancel_seen_ns IS NULL AND gateway_clock <> engine_clock THEN 'different clocks'
       ELSE elapsed_why(coalesce(engine_cancel_seen_ns, gateway_cancel_seen_ns), engine_released_ns) END AS release_lag_why,
  -- How long the waiter had waited when it left: what is known of a request that was given up.
  elapsed_ms(client_sent_ns, client_done_ns) AS left_ms
FROM read;

COMMENT ON TABLE attempt_metric IS 'One row per attempt: every metric of the view `metric`, NULL with a reason beside it where it has none; stages as [low, high]';
COMMENT ON COLUMN attempt_metric.first_chunk IS 'Whether the tokens of the first chunk are known, or assumed to be 1, in tpot';
COMMENT ON COLUMN attempt_metric.left_ms IS 'Time from sent to the end that the client saw';
