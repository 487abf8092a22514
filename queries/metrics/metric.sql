-- The metrics, each defined once.
CREATE VIEW metric AS
SELECT * FROM (VALUES
  ('ttft', 'ms', 'client', 'time', 'first_content - sent', 'time to first content'),
  ('ttft_gateway', 'ms', 'gateway', 'time', 'first content out - arrived', 'time to first content, gateway'),
  ('ttft_engine', 'ms', 'engine', 'time', 'first_token - arrived', 'time to first token, engine'),
  ('ttft_scheduled', 'ms', 'client', 'time', 'first_content - scheduled (open-loop schedule)', 'time to first content from schedule'),
  ('ttfa', 'ms', 'client', 'time', 'first answer text - sent', 'time to first answer text'),
  ('e2e', 'ms', 'client', 'time', 'done - sent', 'end to end'),
  ('e2e_gateway', 'ms', 'gateway', 'time', 'done - arrived', 'end to end, gateway'),
  ('e2e_engine', 'ms', 'engine', 'time', 'done - arrived', 'end to end, engine'),
  ('tpot', 'ms', 'client', 'time', '(last_content - first_content) / (output_tokens - tokens of the first chunk)', 'time per output token'),
  ('tpot_engine', 'ms', 'engine', 'time', '(last_token - first_token) / (output_tokens - 1)', 'time per output token, engine'),
  ('ntpot', 'ms', 'client', 'time', '(last_content - sent) / output_tokens, only to compare with tools that print it', 'normalised time per output token'),
  ('time_to_reject', 'ms', 'each', 'stage', 'rejected - arrived (or sent)', 'time to reject'),
  ('lateness', 'ms', 'client', 'stage', 'sent - scheduled', 'lateness of the load generator'),
  ('client_queue', 'ms', 'client', 'stage', 'scheduled -> sent', 'wait in the client'),
  ('edge', 'ms', 'gateway', 'stage', 'arrived -> admitted', 'edge'),
  ('queue', 'ms', 'engine', 'stage', 'admitted -> started', 'queue'),
  ('prefill', 'ms', 'engine', 'stage', 'started -> first_token', 'prefill'),
  ('kv_transfer', 'ms', 'engine', 'stage', 'prefill_done -> decode_started, where prefill and decode have different workers', 'KV transfer'),
  ('decode', 'ms', 'engine', 'stage', 'first_token -> last_token', 'decode'),
  ('delivery', 'ms', 'stream', 'stage', 'first_token -> first_content', 'delivery'),
  ('terminal', 'ms', 'stream', 'stage', 'last_content -> done', 'terminal'),
  ('unattributed', 'ms', 'nobody', 'stage', 'ttft - union of the known stages inside it', 'unattributed'),
  ('release_lag', 'ms', 'engine', 'stage', 'released - cancel_seen', 'release lag')
) AS m (metric, unit, side, family, formula, title);

COMMENT ON VIEW metric IS 'One row per metric: its formula, the side whose clock it is on, and its unit';
COMMENT ON COLUMN metric.side IS 'Whose clock the metric is on';
COMMENT ON COLUMN metric.family IS 'time: a failure never reaches it and counts so; stage: a duration of those that have it';
COMMENT ON COLUMN metric.formula IS 'The definition in boundaries';
COMMENT ON COLUMN metric.title IS 'The name in words';
