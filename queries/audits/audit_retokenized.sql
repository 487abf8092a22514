-- Runs whose output tokens, or some of them, are the load generator's own count of the text.
CREATE VIEW audit_retokenized AS
SELECT run, 'tokens counted from text' AS audit, 'warning' AS severity, 'output tokens' AS subject,
  'the server''s count is missing: the load generator''s own count of the text stands in for it' AS detail,
  count(*) AS n
FROM attempt
WHERE token_basis = 'text'
GROUP BY run
UNION ALL
SELECT run, 'tokens counted from text', 'note', 'output tokens',
  'the load generator counts ' || sum(retokenized_output_tokens)::BIGINT || ' from the text where the server counts '
    || sum(output_tokens)::BIGINT || ' (' || round(sum(retokenized_output_tokens) / sum(output_tokens), 2) || ' times); the server''s count was taken',
  count(*)
FROM attempt
WHERE token_basis <> 'text' AND retokenized_output_tokens <> output_tokens AND output_tokens > 0
GROUP BY run;

COMMENT ON VIEW audit_retokenized IS 'Runs in which the load generator''s own count of tokens stands in for the server''s, or differs from it; empty when healthy';
