-- The messages of a stream as one file tells them: of several files the one that tells most.
CREATE VIEW message AS
WITH told AS (
  SELECT observation_id, run, side, event, time_ns, clock, clock_kind, content_kind, tokens, source_file, position
  FROM event_line
  WHERE event IN ('content', 'chunk')
), weighed AS (
  SELECT observation_id, source_file, row_number() OVER (PARTITION BY observation_id ORDER BY count(*) DESC, source_file) AS place
  FROM told
  GROUP BY observation_id, source_file
)
SELECT
  n.attempt_id, t.run, t.observation_id, t.side, t.time_ns, t.clock, t.clock_kind,
  t.event AS carries, t.content_kind AS kind, t.tokens, t.source_file, t.position
FROM told AS t
JOIN weighed AS w ON w.observation_id = t.observation_id AND w.source_file = t.source_file AND w.place = 1
JOIN attempt_member AS m ON m.observation_id = t.observation_id
JOIN attempt_name AS n ON n.root_id = m.root_id;

COMMENT ON VIEW message IS 'One row per message of an answer''s stream: chunks of content, and chunks that carry none (role, finish, usage)';
COMMENT ON COLUMN message.carries IS 'content, or chunk where it carries none';
COMMENT ON COLUMN message.kind IS 'text, reasoning or tool; role, finish, usage or empty; NULL when not told';
COMMENT ON COLUMN message.tokens IS 'Output tokens in the message; NULL when not told';
