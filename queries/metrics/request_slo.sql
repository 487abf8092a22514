-- Whether each request kept each promise: all conditions of the promise judged together.
CREATE TABLE request_slo AS
WITH judged AS (
  SELECT
    e.run, s.slo, e.request_id, e.load_point, e.tenant, e.input_bin, e.output_bin, e.window_start, e.correct,
    CASE
      WHEN e.counts_as IN ('not applicable', 'excluded') THEN e.counts_as
      WHEN e.counts_as = 'failed' THEN 'bad'
      WHEN e.counts_as = 'undetermined' THEN
        CASE WHEN coalesce(e.low, e.left_ms, 0) > s.limit_ms THEN 'bad' ELSE 'undetermined' END
      WHEN e.counts_as = 'unknown' THEN 'unknown'
      WHEN e.high <= s.limit_ms THEN 'good'
      WHEN e.low > s.limit_ms THEN 'bad'
      ELSE 'undetermined'
    END AS state
  FROM slo AS s
  JOIN metric_end AS e ON e.run = s.run AND e.metric = s.metric
), chosen AS (
  SELECT j.*
  FROM judged AS j
  JOIN request AS r ON r.run = j.run AND r.request_id = j.request_id
  WHERE NOT EXISTS (
    SELECT 1 FROM slo_select AS x
    WHERE x.run = j.run AND x.slo = j.slo AND x.value IS DISTINCT FROM CASE x.dimension
      WHEN 'phase' THEN r.phase WHEN 'route' THEN r.route WHEN 'region' THEN r.region WHEN 'tenant' THEN r.tenant
      WHEN 'model' THEN r.model WHEN 'revision' THEN r.revision WHEN 'load_point' THEN r.load_point END)
)
SELECT
  run, slo, request_id, load_point, tenant, input_bin, output_bin, window_start,
  CASE
    WHEN bool_or(state = 'excluded') THEN 'excluded'
    WHEN bool_and(state = 'not applicable') THEN 'not applicable'
    WHEN bool_or(state = 'bad') OR bool_or(correct = false) THEN 'bad'
    WHEN bool_or(state = 'undetermined') THEN 'undetermined'
    WHEN bool_or(state = 'unknown') THEN 'unknown'
    ELSE 'good'
  END AS state
FROM chosen
GROUP BY run, slo, request_id, load_point, tenant, input_bin, output_bin, window_start;

COMMENT ON TABLE request_slo IS 'One row per counted request and promise: good, bad, undetermined, unknown, not applicable or excluded';
COMMENT ON COLUMN request_slo.state IS 'good: ok, not judged wrong, every condition that applies met (limits inclusive); bad: observed otherwise; undetermined: cancelled, unresolved or only bounded across the limit; unknown: evidence missing';
