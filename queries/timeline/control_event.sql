-- Changes of the service's state, from the event log and from spans, in the order in which they happened.
CREATE VIEW control_event AS
WITH told AS (
  SELECT
    run, event AS control, worker, revision, side, clock, clock_kind, time_ns AS start_ns, NULL::BIGINT AS end_ns, status_code,
    'event' AS origin, source_file
  FROM event
  WHERE request IS NULL AND event IN ('detect', 'provision', 'load', 'warm', 'probe', 'ready', 'drain', 'grace', 'stop', 'kill', 'scale', 'rollout')
  UNION ALL
  SELECT
    run, control, coalesce(worker, service), NULL, 'engine', clock, 'wall', start_ns, CASE WHEN end_ns >= start_ns THEN end_ns END, status_code,
    'span', source_file
  FROM span_look
  WHERE looks = 'control'
)
SELECT
  *,
  -- In the order of a worker's life: two that are told at one time follow each other.
  CASE control WHEN 'detect' THEN 1 WHEN 'provision' THEN 2 WHEN 'load' THEN 3 WHEN 'warm' THEN 4 WHEN 'ready' THEN 5 WHEN 'drain' THEN 6
    WHEN 'stop' THEN 7 WHEN 'kill' THEN 8 ELSE 9 END AS step,
  -- A state that a line tells lasts until the next such line; what a span tells has an end of its own, and some words are moments only.
  coalesce(end_ns, CASE WHEN control IN ('detect', 'provision', 'load', 'warm', 'ready', 'drain') THEN
    lead(start_ns) OVER (PARTITION BY run, clock, clock_kind, coalesce(worker, ''), origin, control IN ('detect', 'provision', 'load', 'warm', 'ready', 'drain', 'stop', 'kill')
      ORDER BY start_ns, CASE control WHEN 'detect' THEN 1 WHEN 'provision' THEN 2 WHEN 'load' THEN 3 WHEN 'warm' THEN 4 WHEN 'ready' THEN 5 WHEN 'drain' THEN 6 ELSE 7 END) END) AS until_ns
FROM told;

COMMENT ON VIEW control_event IS 'One row per change of the service''s state: detect, provision, load, warm, probe, ready, drain, grace, stop, kill, scale, rollout';
COMMENT ON COLUMN control_event.control IS 'What changed';
COMMENT ON COLUMN control_event.worker IS 'Whose state it is; NULL: the whole service''s';
COMMENT ON COLUMN control_event.start_ns IS 'When, on its clock';
COMMENT ON COLUMN control_event.end_ns IS 'When it ended, where its source says so itself';
COMMENT ON COLUMN control_event.status_code IS 'What a probe came back with';
COMMENT ON COLUMN control_event.origin IS 'event or span';
COMMENT ON COLUMN control_event.until_ns IS 'End of the state: its own, else the next change of state of the same worker; NULL for moments and for the last state';
COMMENT ON COLUMN control_event.step IS 'Place in a worker''s life, which orders what is told at one time';
