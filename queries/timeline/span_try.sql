-- Tries that a client library or a gateway made inside one call, in order. They count as attempts of their own where each
-- but the last is known to have failed, or where such spans always are tries.
CREATE TABLE span_try AS
WITH innermost AS (
  SELECT t.*
  FROM span_inside AS t
  WHERE t.looks IN ('try', 'call')
    AND NOT EXISTS (
      SELECT 1 FROM span_inside AS i
      WHERE i.run = t.run AND i.trace_id = t.trace_id AND i.parent_span_id = t.span_id AND i.looks IN ('try', 'call'))
), grouped AS (
  -- Without a view around them, tries of one parent belong together as far as they count themselves.
  SELECT *,
    CASE WHEN view_span_id IS NULL THEN
      sum(CASE WHEN coalesce(resend_count, 0) = 0 THEN 1 ELSE 0 END) OVER (
        PARTITION BY run, trace_id, parent_span_id, clock, service ORDER BY start_ns, span_id
        ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) END AS series
  FROM innermost
), placed AS (
  SELECT *,
    row_number() OVER (PARTITION BY run, trace_id, view_span_id, view_kind, CASE WHEN view_span_id IS NULL THEN parent_span_id END, series
      ORDER BY start_ns, span_id) AS number,
    count(*) OVER same AS tries,
    status = 'error' OR coalesce(status_code, 0) >= 400 OR error_type IS NOT NULL AS failed,
    first_value(span_id) OVER (PARTITION BY run, trace_id, view_span_id, view_kind, CASE WHEN view_span_id IS NULL THEN parent_span_id END, series
      ORDER BY start_ns, span_id) AS first_span_id
  FROM grouped
  WINDOW same AS (PARTITION BY run, trace_id, view_span_id, view_kind, CASE WHEN view_span_id IS NULL THEN parent_span_id END, series)
), judged AS (
  SELECT *,
    bool_and(failed OR always_tries OR number = tries) OVER (
      PARTITION BY run, trace_id, view_span_id, view_kind, CASE WHEN view_span_id IS NULL THEN parent_span_id END, series) AS all_failed
  FROM placed
), reason AS (
  -- What another span of the service tells of a try that failed.
  SELECT j.run, j.trace_id, j.span_id, j.kind, max(p.status_code) AS status_code, min(p.error_type) AS error_type
  FROM judged AS j
  JOIN span_inside AS p ON p.run = j.run AND p.trace_id = j.trace_id AND p.looks = 'part' AND p.status = 'error'
    AND p.service IS NOT DISTINCT FROM j.service AND p.start_ns <= j.start_ns AND p.end_ns >= j.end_ns
  WHERE j.always_tries
  GROUP BY ALL
)
SELECT
  j.* EXCLUDE (series, failed, all_failed, status_code, error_type, first_span_id),
  coalesce(j.status_code, r.status_code) AS status_code, coalesce(j.error_type, r.error_type) AS error_type,
  j.first_span_id, j.all_failed AND j.tries > 1 AS splits
FROM judged AS j
LEFT JOIN reason AS r ON r.run = j.run AND r.trace_id = j.trace_id AND r.span_id = j.span_id AND r.kind = j.kind;

COMMENT ON TABLE span_try IS 'One row per try inside a call or a gateway''s request, in order';
COMMENT ON COLUMN span_try.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_try.request_id IS 'Request id that the span carries';
COMMENT ON COLUMN span_try.role IS 'Which side''s view of an attempt the span could be by itself: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_try.in_gateway IS 'Its service takes requests and passes them on';
COMMENT ON COLUMN span_try.view_span_id IS 'The span around the tries; NULL where there is none';
COMMENT ON COLUMN span_try.view_kind IS 'Kind of that span';
COMMENT ON COLUMN span_try.number IS 'Its number among the tries, from 1';
COMMENT ON COLUMN span_try.tries IS 'How many there are';
COMMENT ON COLUMN span_try.first_span_id IS 'The first of them';
COMMENT ON COLUMN span_try.splits IS 'Whether each is an attempt of its own';
