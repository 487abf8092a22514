-- Traces that hold a view of an attempt; spans of other traces are start-up, health checks and the like.
CREATE TABLE request_trace AS
SELECT DISTINCT run, trace_id FROM span_role WHERE role IS NOT NULL;

COMMENT ON TABLE request_trace IS 'One row per trace that holds at least one view of an attempt';
