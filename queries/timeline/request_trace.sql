-- Traces that hold a view of an attempt; spans of other traces are start-up, health checks and the like.
CREATE TABLE request_trace AS
SELECT run, trace_id FROM span_view
UNION
SELECT run, trace_id FROM span_try WHERE view_span_id IS NULL AND looks = 'try' AND NOT in_gateway;

COMMENT ON TABLE request_trace IS 'One row per trace that holds at least one view of an attempt';
