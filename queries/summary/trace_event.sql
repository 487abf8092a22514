-- What a trace viewer draws of a run: spans of time, moments and readings, each on the clock that it was read from.
CREATE VIEW trace_event AS
WITH extent AS (
  -- A bounded boundary has no time of its own; only where there is no other does the interval stand for one.
  SELECT
    run, attempt_id, side, clock, clock_kind,
    coalesce(min(time_ns), min(low_ns)) AS start_ns, coalesce(max(time_ns), max(high_ns)) AS end_ns
  FROM boundary
  GROUP BY run, attempt_id, side, clock, clock_kind
), sided_stage AS (
  SELECT s.*, a.request_id, a.attempt,
    CASE WHEN s.stage IN ('client_queue', 'delivery', 'terminal') THEN 'client'
         WHEN s.owner = 'gateway' THEN 'gateway' ELSE 'engine' END AS side,
    a.client_clock, a.client_clock_kind, a.gateway_clock, a.gateway_clock_kind, a.engine_clock, a.engine_clock_kind
  FROM stage AS s
  JOIN attempt AS a ON a.attempt_id = s.attempt_id
  WHERE s.start_ns IS NOT NULL AND s.end_ns IS NOT NULL
)
SELECT
  e.run, a.request_id, e.attempt_id, e.clock, e.clock_kind, e.side, 'attempt' AS part, 'slice' AS kind,
  a.request_id || '/' || a.attempt || CASE WHEN coalesce(v.outcome, 'unresolved') = 'unresolved' THEN ' (unresolved)' ELSE '' END AS name,
  e.start_ns, e.end_ns,
  -- The patch of nothing takes out what is not known; times are text, as JSON numbers end at 2^53.
  CAST(json_merge_patch('{}', json_object(
    'request', a.request_id, 'attempt', a.attempt, 'side', e.side, 'outcome', a.outcome,
    'end_seen_here', coalesce(v.outcome, 'unresolved'), 'tenant', a.tenant, 'model', a.model, 'worker', a.worker,
    'input_tokens', a.input_tokens, 'output_tokens', a.output_tokens, 'stop_reason', a.stop_reason,
    'status_code', a.status_code, 'error_type', a.error_type,
    'start_ns', CAST(e.start_ns AS VARCHAR), 'end_ns', CAST(e.end_ns AS VARCHAR))) AS VARCHAR) AS args
FROM extent AS e
JOIN attempt AS a ON a.attempt_id = e.attempt_id
LEFT JOIN side_view AS v ON v.attempt_id = e.attempt_id AND v.side = e.side
UNION ALL
-- Where the error of two clocks lets a stage end before it begins there is no span to draw, only its length to tell.
SELECT
  run, request_id, attempt_id,
  CASE side WHEN 'client' THEN client_clock WHEN 'gateway' THEN gateway_clock ELSE engine_clock END,
  CASE side WHEN 'client' THEN client_clock_kind WHEN 'gateway' THEN gateway_clock_kind ELSE engine_clock_kind END,
  side, 'stage', CASE WHEN end_ns >= start_ns THEN 'slice' ELSE 'instant' END, stage,
  start_ns, CASE WHEN end_ns >= start_ns THEN end_ns END,
  CAST(json_merge_patch('{}', json_object(
    'request', request_id, 'attempt', attempt, 'owner', owner, 'evidence', evidence, 'low_ms', low_ms, 'high_ms', high_ms,
    'note', note, 'start_ns', CAST(start_ns AS VARCHAR), 'end_ns', CAST(end_ns AS VARCHAR))) AS VARCHAR)
FROM sided_stage
UNION ALL
SELECT
  b.run, a.request_id, b.attempt_id, b.clock, b.clock_kind, b.side, 'boundary',
  CASE WHEN b.time_ns IS NULL THEN 'slice' ELSE 'instant' END, b.boundary,
  b.low_ns, CASE WHEN b.time_ns IS NULL THEN b.high_ns END,
  CAST(json_object(
    'request', a.request_id, 'attempt', a.attempt, 'owner', b.owner, 'evidence', b.evidence,
    'low_ns', CAST(b.low_ns AS VARCHAR), 'high_ns', CAST(b.high_ns AS VARCHAR)) AS VARCHAR)
FROM boundary AS b
JOIN attempt AS a ON a.attempt_id = b.attempt_id
UNION ALL
-- What belongs to no request. A wall clock that reads a time before 2000 was not running.
SELECT
  run, NULL, NULL, clock, clock_kind, side, 'control', CASE WHEN until_ns IS NULL THEN 'instant' ELSE 'slice' END,
  control || coalesce(' ' || worker, ''), start_ns, until_ns,
  CAST(json_merge_patch('{}', json_object(
    'side', side, 'worker', worker, 'revision', revision, 'status_code', status_code, 'origin', origin,
    'start_ns', CAST(start_ns AS VARCHAR), 'end_ns', CAST(until_ns AS VARCHAR))) AS VARCHAR)
FROM control_event
WHERE clock_kind <> 'wall' OR start_ns >= 946684800000000000
UNION ALL
-- Every argument of a counter is a line of its own, so that there is only one.
SELECT
  run, NULL, NULL, clock, clock_kind, side, 'gauge', 'counter', name || ' (' || concat_ws(', ', side, worker) || ')', time_ns, NULL,
  CAST(json_object('value', value) AS VARCHAR)
FROM gauge
WHERE isfinite(value) AND (clock_kind <> 'wall' OR time_ns >= 946684800000000000);

COMMENT ON VIEW trace_event IS 'One row per thing that a trace viewer draws: an attempt as each side saw it, its stages and boundaries, control events and gauges';
COMMENT ON COLUMN trace_event.request_id IS 'The request; NULL for what belongs to none';
COMMENT ON COLUMN trace_event.attempt_id IS 'The attempt: run/request/number; NULL for what belongs to none';
COMMENT ON COLUMN trace_event.part IS 'attempt, stage, boundary, control or gauge';
COMMENT ON COLUMN trace_event.kind IS 'slice (from start to end), instant or counter';
COMMENT ON COLUMN trace_event.name IS 'Request and attempt, stage, boundary, control event or gauge; (unresolved) where this side did not see the end, so that the slice goes up to the last boundary';
COMMENT ON COLUMN trace_event.start_ns IS 'When it is or begins, ns on its clock; for a bounded boundary no earlier than this';
COMMENT ON COLUMN trace_event.end_ns IS 'When it ends, ns on its clock; for a bounded boundary no later than this; NULL for an instant and a counter';
COMMENT ON COLUMN trace_event.args IS 'What else is known of it, as a JSON object; nanoseconds as text';
