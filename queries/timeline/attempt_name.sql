-- What each attempt is called. An id that two attempts share is told apart by trace, then by number.
CREATE TABLE attempt_name AS
WITH RECURSIVE outermost AS (
  SELECT
    o.run, o.observation_id AS root_id, o.trace_id, o.repeat, m.ambiguous, o.tried_in, o.try_number,
    coalesce(o.request_id, o.response_id, o.trace_id || '/' || coalesce(o.span_id, '')) AS own_id,
    coalesce(o.attempt, 1) AS own_attempt, o.retry_of
  FROM observation AS o
  JOIN attempt_member AS m ON m.observation_id = o.observation_id AND m.root_id = o.observation_id
), tried AS (
  -- Tries inside a call come before the one that the call ended with, and bear its request's name.
  SELECT m.root_id AS call_root_id, t.root_id, t.try_number
  FROM outermost AS t
  JOIN attempt_member AS m ON m.observation_id = t.tried_in
), tries AS (
  SELECT call_root_id, count(*) AS n FROM tried GROUP BY call_root_id
), spread AS (
  SELECT
    o.*, coalesce(t.n, 0) AS tries,
    coalesce(sum(t.n) OVER (PARTITION BY o.run, o.own_id, o.trace_id, o.repeat ORDER BY o.own_attempt, o.root_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS tries_before
  FROM outermost AS o
  LEFT JOIN tries AS t ON t.call_root_id = o.root_id
  WHERE o.tried_in IS NULL
), root AS (
  SELECT run, root_id, trace_id, repeat, ambiguous, own_id, own_attempt + tries_before + tries AS own_attempt, retry_of FROM spread
  UNION ALL
  SELECT o.run, t.root_id, o.trace_id, o.repeat, o.ambiguous, o.own_id,
    o.own_attempt + o.tries_before + row_number() OVER (PARTITION BY t.call_root_id ORDER BY t.try_number, t.root_id) - 1, o.retry_of
  FROM tried AS t
  JOIN spread AS o ON o.root_id = t.call_root_id
), retry AS (
  -- A retry under an id of its own is an attempt of the request that it repeats.
  SELECT DISTINCT run, own_id AS id, retry_of AS original, 1 AS steps FROM root
  WHERE retry_of <> own_id AND EXISTS (SELECT 1 FROM root AS r WHERE r.run = root.run AND r.own_id = root.retry_of)
  UNION ALL
  SELECT a.run, a.id, b.retry_of, a.steps + 1
  FROM retry AS a JOIN root AS b ON b.run = a.run AND b.own_id = a.original
  WHERE b.retry_of <> b.own_id AND a.steps < 32
    AND EXISTS (SELECT 1 FROM root AS r WHERE r.run = b.run AND r.own_id = b.retry_of)
), original AS (
  SELECT run, id, arg_max(original, steps) AS request_id, max(steps) AS steps FROM retry GROUP BY run, id
), numbered AS (
  SELECT
    r.run, r.root_id, r.trace_id, r.ambiguous, r.repeat,
    max(r.repeat) OVER (PARTITION BY r.run, r.own_id) > min(r.repeat) OVER (PARTITION BY r.run, r.own_id) AS repeated, coalesce(o.request_id, r.own_id) AS request_id,
    CASE WHEN count(o.id) OVER (PARTITION BY r.run, coalesce(o.request_id, r.own_id)) = 0 THEN r.own_attempt
      ELSE row_number() OVER (PARTITION BY r.run, coalesce(o.request_id, r.own_id), r.ambiguous
        ORDER BY coalesce(o.steps, 0), r.own_attempt, r.root_id) END AS attempt
  FROM root AS r
  LEFT JOIN original AS o ON o.run = r.run AND o.id = r.own_id
), counted AS (
  SELECT *,
    count(*) FILTER (NOT ambiguous) OVER (PARTITION BY run, request_id, attempt) AS same,
    count(*) FILTER (NOT ambiguous) OVER (PARTITION BY run, request_id) AS clear
  FROM numbered
), by_trace AS (
  -- A view that could not be joined never renames the attempts that it may belong to; a reused id renames all of its attempts.
  SELECT
    *,
    CASE WHEN ambiguous AND clear > 0 OR NOT ambiguous AND max(same) OVER (PARTITION BY run, request_id) > 1
           OR count(*) FILTER (ambiguous) OVER (PARTITION BY run, request_id, attempt) > 1 AND ambiguous
      THEN request_id || '@' || coalesce(CASE WHEN repeated THEN 'repeat ' || repeat END, left(trace_id, 8), 'no trace') ELSE request_id END AS request_by_trace
  FROM counted
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
  run, root_id, request_id, attempt::INTEGER AS attempt,
  -- A run's name with a slash is quoted, so that no two attempts of a store have one id.
  CASE WHEN contains(run, '/') OR contains(run, '"') THEN '"' || replace(run, '"', '""') || '"' ELSE run END
    || '/' || request_id || '/' || attempt AS attempt_id
FROM named;

COMMENT ON TABLE attempt_name IS 'One row per attempt: its outermost view and its name';
COMMENT ON COLUMN attempt_name.root_id IS 'The outermost view of the attempt';
