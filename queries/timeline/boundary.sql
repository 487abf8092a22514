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
), engine AS (
  -- The engine gives durations on its own clocks; a value that cannot be one (negative, sentinel, not finite) is none.
  SELECT
    observation_id, run, start_ns, end_ns,
    CASE WHEN ttft > 0 AND ttft <= 1e6 THEN CAST(round(ttft * 1e9) AS BIGINT) END AS ttft_ns,
    CASE WHEN queue > 0 AND queue <= 1e6 THEN CAST(round(queue * 1e9) AS BIGINT) END AS queue_ns,
    CASE WHEN prefill > 0 AND prefill <= 1e6 THEN CAST(round(prefill * 1e9) AS BIGINT) END AS prefill_ns,
    CASE WHEN (decode > 0 OR decode = 0 AND output_tokens <= 1) AND decode <= 1e6 THEN CAST(round(decode * 1e9) AS BIGINT) END AS decode_ns
  FROM (
    SELECT *, TRY_CAST(ttft_text AS DOUBLE) AS ttft, TRY_CAST(queue_text AS DOUBLE) AS queue,
      TRY_CAST(prefill_text AS DOUBLE) AS prefill, TRY_CAST(decode_text AS DOUBLE) AS decode
    FROM span_observation WHERE side = 'engine'
  )
), span_boundary AS (
  SELECT observation_id, run, CASE side WHEN 'client' THEN 'sent' ELSE 'arrived' END AS boundary,
    start_ns AS low_ns, start_ns AS high_ns, 'measured' AS evidence
  FROM span_observation
  UNION ALL
  SELECT observation_id, run, 'done', end_ns, end_ns, 'measured' FROM span_observation
  UNION ALL
  SELECT observation_id, run, 'first_token', start_ns + ttft_ns, start_ns + ttft_ns, 'derived' FROM engine
  UNION ALL
  SELECT observation_id, run, 'last_token', start_ns + ttft_ns + decode_ns, start_ns + ttft_ns + decode_ns, 'derived'
  FROM engine
  UNION ALL
  -- The prefill ends no later than the first token is seen, and queueing begins no earlier than arrival: the rest is slack.
  SELECT observation_id, run, 'started',
    least(start_ns + queue_ns, start_ns + ttft_ns - prefill_ns),
    greatest(start_ns + queue_ns, start_ns + ttft_ns - prefill_ns), 'bounded'
  FROM engine
  UNION ALL
  SELECT observation_id, run, 'admitted',
    least(start_ns, start_ns + ttft_ns - prefill_ns - queue_ns),
    greatest(start_ns, start_ns + ttft_ns - prefill_ns - queue_ns), 'bounded'
  FROM engine
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
    WHEN e.boundary IN ('started', 'preempted', 'resumed', 'dequeued') THEN 'scheduler'
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
