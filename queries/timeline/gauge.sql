-- Gauges that a log reports, of no single request.
CREATE VIEW gauge AS
SELECT run, name, time_ns, value, side, clock, clock_kind, worker, source_file, position
FROM event
WHERE event = 'gauge';

COMMENT ON VIEW gauge IS 'One row per reading of a gauge';
COMMENT ON COLUMN gauge.name IS 'Name of the gauge, as its source writes it';
COMMENT ON COLUMN gauge.value IS 'Reading';
