-- The runs of the store, and how each is to be counted.
CREATE TABLE run AS
WITH seen AS (
  SELECT
    run,
    CASE WHEN bool_or(sides LIKE '%client%') THEN 'client'
         WHEN bool_or(sides LIKE '%gateway%') THEN 'gateway' ELSE 'engine' END AS outermost,
    count(*) AS attempts
  FROM attempt
  GROUP BY run
), named AS (
  SELECT run FROM seen
  UNION
  SELECT run FROM run_setting
  UNION
  SELECT DISTINCT run FROM span
  UNION
  SELECT DISTINCT run FROM event
)
SELECT
  n.run, r.why, coalesce(s.attempts, 0) AS attempts,
  s.outermost AS side, coalesce(r.entry, 'offered') AS entry, coalesce(r.unit, 'request') AS unit, coalesce(r.client_cancel, 'interval') AS client_cancel,
  r.window_start_ns, r.window_end_ns, coalesce(r.window_width_ns, 60000000000) AS window_width_ns, r.warmup_ns,
  r.max_attempts, r.retry_budget_share, r.retry_idempotent
FROM named AS n
LEFT JOIN seen AS s ON s.run = n.run
LEFT JOIN run_setting AS r ON r.run = n.run;

COMMENT ON TABLE run IS 'One row per run, with the side that heads its numbers and how its manifest says it is counted';
COMMENT ON COLUMN run.why IS 'Why the run was made, from its manifest';
COMMENT ON COLUMN run.side IS 'The outermost side seen: its requests are the population, its clock heads the report';
COMMENT ON COLUMN run.entry IS 'Where a request enters the population: offered, sent, admitted, reached (first content came), ok';
COMMENT ON COLUMN run.unit IS 'request or attempt';
COMMENT ON COLUMN run.client_cancel IS 'What a client''s own cancel means for a promise: interval, bad, excluded';
COMMENT ON COLUMN run.window_start_ns IS 'Start of the declared window, inclusive';
COMMENT ON COLUMN run.window_end_ns IS 'End of the declared window, exclusive';
COMMENT ON COLUMN run.window_width_ns IS 'Width of the windows that numbers are split by; 60 s when not declared';
COMMENT ON COLUMN run.warmup_ns IS 'How long after the start the traffic counts as warm-up';
COMMENT ON COLUMN run.max_attempts IS 'Attempts that a request may have, the first included, as declared';
COMMENT ON COLUMN run.retry_budget_share IS 'Retries as a share of requests that are allowed, as declared';
COMMENT ON COLUMN run.retry_idempotent IS 'Whether a repeated request is declared to be safe';
