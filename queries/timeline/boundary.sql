-- Every boundary that a view shows, with its clock, its owner and how it is known.
CREATE TABLE boundary AS
WITH logged AS (
  SELECT observation_id, run, event AS boundary, time_ns, content_kind FROM event_line
), from_log AS (
  SELECT observation_id, run, boundary, CASE WHEN boundary IN ('last_token', 'last_content', 'done', 'released')
      THEN max(time_ns) ELSE min(time_ns) END AS time_ns
  FROM logged
  WHERE boundary NOT IN ('content', 'chunk')
  GROUP BY observation_id, run, boundary
), from_content AS (
  -- Chunks with content are the evidence where the log has them; a boundary line of its own wins.
  SELECT observation_id, run, unnest(['first_content', 'last_content']) AS boundary,
    unnest([min(time_ns), max(time_ns)]) AS time_ns
  FROM logged
  WHERE boundary = 'content'
  GROUP BY observation_id, run
), from_answer AS (
  SELECT observation_id, run, 'first_answer' AS boundary, min(time_ns) AS time_ns
  FROM logged
  WHERE boundary IN ('content', 'first_content') AND content_kind = 'text'
  GROUP BY observation_id, run
), event_boundary AS (
  SELECT * FROM from_log
  UNION ALL
  SELECT c.* FROM from_content AS c
  ANTI JOIN from_log AS l ON l.observation_id = c.observation_id AND l.boundary = c.boundary
  UNION ALL
  SELECT a.* FROM from_answer AS a
  ANTI JOIN from_log AS l ON l.observation_id = a.observation_id AND l.boundary = a.boundary
), span_edge AS (
  -- What the rule of a view says of its boundaries, and of those of its parts as far as they share its clock.
  SELECT observation_id, run, side, unnest(rule_edges(rule, start_ns, end_ns, durations)) AS e
  FROM span_observation
  UNION ALL
  SELECT v.observation_id, v.run, v.side, unnest(rule_edges(p.rule, p.start_ns, CASE WHEN p.end_ns >= p.start_ns THEN p.end_ns END, p.durations))
  FROM span_inside AS p
  JOIN span_observation AS v ON v.trace_id = p.trace_id AND v.span_id = p.view_span_id AND v.run = p.run AND v.clock = p.clock
  WHERE p.looks = 'part' AND v.tried_in IS NULL
), read_span AS (
  SELECT observation_id, run, side, trace_id, span_id, rule FROM span_observation
  UNION ALL
  SELECT v.observation_id, v.run, v.side, p.trace_id, p.span_id, p.rule
  FROM span_inside AS p
  JOIN span_observation AS v ON v.trace_id = p.trace_id AND v.span_id = p.view_span_id AND v.run = p.run AND v.clock = p.clock
  WHERE p.looks = 'part' AND v.tried_in IS NULL
), event_edge AS (
  SELECT t.observation_id, t.run, t.side, t.rule, unnest(from_json(s.events, '[{"name": "VARCHAR", "time_ns": "BIGINT"}]')) AS told
  FROM read_span AS t
  JOIN span AS s ON s.run = t.run AND s.trace_id = t.trace_id AND s.span_id = t.span_id
  WHERE t.rule IN (SELECT rule FROM span_event_edge) AND s.events IS NOT NULL
), edge AS (
  SELECT observation_id, run, side, e['boundary'] AS boundary, e['edge'] AS edge, e['choice'] AS choice, e['ns'] AS ns, e['derived'] AS derived
  FROM span_edge
  WHERE e['ns'] IS NOT NULL
  UNION ALL
  SELECT v.observation_id, v.run, v.side, x.boundary, x.edge, x.choice, v.told['time_ns'], false
  FROM event_edge AS v
  JOIN span_event_edge AS x ON x.rule = v.rule AND x.event = v.told['name']
  WHERE v.told['time_ns'] IS NOT NULL
), known AS (
  -- A timestamp beats a sum, an earlier way to know it a later one; of several the first, or the last of what ends.
  SELECT
    observation_id, run, side, boundary,
    arg_min({'ns': ns, 'derived': derived}, {'derived': derived, 'choice': choice,
      'ns': CASE WHEN boundary IN ('last_token', 'last_content', 'done', 'released') THEN -ns ELSE ns END}) FILTER (edge = 'at') AS at,
    min(ns) FILTER (edge = 'low') AS low_ns, max(ns) FILTER (edge = 'high') AS high_ns
  FROM edge
  GROUP BY observation_id, run, side, boundary
), span_boundary AS (
  SELECT
    k.observation_id, k.run, k.boundary,
    coalesce(k.at['ns'], least(k.low_ns, k.high_ns)) AS low_ns, coalesce(k.at['ns'], greatest(k.low_ns, k.high_ns)) AS high_ns,
    CASE WHEN k.at IS NULL THEN 'bounded' WHEN k.at['derived'] THEN 'derived' ELSE 'measured' END AS evidence
  FROM known AS k
  JOIN observation AS o ON o.observation_id = k.observation_id
  WHERE (k.at IS NOT NULL OR k.low_ns IS NOT NULL AND k.high_ns IS NOT NULL)
    -- Between a first chunk and the end there is content only if content came.
    AND (k.at IS NOT NULL OR k.boundary <> 'first_content' OR o.outcome = 'ok' AND coalesce(o.output_tokens, 1) > 0)
    AND NOT (k.boundary = 'sent' AND k.observation_id IN (SELECT observation_id FROM span_observation WHERE sent_ns IS NOT NULL))
  UNION ALL
  SELECT observation_id, run, 'sent', sent_ns, sent_ns, 'measured' FROM span_observation WHERE sent_ns IS NOT NULL
  UNION ALL
  -- A try that failed ended with its answer's head, or with what was raised.
  SELECT s.observation_id, s.run, 'done', s.end_ns, s.end_ns, 'measured'
  FROM span_observation AS s
  JOIN observation AS o ON o.observation_id = s.observation_id
  WHERE s.looks = 'try' AND NOT s.always_tries AND o.outcome IS NOT NULL AND s.end_ns IS NOT NULL
), stated AS (
  SELECT observation_id, run, boundary, time_ns AS low_ns, time_ns AS high_ns, 'measured' AS evidence FROM event_boundary
  UNION ALL
  SELECT observation_id, run, boundary, low_ns, high_ns, evidence FROM span_boundary WHERE low_ns IS NOT NULL AND high_ns IS NOT NULL
), every AS (
  -- A wall clock that reads a time before 2000 was not running: the time is kept raw and not used.
  SELECT s.*
  FROM stated AS s
  JOIN observation AS o ON o.observation_id = s.observation_id
  WHERE o.clock_kind <> 'wall' OR s.low_ns >= 946684800000000000
), outermost AS (
  -- A declared owner is the owner at the outermost side that shows the boundary.
  SELECT e.run, e.boundary, min(CASE o.side WHEN 'client' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END) AS place
  FROM every AS e
  JOIN observation AS o ON o.observation_id = e.observation_id
  GROUP BY e.run, e.boundary
)
SELECT
  n.attempt_id, e.run, e.observation_id, o.side, e.boundary,
  CASE WHEN e.evidence <> 'bounded' THEN e.low_ns END AS time_ns,
  e.low_ns, e.high_ns, o.clock, o.clock_kind,
  coalesce(p.owner, CASE
    WHEN e.boundary IN ('scheduled', 'sent', 'first_content', 'first_answer', 'last_content') AND o.side = 'client' THEN 'client'
    WHEN e.boundary IN ('admitted', 'rejected') THEN 'admission'
    WHEN e.boundary IN ('started', 'preempted', 'resumed', 'dequeued', 'prefill_done', 'decode_started') THEN 'scheduler'
    WHEN e.boundary IN ('first_token', 'last_token', 'released') THEN 'worker'
    WHEN e.boundary IN ('cancel_seen', 'cancel_forwarded') THEN 'gateway'
    ELSE o.side END) AS owner,
  e.evidence
FROM every AS e
JOIN observation AS o ON o.observation_id = e.observation_id
JOIN attempt_member AS m ON m.observation_id = e.observation_id
JOIN attempt_name AS n ON n.root_id = m.root_id
JOIN outermost AS u ON u.run = e.run AND u.boundary = e.boundary
LEFT JOIN boundary_policy AS p ON p.run = e.run AND p.boundary = e.boundary
  AND u.place = CASE o.side WHEN 'client' THEN 0 WHEN 'gateway' THEN 1 ELSE 2 END;

COMMENT ON TABLE boundary IS 'One row per view and boundary; a bounded one has no time of its own but lies in [low_ns, high_ns]';
COMMENT ON COLUMN boundary.time_ns IS 'When it happened, on its clock; NULL where it is only bounded';
COMMENT ON COLUMN boundary.low_ns IS 'No earlier than this';
COMMENT ON COLUMN boundary.high_ns IS 'No later than this';
COMMENT ON COLUMN boundary.owner IS 'Who answers for this boundary';
COMMENT ON COLUMN boundary.evidence IS 'measured (a timestamp), derived (a timestamp and a duration of one owner), bounded (an interval)';
