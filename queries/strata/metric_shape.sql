-- What kinds of values each metric of a run has: whether its lower and upper ends, and its populations, differ at all.
CREATE TABLE metric_shape AS
SELECT
  run, metric,
  coalesce(bool_or(low < high), false) AS bounded,
  bool_or(counts_as IN ('undetermined', 'unknown')) AS uncertain,
  bool_or(counts_as = 'failed') AS failing,
  bool_or(low IS NOT NULL AND counts_as NOT IN ('value', 'not applicable')) AS partly
FROM metric_end
GROUP BY run, metric
-- A metric that a run never recorded is not one of its metrics; what heads the run is, even if every request failed.
HAVING bool_or(state = 'value') OR bool_or(heads);

COMMENT ON TABLE metric_shape IS 'One row per run and metric that the run has, with what sets its populations and ends apart';
COMMENT ON COLUMN metric_shape.bounded IS 'Some values are only known as an interval';
COMMENT ON COLUMN metric_shape.uncertain IS 'Some requests are undetermined or without evidence';
COMMENT ON COLUMN metric_shape.failing IS 'Some requests never reach it';
COMMENT ON COLUMN metric_shape.partly IS 'Some requests reached it and then failed or left';
