-- One request from arrival to final byte: every boundary that was seen and every wait between them, as offsets from its start.
CREATE VIEW timeline_entry AS
WITH zero AS (
  SELECT attempt_id, side, clock, related, error_ms, zero_ns FROM request_timeline
), zero_of_clock AS (
  SELECT attempt_id, clock, bool_or(related) AS related, max(error_ms) FILTER (related) AS error_ms, min(zero_ns) AS zero_ns
  FROM zero
  GROUP BY attempt_id, clock
)
SELECT
  b.run, a.request_id, a.attempt, b.attempt_id, 'boundary' AS entry, b.side, b.boundary AS what, b.owner,
  (b.low_ns - z.zero_ns) / 1e6 AS at_ms, CASE WHEN b.time_ns IS NULL THEN (b.high_ns - z.zero_ns) / 1e6 END AS until_ms,
  NULL::DOUBLE AS low_ms, NULL::DOUBLE AS high_ms, b.clock, z.related, z.error_ms, b.evidence, o.origin, NULL::VARCHAR AS note
FROM boundary AS b
JOIN attempt AS a ON a.attempt_id = b.attempt_id
JOIN observation AS o ON o.observation_id = b.observation_id
LEFT JOIN zero AS z ON z.attempt_id = b.attempt_id AND z.side = b.side AND z.clock = b.clock
UNION ALL
SELECT
  s.run, a.request_id, a.attempt, s.attempt_id, 'wait',
  CASE WHEN s.stage IN ('client_queue', 'delivery', 'terminal', 'unattributed') THEN 'client' WHEN s.owner = 'gateway' THEN 'gateway' ELSE 'engine' END,
  s.stage, s.owner, (s.start_ns - z.zero_ns) / 1e6, (s.end_ns - z.zero_ns) / 1e6, s.low_ms, s.high_ms, s.clock, z.related,
  -- What the length of a wait between two clocks may be off by, not where it lies.
  greatest(s.error_ms, coalesce(z.error_ms, 0)), s.evidence, NULL, s.note
FROM stage AS s
JOIN attempt AS a ON a.attempt_id = s.attempt_id
LEFT JOIN zero_of_clock AS z ON z.attempt_id = s.attempt_id AND z.clock = s.clock;

COMMENT ON VIEW timeline_entry IS 'One row per attempt and boundary, and per attempt and wait: when, whose, on which clock, and how it is known';
COMMENT ON COLUMN timeline_entry.entry IS 'boundary or wait';
COMMENT ON COLUMN timeline_entry.what IS 'Which boundary, or which stage';
COMMENT ON COLUMN timeline_entry.at_ms IS 'When, or where it begins, from the start of its request; on a clock that nothing relates to it, from that side''s own first time, ms';
COMMENT ON COLUMN timeline_entry.until_ms IS 'Where the wait ends, or the latest that a bounded boundary can be, ms';
COMMENT ON COLUMN timeline_entry.low_ms IS 'The wait lasts at least this long, ms';
COMMENT ON COLUMN timeline_entry.high_ms IS 'At most this long, ms';
COMMENT ON COLUMN timeline_entry.related IS 'Whether at_ms counts from the start of the request';
COMMENT ON COLUMN timeline_entry.error_ms IS 'Declared error of the relation of the clocks, ms';
COMMENT ON COLUMN timeline_entry.origin IS 'What told of the boundary: event (a log) or span; two views of one side may both';
COMMENT ON COLUMN timeline_entry.note IS 'indistinguishable from zero: the wait is no longer than that error';
