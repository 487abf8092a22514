-- The values that each load generator's formula makes of the counted attempts, before any percentile.
CREATE VIEW printed_value AS
WITH answered AS (
  SELECT *, coalesce(server_tokens, text_tokens) AS tokens, coalesce(text_tokens, server_tokens) AS counted_tokens
  FROM printed_attempt
  WHERE ok
), per_attempt AS (
  SELECT a.run, a.load_point, f.tool, f.metric, a.attempt_id,
    CASE f.tool || '/' || f.metric
      WHEN 'vLLM bench/ttft' THEN CASE WHEN all_told THEN first_choice_ms END
      WHEN 'vLLM bench/tpot' THEN CASE WHEN all_told AND tokens > 1 THEN (last_choice_ms - first_choice_ms) / (tokens - 1) END
      WHEN 'vLLM bench/e2el' THEN CASE WHEN all_told THEN last_choice_ms END
      WHEN 'SGLang bench/ttft' THEN first_content_ms
      WHEN 'SGLang bench/tpot' THEN CASE WHEN tokens > 1 THEN (done_ms - first_content_ms) / (tokens - 1) END
      WHEN 'SGLang bench/e2e_latency' THEN done_ms
      WHEN 'genai-bench/ttft' THEN first_content_ms
      WHEN 'genai-bench/tpot' THEN CASE WHEN tokens > 1 AND done_ms - first_content_ms >= 1 THEN (done_ms - first_content_ms) / (tokens - 1) END
      WHEN 'genai-bench/output_latency' THEN done_ms - first_content_ms
      WHEN 'genai-bench/e2e_latency' THEN done_ms
      WHEN 'GuideLLM/time_to_first_token_ms' THEN first_content_ms
      WHEN 'GuideLLM/request_latency' THEN done_ms
      WHEN 'GuideLLM/time_per_output_token_ms' THEN CASE WHEN tokens > 0 THEN last_content_ms / tokens END
      WHEN 'GuideLLM/inter_token_latency_ms' THEN CASE WHEN tokens > 1 THEN (last_content_ms - first_content_ms) / (tokens - 1) END
      WHEN 'inference-perf/time_to_first_token' THEN CASE WHEN counted_tokens > 1 THEN first_content_ms END
      WHEN 'inference-perf/time_per_output_token' THEN CASE WHEN counted_tokens > 1 THEN (last_content_ms - first_content_ms) / (counted_tokens - 1) END
      WHEN 'inference-perf/time_per_output_token, server tokens' THEN CASE WHEN server_tokens > 1 THEN (last_content_ms - first_content_ms) / (server_tokens - 1) END
      WHEN 'inference-perf/normalized_time_per_output_token' THEN CASE WHEN counted_tokens > 0 THEN done_ms / counted_tokens WHEN counted_tokens = 0 THEN 0.0 END
      WHEN 'inference-perf/request_latency' THEN done_ms
      WHEN 'llmperf/inter_token_latency_s' THEN CASE WHEN all_told AND messages > 0 THEN last_content_ms / messages END
      WHEN 'llmperf/ttft_s' THEN first_content_ms
      WHEN 'llmperf/end_to_end_latency_s' THEN done_ms
      WHEN 'AIPerf/time_to_first_token' THEN first_content_ms
      WHEN 'AIPerf/inter_token_latency' THEN CASE WHEN counted_tokens > 1 THEN (last_content_ms - first_content_ms) / (counted_tokens - 1) END
      WHEN 'AIPerf/inter_token_latency, server tokens' THEN CASE WHEN server_tokens > 1 THEN (last_content_ms - first_content_ms) / (server_tokens - 1) END
      WHEN 'AIPerf/request_latency' THEN CASE WHEN streamed = false THEN done_ms ELSE last_content_ms END
      WHEN 'MLPerf LoadGen/first_token_latency' THEN scheduled_first_content_ms
      WHEN 'MLPerf LoadGen/latency' THEN scheduled_done_ms
      WHEN 'MLPerf LoadGen/time_to_output_token' THEN CASE WHEN tokens > 1 THEN (scheduled_done_ms - scheduled_first_content_ms) / (tokens - 1)
        WHEN tokens = 1 THEN scheduled_first_content_ms - scheduled_done_ms END
    END AS value,
    CASE f.weighting WHEN 'weighted by output tokens' THEN tokens WHEN 'weighted by output tokens - 1' THEN tokens - 1 ELSE 1 END AS weight
  FROM answered AS a CROSS JOIN printed_formula AS f
  WHERE f.weighting NOT IN ('pooled', 'whole run')
), spoken AS (
  SELECT
    a.run, a.load_point, a.attempt_id, a.all_told, m.carries, m.time_ns,
    lag(m.time_ns) OVER (PARTITION BY m.attempt_id ORDER BY m.time_ns, m.position) AS before_ns,
    lag(CASE WHEN m.carries = 'content' THEN m.time_ns END IGNORE NULLS)
      OVER (PARTITION BY m.attempt_id ORDER BY m.time_ns, m.position) AS content_before_ns
  FROM answered AS a
  JOIN message AS m ON m.attempt_id = a.attempt_id AND m.side = 'client'
  WHERE m.carries = 'content' OR m.kind IN ('role', 'finish')
), gap AS (
  SELECT run, load_point, 'vLLM bench' AS tool, 'itl' AS metric, attempt_id, (time_ns - before_ns) / 1e6 AS value
  FROM spoken WHERE all_told AND before_ns IS NOT NULL
  UNION ALL
  SELECT s.run, s.load_point, f.tool, f.metric, s.attempt_id, (s.time_ns - s.content_before_ns) / 1e6
  FROM spoken AS s
  JOIN printed_formula AS f ON f.weighting = 'pooled' AND f.tool <> 'vLLM bench'
  WHERE s.carries = 'content' AND s.content_before_ns IS NOT NULL
  UNION ALL
  -- A message of several tokens gives as many times as tokens, all the same.
  SELECT run, load_point, 'inference-perf', 'inter_token_latency', attempt_id, 0.0
  FROM (
    SELECT run, load_point, attempt_id, unnest(range(counted_tokens - content_messages)) AS beside
    FROM answered WHERE content_messages > 0 AND counted_tokens > content_messages
  )
)
SELECT run, load_point, tool, metric, attempt_id, value, weight::BIGINT AS weight FROM per_attempt WHERE value IS NOT NULL AND weight > 0
UNION ALL
SELECT run, load_point, tool, metric, attempt_id, value, 1 FROM gap;

COMMENT ON VIEW printed_value IS 'One row per value that a load generator''s formula takes into account: an attempt, or a gap between messages where it pools them';
COMMENT ON COLUMN printed_value.tool IS 'The load generator';
COMMENT ON COLUMN printed_value.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN printed_value.value IS 'The value, ms';
COMMENT ON COLUMN printed_value.weight IS 'How often the tool counts it';
