-- The chunks of content that the client saw, in order.
CREATE VIEW content AS
SELECT
  n.attempt_id, e.run, e.observation_id, e.side, e.time_ns, e.clock, e.clock_kind, e.content_kind AS kind, e.tokens
FROM event_line AS e
JOIN attempt_member AS m ON m.observation_id = e.observation_id
JOIN attempt_name AS n ON n.root_id = m.root_id
WHERE e.event = 'content';

COMMENT ON VIEW content IS 'One row per chunk of content of an attempt, as its log tells it; role-only and usage chunks are none';
COMMENT ON COLUMN content.kind IS 'text, reasoning or tool; NULL when not told';
COMMENT ON COLUMN content.tokens IS 'Output tokens in the chunk; NULL when not told';
