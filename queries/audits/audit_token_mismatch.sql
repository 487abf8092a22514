-- Attempts for which client and server count different output tokens: the server's count was taken.
CREATE VIEW audit_token_mismatch AS
SELECT run, 'token counts differ' AS audit, 'note' AS severity, 'output tokens' AS subject,
  'client ' || sum(client_output_tokens)::BIGINT || ' against server ' || sum(output_tokens)::BIGINT || ' in these attempts; the server''s count was taken' AS detail,
  count(*) AS n
FROM attempt
WHERE client_output_tokens <> output_tokens
GROUP BY run;

COMMENT ON VIEW audit_token_mismatch IS 'Attempts for which client and server count different output tokens: the server''s count was taken; empty when healthy';
