-- What each attempt is called. An id that two attempts share is told apart by trace, then by number.
CREATE TABLE attempt_name AS
WITH root AS (
  SELECT
    o.run, o.observation_id AS root_id, o.trace_id,
    coalesce(o.request_id, o.response_id, o.trace_id || '/' || coalesce(o.span_id, '')) AS request_id,
    coalesce(o.attempt, 1) AS attempt
  FROM observation AS o
  WHERE o.observation_id IN (SELECT root_id FROM attempt_member AS m WHERE m.run = o.run)
), by_trace AS (
  SELECT
    *,
    CASE WHEN count(*) OVER (PARTITION BY run, request_id, attempt) > 1
      THEN request_id || '@' || coalesce(left(trace_id, 8), 'no trace') ELSE request_id END AS request_by_trace
  FROM root
), by_number AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run, request_by_trace, attempt ORDER BY root_id) AS number
  FROM by_trace
), named AS (
  SELECT run, root_id, attempt,
    request_by_trace || CASE WHEN number > 1 THEN '#' || number ELSE '' END AS request_id
  FROM by_number
)
SELECT
  run, root_id, request_id, attempt,
  run || '/' || request_id || '/' || attempt AS attempt_id
FROM named;

COMMENT ON TABLE attempt_name IS 'One row per attempt: its outermost view and its name';
COMMENT ON COLUMN attempt_name.root_id IS 'The outermost view of the attempt';
