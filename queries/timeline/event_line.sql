-- Lines of the event log that belong to a request, each with the view of an attempt that it is part of.
CREATE VIEW event_line AS
WITH spread AS (
  -- A line without a trace id belongs to the only trace its attempt has; two traces keep a reused id apart.
  SELECT *, min(trace_id) OVER w AS first_trace, max(trace_id) OVER w AS last_trace,
    min(repeat) OVER w AS first_repeat, max(repeat) OVER w AS last_repeat
  FROM event
  WHERE request IS NOT NULL
  WINDOW w AS (PARTITION BY run, side, request, attempt)
), keyed AS (
  SELECT
    * EXCLUDE (first_trace, last_trace, trace_id, first_repeat, last_repeat, repeat),
    coalesce(repeat, CASE WHEN first_repeat = last_repeat THEN first_repeat END) AS repeat,
    coalesce(first_repeat <> last_repeat, false) AS repeated,
    coalesce(trace_id, CASE WHEN first_trace = last_trace THEN first_trace END) AS trace_id,
    coalesce(first_trace <> last_trace, false) AS reused
  FROM spread
)
SELECT
  -- Lengths keep names with slashes apart.
  -- Ids are unique over all runs, so that joins need no other key.
  run || ' event:' || side || '/' || CASE clock_kind WHEN 'wall' THEN '' ELSE clock_kind || ' ' END || clock || '/' || length(clock) || ':' || request || '/' || attempt
    || CASE WHEN reused THEN '@' || coalesce(trace_id, '') ELSE '' END
    || CASE WHEN repeated THEN '~' || coalesce(repeat::VARCHAR, '') ELSE '' END AS observation_id,
  *
FROM keyed;

COMMENT ON VIEW event_line IS 'One row per event line of a request, with its view of the attempt; a line without trace id takes the only one its attempt has';
COMMENT ON COLUMN event_line.reused IS 'The same request and attempt number stands under several trace ids';
COMMENT ON COLUMN event_line.repeated IS 'The same request and attempt number stands under several repetitions';
