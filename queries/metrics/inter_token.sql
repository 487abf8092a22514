-- Gaps between the chunks of content that a client saw: between tokens only where every chunk is known to be one.
CREATE VIEW inter_token AS
SELECT
  attempt_id, run, (time_ns - before_ns) / 1e6 AS gap_ms, tokens,
  CASE WHEN tokens = 1 AND before_tokens = 1 THEN 'itl' ELSE 'icl' END AS kind
FROM (
  SELECT
    *,
    lag(time_ns) OVER w AS before_ns, lag(tokens) OVER w AS before_tokens
  FROM content
  WHERE side = 'client'
  WINDOW w AS (PARTITION BY run, attempt_id, observation_id ORDER BY time_ns)
)
WHERE before_ns IS NOT NULL;

COMMENT ON VIEW inter_token IS 'One row per gap between two chunks of content of one answer, client clock';
COMMENT ON COLUMN inter_token.gap_ms IS 'Time from the chunk before to this one, ms';
COMMENT ON COLUMN inter_token.tokens IS 'Output tokens in the chunk that ends the gap; NULL when not told';
COMMENT ON COLUMN inter_token.kind IS 'itl: both chunks are known to be one token; icl: a gap between chunks';
