-- Where the time to first content went: mean of each stage over the same ok requests, which add up.
CREATE VIEW ttft_stage AS
WITH member AS (
  SELECT r.run, r.request_id, stratum_key(r.load_point) AS load_point, stratum_key(r.tenant) AS tenant,
    r.answer_id, m.ttft_ms, m.ttft_engine_ms, w.side
  FROM request AS r
  JOIN run AS w ON w.run = r.run
  JOIN attempt_metric AS m ON m.attempt_id = r.answer_id
  WHERE r.counted AND r.outcome = 'ok'
), whole AS (
  -- Only requests whose first content and at least one stage inside it are known can be taken apart.
  SELECT *, CASE WHEN side = 'engine' THEN ttft_engine_ms ELSE ttft_ms END AS total_ms
  FROM member AS b
  WHERE CASE WHEN side = 'engine' THEN ttft_engine_ms ELSE ttft_ms END IS NOT NULL
    AND EXISTS (SELECT 1 FROM stage AS s WHERE s.attempt_id = b.answer_id
      AND (s.stage = 'unattributed' OR (b.side = 'engine' AND s.stage IN ('queue', 'prefill'))))
), size AS (
  SELECT run, coalesce(load_point, '(all)') AS load_point, coalesce(tenant, '(all)') AS tenant,
    count(*) AS n, avg(total_ms::DECIMAL(28, 9))::DOUBLE AS mean_ttft_ms
  FROM whole
  GROUP BY run, GROUPING SETS ((), (load_point), (load_point, tenant))
), part AS (
  SELECT
    w.run, coalesce(w.load_point, '(all)') AS load_point, coalesce(w.tenant, '(all)') AS tenant, s.stage, min(s.owner) AS owner,
    count(*) AS seen,
    sum(s.low_ms::DECIMAL(28, 9))::DOUBLE AS low_ms, sum(s.high_ms::DECIMAL(28, 9))::DOUBLE AS high_ms,
    bool_or(s.evidence = 'bounded') AS bounded, bool_or(s.evidence = 'derived') AS derived
  FROM whole AS w
  JOIN stage AS s ON s.attempt_id = w.answer_id
  WHERE s.stage IN ('edge', 'queue', 'prefill', 'kv_transfer', 'delivery', 'unattributed')
    AND NOT (w.side = 'engine' AND s.stage IN ('delivery', 'unattributed'))
  GROUP BY w.run, s.stage, GROUPING SETS ((), (w.load_point), (w.load_point, w.tenant))
)
SELECT
  z.run, z.load_point, z.tenant, p.stage, p.owner,
  z.n, p.seen, z.mean_ttft_ms,
  p.low_ms / z.n AS mean_low_ms, p.high_ms / z.n AS mean_high_ms,
  p.low_ms / z.n / z.mean_ttft_ms AS share_low, p.high_ms / z.n / z.mean_ttft_ms AS share_high,
  CASE WHEN p.bounded THEN 'bounded' WHEN p.derived THEN 'derived' ELSE 'measured' END AS evidence
FROM size AS z
JOIN part AS p ON p.run = z.run AND p.load_point = z.load_point AND p.tenant = z.tenant;

COMMENT ON VIEW ttft_stage IS 'One row per run, load point, tenant and stage: its part of the mean time to first content, over ok requests that can be taken apart';
COMMENT ON COLUMN ttft_stage.stage IS 'edge, queue, prefill, kv_transfer, delivery, or unattributed: what no known stage covers';
COMMENT ON COLUMN ttft_stage.owner IS 'Who answers for this wait';
COMMENT ON COLUMN ttft_stage.n IS 'ok requests that can be taken apart';
COMMENT ON COLUMN ttft_stage.seen IS 'Of those, requests that show this stage; the others count as 0 in its mean';
COMMENT ON COLUMN ttft_stage.mean_ttft_ms IS 'Mean time to first content of those requests, ms';
COMMENT ON COLUMN ttft_stage.mean_low_ms IS 'Mean of the stage, lower end, ms';
COMMENT ON COLUMN ttft_stage.mean_high_ms IS 'Mean of the stage, upper end, ms';
COMMENT ON COLUMN ttft_stage.share_low IS 'Share of the mean, lower end';
COMMENT ON COLUMN ttft_stage.share_high IS 'Share of the mean, upper end';
COMMENT ON COLUMN ttft_stage.evidence IS 'measured, derived or bounded';
