-- Which sides of an attempt share a timeline: the same clock, or a relation that the manifest declares.
CREATE VIEW attempt_clock AS
SELECT
  a.attempt_id, a.run,
  CASE WHEN a.gateway_clock = a.client_clock AND a.gateway_clock_kind = a.client_clock_kind THEN 0
       ELSE gc.offset_ns END AS gateway_to_client_ns,
  CASE WHEN a.gateway_clock = a.client_clock AND a.gateway_clock_kind = a.client_clock_kind THEN 0
       ELSE gc.error_ns END AS gateway_to_client_error_ns,
  CASE WHEN a.engine_clock = a.client_clock AND a.engine_clock_kind = a.client_clock_kind THEN 0
       ELSE ec.offset_ns END AS engine_to_client_ns,
  CASE WHEN a.engine_clock = a.client_clock AND a.engine_clock_kind = a.client_clock_kind THEN 0
       ELSE ec.error_ns END AS engine_to_client_error_ns,
  CASE WHEN a.engine_clock = a.gateway_clock AND a.engine_clock_kind = a.gateway_clock_kind THEN 0
       ELSE eg.offset_ns END AS engine_to_gateway_ns,
  CASE WHEN a.engine_clock = a.gateway_clock AND a.engine_clock_kind = a.gateway_clock_kind THEN 0
       ELSE eg.error_ns END AS engine_to_gateway_error_ns
FROM attempt AS a
LEFT JOIN clock_relation AS gc ON gc.run = a.run AND gc.clock_a = a.gateway_clock AND gc.clock_b = a.client_clock
  AND a.gateway_clock_kind = a.client_clock_kind
LEFT JOIN clock_relation AS ec ON ec.run = a.run AND ec.clock_a = a.engine_clock AND ec.clock_b = a.client_clock
  AND a.engine_clock_kind = a.client_clock_kind
LEFT JOIN clock_relation AS eg ON eg.run = a.run AND eg.clock_a = a.engine_clock AND eg.clock_b = a.gateway_clock
  AND a.engine_clock_kind = a.gateway_clock_kind;

COMMENT ON VIEW attempt_clock IS 'One row per attempt: what to add to one side''s timestamps to read them on another''s clock; NULL where nothing relates the two';
COMMENT ON COLUMN attempt_clock.gateway_to_client_ns IS 'Client time = gateway time + this';
COMMENT ON COLUMN attempt_clock.gateway_to_client_error_ns IS 'Give or take this';
COMMENT ON COLUMN attempt_clock.engine_to_client_ns IS 'Client time = engine time + this';
COMMENT ON COLUMN attempt_clock.engine_to_client_error_ns IS 'Give or take this';
COMMENT ON COLUMN attempt_clock.engine_to_gateway_ns IS 'Gateway time = engine time + this';
COMMENT ON COLUMN attempt_clock.engine_to_gateway_error_ns IS 'Give or take this';
