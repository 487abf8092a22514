-- Runs whose percentiles over successes alone would hide failures.
CREATE VIEW audit_failures_dropped AS
SELECT run, 'failures beside percentiles' AS audit, 'warning' AS severity, metric || ' p95' AS subject,
  'ok only says ' || format('{:.6g}', max(p95) FILTER (population = 'ok')) || ' ms, over all it is not reached' AS detail, max(failed) AS n
FROM percentile
WHERE load_point = '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'
  AND metric IN ('ttft', 'e2e') AND population IN ('ok', 'all')
GROUP BY run, metric, first_chunk
HAVING max(p95) FILTER (population = 'all') = 'infinity'::DOUBLE AND isfinite(max(p95) FILTER (population = 'ok'));

COMMENT ON VIEW audit_failures_dropped IS 'Runs whose percentiles over successes alone would hide failures; empty when healthy';
