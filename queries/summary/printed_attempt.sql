-- What the formulas of load generators are made from: each counted attempt's times, counts and messages, client side.
CREATE VIEW printed_attempt AS
WITH heard AS (
  SELECT
    attempt_id, max(source_file) AS source_file,
    count(*) AS messages,
    count(*) FILTER (carries = 'content') AS content_messages,
    count(*) FILTER (carries = 'content' OR kind IN ('role', 'finish')) AS choice_messages,
    min(time_ns) FILTER (carries = 'content' OR kind IN ('role', 'finish')) AS first_choice_ns,
    max(time_ns) FILTER (carries = 'content' OR kind IN ('role', 'finish')) AS last_choice_ns
  FROM message
  WHERE side = 'client'
  GROUP BY attempt_id
), alone AS (
  -- Whether a file tells messages that carry no content as well; vLLM's never says which they are.
  SELECT m.source_file, bool_or(m.carries <> 'content' OR f.source = 'vllm_bench') AS all_told
  FROM message AS m
  JOIN source_file AS f ON f.path = m.source_file
  WHERE m.side = 'client'
  GROUP BY m.source_file
)
SELECT
  a.run, stratum_key(r.load_point) AS load_point, a.attempt_id, a.outcome, a.outcome = 'ok' AS ok, a.token_basis, a.streamed,
  coalesce(a.client_output_tokens, CASE WHEN a.token_basis IN ('engine', 'gateway') THEN a.output_tokens END) AS server_tokens,
  coalesce(a.retokenized_output_tokens, CASE WHEN a.token_basis = 'text' THEN a.output_tokens END) AS text_tokens,
  a.retokenized_input_tokens AS text_input_tokens, a.client_input_tokens AS server_input_tokens,
  coalesce(w.all_told, false) AS all_told, coalesce(h.content_messages, 0) AS content_messages,
  coalesce(h.choice_messages, 0) AS choice_messages, coalesce(h.messages, 0) AS messages,
  elapsed_ms(a.client_sent_ns, a.client_first_content_ns) AS first_content_ms,
  elapsed_ms(a.client_sent_ns, a.client_first_answer_ns) AS first_answer_ms,
  elapsed_ms(a.client_sent_ns, a.client_last_content_ns) AS last_content_ms,
  elapsed_ms(a.client_sent_ns, h.first_choice_ns) AS first_choice_ms,
  elapsed_ms(a.client_sent_ns, h.last_choice_ns) AS last_choice_ms,
  elapsed_ms(a.client_sent_ns, a.client_done_ns) AS done_ms,
  elapsed_ms(a.client_scheduled_ns, a.client_first_content_ns) AS scheduled_first_content_ms,
  elapsed_ms(a.client_scheduled_ns, a.client_done_ns) AS scheduled_done_ms
FROM attempt AS a
JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id AND r.counted
LEFT JOIN heard AS h ON h.attempt_id = a.attempt_id
LEFT JOIN alone AS w ON w.source_file = h.source_file
WHERE a.client_clock IS NOT NULL;

COMMENT ON VIEW printed_attempt IS 'One row per counted attempt that a client saw: the times and counts that load generators make their numbers from, ms from sent';
COMMENT ON COLUMN printed_attempt.ok IS 'It ended well, as this store sees it';
COMMENT ON COLUMN printed_attempt.token_basis IS 'Whose count the output tokens are: engine, gateway, client or text';
COMMENT ON COLUMN printed_attempt.streamed IS 'Its answer came as a stream; NULL when not told';
COMMENT ON COLUMN printed_attempt.server_tokens IS 'Output tokens as the server counted them';
COMMENT ON COLUMN printed_attempt.text_tokens IS 'Output tokens as the load generator counted them from the text';
COMMENT ON COLUMN printed_attempt.text_input_tokens IS 'Input tokens as the load generator counted them from the text';
COMMENT ON COLUMN printed_attempt.server_input_tokens IS 'Input tokens as the server counted them';
COMMENT ON COLUMN printed_attempt.all_told IS 'Its file tells messages without content as well: role, finish, usage';
COMMENT ON COLUMN printed_attempt.content_messages IS 'Messages with content';
COMMENT ON COLUMN printed_attempt.choice_messages IS 'Messages with choices: content, role and finish';
COMMENT ON COLUMN printed_attempt.messages IS 'Messages of any kind, without the terminal one';
COMMENT ON COLUMN printed_attempt.first_content_ms IS 'First content';
COMMENT ON COLUMN printed_attempt.first_answer_ms IS 'First answer text';
COMMENT ON COLUMN printed_attempt.last_content_ms IS 'Last content';
COMMENT ON COLUMN printed_attempt.first_choice_ms IS 'First message with choices, empty ones included';
COMMENT ON COLUMN printed_attempt.last_choice_ms IS 'Last message with choices, empty ones included';
COMMENT ON COLUMN printed_attempt.done_ms IS 'End of the stream';
COMMENT ON COLUMN printed_attempt.scheduled_first_content_ms IS 'First content, from the scheduled send';
COMMENT ON COLUMN printed_attempt.scheduled_done_ms IS 'End, from the scheduled send';
