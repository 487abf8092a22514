-- Spans that are a view of an attempt by themselves: one for each side that saw it, and no second one around it.
CREATE TABLE span_view AS
WITH ranked AS (
  SELECT
    r.*,
    bool_or(looks = 'http') OVER same AS has_http,
    bool_or(looks = 'engine') OVER same AS has_engine
  FROM span_role AS r
  WHERE role IS NOT NULL
  WINDOW same AS (PARTITION BY run, trace_id, clock, coalesce(service, ''))
)
SELECT s.* EXCLUDE (has_http, has_engine)
FROM ranked AS s
-- A gateway writes an HTTP server span and its own one for the same request: the HTTP span saw it whole.
WHERE NOT (s.looks = 'gateway' AND s.has_http)
  AND NOT (s.role = 'engine' AND s.looks = 'http' AND s.has_engine)
  -- A framework's span around the client library's own: the inner one made the call.
  AND NOT (s.role = 'client' AND EXISTS (
    SELECT 1 FROM ranked AS i
    WHERE i.run = s.run AND i.trace_id = s.trace_id AND i.parent_span_id = s.span_id AND i.role = 'client'
      AND i.clock = s.clock AND i.service IS NOT DISTINCT FROM s.service));

COMMENT ON TABLE span_view IS 'One row per span that is one side''s view of an attempt';
COMMENT ON COLUMN span_view.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_view.request_id IS 'Request id that the span carries';
COMMENT ON COLUMN span_view.role IS 'Which side''s view of an attempt the span is: client, gateway, engine';
COMMENT ON COLUMN span_view.in_gateway IS 'Its service takes requests and passes them on';
