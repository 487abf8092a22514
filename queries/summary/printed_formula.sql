-- Which formula each load generator puts behind each of its numbers, beside the number of ours that it is nearest to.
CREATE VIEW printed_formula AS
SELECT * FROM (VALUES
  ('vLLM bench', '0.32.0', 'ttft', 'ttft', 'ms', 'linear', 'per request', 'ok',
   'first message with choices - sent', 'an empty role message counts as the first token'),
  ('vLLM bench', '0.32.0', 'tpot', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(last message with choices - first) / (server tokens - 1)', 'from the role message to the finish message'),
  ('vLLM bench', '0.32.0', 'itl', 'icl', 'ms', 'linear', 'pooled', 'ok',
   'every gap between messages with choices', 'the gaps to the role and the finish message are among them, and a message is not a token'),
  ('vLLM bench', '0.32.0', 'e2el', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'last message with choices - sent', 'ends before the end of the stream'),
  ('SGLang bench', '0.5.23', 'ttft', 'ttft', 'ms', 'linear', 'per request', 'ok',
   'first content - sent', 'the same'),
  ('SGLang bench', '0.5.23', 'tpot', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(end of the stream - first content) / (server tokens - 1)', 'ends with the stream, after the last content'),
  ('SGLang bench', '0.5.23', 'itl', 'icl', 'ms', 'linear', 'pooled', 'ok',
   'every gap between messages with content', 'a message is not a token'),
  ('SGLang bench', '0.5.23', 'e2e_latency', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'end of the stream - sent', 'the same'),
  ('genai-bench', '0.0.5', 'ttft', 'ttft', 'ms', 'linear', 'per request', 'ok',
   'first content - sent', 'the same'),
  ('genai-bench', '0.0.5', 'tpot', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(end of the stream - first content) / (tokens - 1)', 'ends with the stream, after the last content'),
  ('genai-bench', '0.0.5', 'output_latency', 'decode', 'ms', 'linear', 'per request', 'ok',
   'end of the stream - first content', 'client side, and to the end of the stream'),
  ('genai-bench', '0.0.5', 'e2e_latency', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'end of the stream - sent', 'the same'),
  ('GuideLLM', '0.8.1', 'time_to_first_token_ms', 'ttft', 'ms', 'weighted', 'per request', 'ok',
   'first content - sent', 'the same'),
  ('GuideLLM', '0.8.1', 'request_latency', 'e2e', 'ms', 'weighted', 'per request', 'ok',
   'end - sent', 'the same'),
  ('GuideLLM', '0.8.1', 'time_per_output_token_ms', 'ntpot', 'ms', 'weighted', 'weighted by output tokens', 'ok with an output token',
   '(last content - sent) / tokens', 'holds the time to the first token: it is no time per token of the decode'),
  ('GuideLLM', '0.8.1', 'inter_token_latency_ms', 'tpot', 'ms', 'weighted', 'weighted by output tokens - 1', 'ok with more than 1 output token',
   '(last content - first content) / (tokens - 1)', 'long answers count for more'),
  ('inference-perf', '0.7.0', 'time_to_first_token', 'ttft', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   'first content - sent', 'answers of one token are left out'),
  ('inference-perf', '0.7.0', 'time_per_output_token', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(last content - first content) / (tokens counted from the text - 1)', 'the server''s count is not used'),
  ('inference-perf', '0.7.0', 'normalized_time_per_output_token', 'ntpot', 'ms', 'linear', 'per request', 'ok',
   '(end of the stream - sent) / tokens counted from the text, 0 without tokens', 'the server''s count is not used, and an empty answer is the fastest'),
  ('inference-perf', '0.7.0', 'inter_token_latency', 'itl', 'ms', 'linear', 'pooled', 'ok',
   'gaps between tokens counted from the text, all tokens of a message at its time', 'most gaps are 0: tokens of one message share its time'),
  ('inference-perf', '0.7.0', 'request_latency', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'end of the stream - sent', 'the same'),
  ('llmperf', 'f1d6bed', 'inter_token_latency_s', 'icl', 'ms', 'linear', 'per request', 'ok',
   '(last content - sent) / messages', 'holds the time to the first token, and counts role, finish and usage messages'),
  ('llmperf', 'f1d6bed', 'ttft_s', 'ttft', 'ms', 'linear', 'per request', 'ok',
   'first content - sent', 'the same'),
  ('llmperf', 'f1d6bed', 'end_to_end_latency_s', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'end of the stream - sent', 'the same'),
  ('AIPerf', '0.13.0', 'time_to_first_token', 'ttft', 'ms', 'linear', 'per request', 'ok',
   'first content - sent', 'the same'),
  ('AIPerf', '0.13.0', 'inter_token_latency', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(last content - first content) / (tokens counted from the text - 1)', 'the server''s count is used only on request'),
  ('AIPerf', '0.13.0', 'inter_token_latency, server tokens', 'tpot', 'ms', 'linear', 'per request', 'ok with more than 1 output token',
   '(last content - first content) / (server tokens - 1)', 'the tokens of the first chunk are taken for 1'),
  ('AIPerf', '0.13.0', 'inter_chunk_latency', 'icl', 'ms', 'linear', 'pooled', 'ok',
   'every gap between messages with content', 'the same'),
  ('AIPerf', '0.13.0', 'request_latency', 'e2e', 'ms', 'linear', 'per request', 'ok',
   'last content - sent, or the end without a stream', 'ends before the end of the stream'),
  ('MLPerf LoadGen', '6.0.17', 'first_token_latency', 'ttft_scheduled', 'ms', 'floor', 'per sample', 'all',
   'first token - scheduled', 'the same, and every sample counts as answered'),
  ('MLPerf LoadGen', '6.0.17', 'latency', 'e2e', 'ms', 'floor', 'per sample', 'all',
   'done - scheduled', 'from the schedule'),
  ('MLPerf LoadGen', '6.0.17', 'time_to_output_token', 'tpot', 'ms', 'floor', 'per sample', 'all',
   '(done - first token) / (tokens - 1)', 'a sample of one token gives a negative value')
) AS f (tool, version, metric, ours, unit, percentile, weighting, population, formula, differs);

COMMENT ON VIEW printed_formula IS 'One row per load generator and number of its: its formula in words, and how it differs from the number of ours that is nearest';
COMMENT ON COLUMN printed_formula.tool IS 'The load generator';
COMMENT ON COLUMN printed_formula.version IS 'The version whose formula this is';
COMMENT ON COLUMN printed_formula.metric IS 'The tool''s own name of the number';
COMMENT ON COLUMN printed_formula.ours IS 'The metric of ours that is nearest';
COMMENT ON COLUMN printed_formula.percentile IS 'How it reads a percentile: linear between two values, weighted (smallest value that holds the share of the weight), floor (place floor(n q))';
COMMENT ON COLUMN printed_formula.weighting IS 'What a value is of, and what it weighs';
COMMENT ON COLUMN printed_formula.population IS 'Which attempts are in it';
COMMENT ON COLUMN printed_formula.formula IS 'The formula in words';
COMMENT ON COLUMN printed_formula.differs IS 'How that differs from ours';
