-- The chunks of content that the client saw, in order.
CREATE VIEW content AS
SELECT attempt_id, run, observation_id, side, time_ns, clock, clock_kind, kind, tokens FROM message WHERE carries = 'content';

COMMENT ON VIEW content IS 'One row per chunk of content of an attempt, as its log tells it; role-only and usage chunks are none';
COMMENT ON COLUMN content.kind IS 'text, reasoning or tool; NULL when not told';
COMMENT ON COLUMN content.tokens IS 'Output tokens in the chunk; NULL when not told';
