-- Whether each request kept each promise: all conditions of the promise judged together.
CREATE TABLE request_slo AS
WITH judged AS (
  SELECT
    e.run, s.slo, e.request_id, e.load_point, e.tenant, e.input_bin, e.output_bin, e.window_start, e.correct,
    CASE
      WHEN e.counts_as IN ('not applicable', 'excluded') THEN e.counts_as
      WHEN e.counts_as = 'failed' THEN 'bad'
      WHEN e.counts_as = 'undetermined' THEN
        -- An average per token may still have fallen.
        CASE WHEN coalesce(e.low, e.left_ms, 0) > s.limit_ms AND e.metric NOT IN ('tpot', 'tpot_engine', 'ntpot') THEN 'bad'
             ELSE 'undetermined' END
      WHEN e.counts_as = 'unknown' THEN 'unknown'
      WHEN e.high <= s.limit_ms THEN 'good'
      WHEN e.low > s.limit_ms THEN 'bad'
      ELSE 'undetermined'
    END AS state
  FROM slo AS s
  JOIN metric_end AS e ON e.run = s.run AND e.metric = s.metric
), chosen AS (
  SELECT j.*, coalesce(c.missing, false) AS missing
  FROM judged AS j
  LEFT JOIN (
    SELECT x.run, x.slo, r.request_id, bool_or(d.has IS NULL) AS missing, bool_or(d.has <> x.value) AS other
    FROM slo_select AS x
    JOIN request AS r ON r.run = x.run AND r.counted,
    LATERAL (SELECT CASE x.dimension
      WHEN 'phase' THEN r.phase WHEN 'route' THEN r.route WHEN 'region' THEN r.region WHEN 'tenant' THEN r.tenant
      WHEN 'model' THEN r.model WHEN 'revision' THEN r.revision WHEN 'load_point' THEN r.load_point END AS has) AS d
    GROUP BY x.run, x.slo, r.request_id
  ) AS c ON c.run = j.run AND c.slo = j.slo AND c.request_id = j.request_id
  WHERE c.other IS NOT TRUE
)
SELECT
  run, slo, request_id, load_point, tenant, input_bin, output_bin, window_start,
  CASE
    WHEN bool_or(state = 'excluded') THEN 'excluded'
    -- It may belong to the part that the promise is about, or not.
    WHEN bool_or(missing) THEN 'unknown'
    WHEN bool_and(state = 'not applicable') THEN 'not applicable'
    WHEN bool_or(state = 'bad') OR bool_or(correct = false) THEN 'bad'
    WHEN bool_or(state = 'undetermined') THEN 'undetermined'
    WHEN bool_or(state = 'unknown') THEN 'unknown'
    -- Where answers were judged at all, one that was not is neither right nor wrong.
    WHEN bool_or(correct) IS NULL AND run IN (SELECT r.run FROM request AS r WHERE r.counted AND r.correct IS NOT NULL) THEN 'unknown'
    ELSE 'good'
  END AS state
FROM chosen
GROUP BY run, slo, request_id, load_point, tenant, input_bin, output_bin, window_start;

COMMENT ON TABLE request_slo IS 'One row per counted request and promise: good, bad, undetermined, unknown, not applicable or excluded';
COMMENT ON COLUMN request_slo.state IS 'good: ok, not judged wrong, every condition that applies met (limits inclusive); bad: observed otherwise; undetermined: cancelled, unresolved or only bounded across the limit; unknown: evidence missing';
