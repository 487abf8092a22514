-- How each load generator judges a limit of goodput: which number of its own it compares, and what it does without one.
CREATE VIEW printed_condition AS
SELECT * FROM (VALUES
  ('vLLM bench', 'ttft', 'ttft', 'fails'), ('vLLM bench', 'tpot', 'tpot', 'passes'), ('vLLM bench', 'e2e', 'e2el', 'fails'),
  ('SGLang bench', 'ttft', 'ttft', 'fails'), ('SGLang bench', 'tpot', 'tpot', 'passes'), ('SGLang bench', 'e2e', 'e2e_latency', 'fails'),
  ('AIPerf', 'ttft', 'time_to_first_token', 'fails'), ('AIPerf', 'tpot', 'inter_token_latency', 'fails'),
  ('AIPerf', 'e2e', 'request_latency', 'fails'),
  ('GuideLLM', 'ttft', 'time_to_first_token_ms', 'excluded'), ('GuideLLM', 'tpot', 'inter_token_latency_ms', 'excluded'),
  ('GuideLLM', 'e2e', 'request_latency', 'excluded'),
  ('inference-perf', 'ttft', 'time_to_first_token', 'fails'), ('inference-perf', 'tpot', 'time_per_output_token', 'fails'),
  ('inference-perf', 'e2e', 'request_latency', 'fails')
) AS c (tool, ours, metric, missing);

COMMENT ON VIEW printed_condition IS 'One row per load generator and limit: the number of its own that it compares with the limit, and what an answer without that number does';
COMMENT ON COLUMN printed_condition.tool IS 'The load generator';
COMMENT ON COLUMN printed_condition.ours IS 'What the limit is called: ttft, tpot or e2e';
COMMENT ON COLUMN printed_condition.metric IS 'The tool''s own number that it compares';
COMMENT ON COLUMN printed_condition.missing IS 'An answer without it passes, fails, or is excluded from the share';
