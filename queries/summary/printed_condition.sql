-- How each load generator judges a limit of goodput: which number of its own it compares, and what it does without one.
CREATE VIEW printed_condition AS
SELECT * FROM (VALUES
  ('vLLM bench', 'goodput', 'ttft', 'ttft', 'fails'),
  ('vLLM bench', 'goodput', 'tpot', 'tpot', 'passes'),
  ('vLLM bench', 'goodput', 'e2e', 'e2el', 'fails'),
  ('SGLang bench', 'goodput', 'ttft', 'ttft', 'fails'),
  ('SGLang bench', 'goodput', 'tpot', 'tpot', 'passes'),
  ('SGLang bench', 'goodput', 'e2e', 'e2e_latency', 'fails'),
  ('AIPerf', 'goodput', 'ttft', 'time_to_first_token', 'fails'),
  ('AIPerf', 'goodput', 'tpot', 'inter_token_latency', 'fails'),
  ('AIPerf', 'goodput', 'e2e', 'request_latency', 'fails'),
  ('AIPerf', 'goodput, server tokens', 'ttft', 'time_to_first_token', 'fails'),
  ('AIPerf', 'goodput, server tokens', 'tpot', 'inter_token_latency, server tokens', 'fails'),
  ('AIPerf', 'goodput, server tokens', 'e2e', 'request_latency', 'fails'),
  ('GuideLLM', 'goodput', 'ttft', 'time_to_first_token_ms', 'excluded'),
  ('GuideLLM', 'goodput', 'tpot', 'inter_token_latency_ms', 'excluded'),
  ('GuideLLM', 'goodput', 'e2e', 'request_latency', 'excluded'),
  ('inference-perf', 'goodput', 'ttft', 'time_to_first_token', 'fails'),
  ('inference-perf', 'goodput', 'tpot', 'time_per_output_token', 'fails'),
  ('inference-perf', 'goodput', 'e2e', 'request_latency', 'fails'),
  ('inference-perf', 'goodput, server tokens', 'ttft', 'time_to_first_token', 'fails'),
  ('inference-perf', 'goodput, server tokens', 'tpot', 'time_per_output_token, server tokens', 'fails'),
  ('inference-perf', 'goodput, server tokens', 'e2e', 'request_latency', 'fails')
) AS c (tool, goodput, ours, metric, missing);

COMMENT ON VIEW printed_condition IS 'One row per load generator and limit: the number of its own that it compares with the limit, and what an answer without that number does';
COMMENT ON COLUMN printed_condition.tool IS 'The load generator';
COMMENT ON COLUMN printed_condition.goodput IS 'goodput as the tool has it by default, or with the server''s count of tokens, which it takes on request';
COMMENT ON COLUMN printed_condition.ours IS 'What the limit is called: ttft, tpot or e2e';
COMMENT ON COLUMN printed_condition.metric IS 'The tool''s own number that it compares';
COMMENT ON COLUMN printed_condition.missing IS 'An answer without it passes, fails, or is excluded from the share';
