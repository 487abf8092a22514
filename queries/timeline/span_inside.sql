-- Parts and tries, each with the view that it belongs to: the nearest one around it, else the only one of its service.
CREATE TABLE span_inside AS
WITH RECURSIVE inner_span AS (
  SELECT * FROM span_role WHERE looks IN ('part', 'try') OR (looks = 'call' AND in_gateway)
), climb AS (
  SELECT run, trace_id, span_id, kind, parent_span_id AS up, 1 AS steps FROM inner_span
  UNION ALL
  SELECT c.run, c.trace_id, c.span_id, c.kind, s.parent_span_id, c.steps + 1
  FROM climb AS c
  JOIN span AS s ON s.run = c.run AND s.trace_id = c.trace_id AND s.span_id = c.up
  WHERE c.steps < 12 AND NOT EXISTS (
    SELECT 1 FROM span_view AS v WHERE v.run = c.run AND v.trace_id = c.trace_id AND v.span_id = c.up)
), around AS (
  SELECT c.run, c.trace_id, c.span_id, c.kind, v.span_id AS view_span_id, v.kind AS view_kind, v.service AS view_service
  FROM climb AS c
  JOIN span_view AS v ON v.run = c.run AND v.trace_id = c.trace_id AND v.span_id = c.up
), lone AS (
  -- A caller's trace header that is passed on unchanged makes siblings of what belongs together.
  SELECT run, trace_id, service, min(span_id) AS view_span_id, min(kind) AS view_kind
  FROM span_view
  GROUP BY run, trace_id, service
  HAVING count(*) = 1
)
SELECT
  i.*,
  CASE WHEN a.span_id IS NULL THEN l.view_span_id WHEN a.view_service IS NOT DISTINCT FROM i.service THEN a.view_span_id END AS view_span_id,
  CASE WHEN a.span_id IS NULL THEN l.view_kind WHEN a.view_service IS NOT DISTINCT FROM i.service THEN a.view_kind END AS view_kind
FROM inner_span AS i
LEFT JOIN around AS a ON a.run = i.run AND a.trace_id = i.trace_id AND a.span_id = i.span_id AND a.kind = i.kind
LEFT JOIN lone AS l ON l.run = i.run AND l.trace_id = i.trace_id AND l.service IS NOT DISTINCT FROM i.service;

COMMENT ON TABLE span_inside IS 'One row per part or try of an attempt that is a span of its own, with the view that it belongs to';
COMMENT ON COLUMN span_inside.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_inside.request_id IS 'Request id that the span carries';
COMMENT ON COLUMN span_inside.role IS 'Which side''s view of an attempt the span could be by itself: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_inside.in_gateway IS 'Its service takes requests and passes them on';
COMMENT ON COLUMN span_inside.view_span_id IS 'The span that is the view it belongs to; NULL where none is known';
COMMENT ON COLUMN span_inside.view_kind IS 'Kind of that span';
