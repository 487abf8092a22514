-- Why a figure that a tool prints cannot be, or is not, what its formula makes of its rows.
CREATE VIEW printed_difference AS
SELECT * FROM (VALUES
  ('SGLang bench', 'tpot', NULL, 'ends with the stream, whose time the file does not keep'),
  ('SGLang bench', 'e2e_latency', NULL, 'ends with the stream, whose time the file does not keep'),
  ('llmperf', 'inter_token_latency_s', NULL, 'divides by the number of messages, which the file does not keep'),
  ('MLPerf LoadGen', 'time_to_output_token', NULL, 'needs token counts, which only an accuracy run keeps for each sample'),
  ('SGLang bench', 'slo_attainment', NULL, 'compares tpot, which ends with the stream, whose time the file does not keep'),
  ('SGLang bench', 'request_goodput', NULL, 'compares tpot, which ends with the stream, whose time the file does not keep'),
  ('vLLM bench', 'request_goodput', NULL, 'the file does not keep the limits that the tool was told'),
  ('genai-bench', 'error_rate', NULL, '0.0.5 divides before it has counted the requests, and prints 0'),
  ('AIPerf', 'effective_latency', NULL, '0.13.0 lets failed requests enter it at about 0 ms'),
  ('GuideLLM', 'time_to_first_token_ms', NULL, 'its weights are summed as doubles: a level that falls on a value may take the next one'),
  ('GuideLLM', 'request_latency', NULL, 'its weights are summed as doubles: a level that falls on a value may take the next one'),
  ('GuideLLM', 'time_per_output_token_ms', NULL, 'its weights are summed as doubles: a level that falls on a value may take the next one'),
  ('GuideLLM', 'inter_token_latency_ms', NULL, 'its weights are summed as doubles: a level that falls on a value may take the next one')
) AS d (tool, metric, statistic, why);

COMMENT ON VIEW printed_difference IS 'One row per figure of a load generator that its rows cannot give, or give otherwise, with the reason';
COMMENT ON COLUMN printed_difference.tool IS 'The load generator';
COMMENT ON COLUMN printed_difference.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN printed_difference.statistic IS 'Which statistic of it; NULL for all';
COMMENT ON COLUMN printed_difference.why IS 'The reason';
