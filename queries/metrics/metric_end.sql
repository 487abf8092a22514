-- What each value counts as in the population of all requests, where a failure never arrives.
CREATE VIEW metric_end AS
SELECT
  v.*,
  CASE
    -- What depends on the tokens of an answer applies to a request until the answer is there.
    WHEN v.state = 'not applicable' AND (v.outcome = 'ok' OR v.why NOT IN ('no token after the first chunk', 'one output token or none'))
      THEN 'not applicable'
    WHEN v.outcome IN ('rejected', 'error', 'timeout', 'truncated', 'unsent') THEN 'failed'
    WHEN v.outcome = 'cancelled' AND w.client_cancel = 'bad' THEN 'failed'
    WHEN v.outcome = 'cancelled' AND w.client_cancel = 'excluded' THEN 'excluded'
    WHEN v.outcome IN ('cancelled', 'unresolved') THEN 'undetermined'
    WHEN v.state = 'absent' THEN 'failed'
    WHEN v.state = 'unknown' THEN 'unknown'
    ELSE 'value'
  END AS counts_as,
  coalesce(w.side = CASE
    WHEN v.metric IN ('ttft', 'e2e') THEN 'client'
    WHEN v.metric IN ('ttft_gateway', 'e2e_gateway') THEN 'gateway'
    WHEN v.metric IN ('ttft_engine', 'e2e_engine') THEN 'engine' END, false) AS heads
FROM metric_value AS v
JOIN run AS w ON w.run = v.run;

COMMENT ON VIEW metric_end IS 'metric_value with the part each row plays: value, failed (never arrives), undetermined (cancelled by the waiter or unresolved), unknown, excluded, not applicable';
COMMENT ON COLUMN metric_end.heads IS 'The metric is one of those that head the run: first content and end, on its outermost side';
COMMENT ON COLUMN metric_end.counts_as IS 'The part that the request plays in the population of all';
COMMENT ON COLUMN metric_end.low IS 'At least this, ms';
COMMENT ON COLUMN metric_end.high IS 'At most this, ms';
COMMENT ON COLUMN metric_end.why IS 'Why there is no value';
COMMENT ON COLUMN metric_end.left_ms IS 'How long the waiter had waited when it left, for metrics that count from sent';
COMMENT ON COLUMN metric_end.state IS 'value, absent, not applicable, unknown';
COMMENT ON COLUMN metric_end.family IS 'time or stage';
