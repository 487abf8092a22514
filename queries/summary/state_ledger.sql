-- What each attempt held, who owned it, and which event gave it back.
CREATE VIEW state_ledger AS
WITH traced AS (
  -- A run of which some attempt has a server's span is one whose spans are exported.
  SELECT run, count(*) > 0 AS exports FROM observation WHERE origin = 'span' AND side <> 'client' GROUP BY run
), shown AS (
  SELECT DISTINCT n.attempt_id
  FROM observation AS o
  JOIN attempt_member AS m ON m.observation_id = o.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  WHERE o.origin = 'span' AND o.side <> 'client'
), held AS (
  SELECT a.*, t.exports, s.attempt_id IS NOT NULL AS has_span, e.outcome AS engine_outcome
  FROM attempt AS a
  LEFT JOIN side_view AS e ON e.attempt_id = a.attempt_id AND e.side = 'engine'
  LEFT JOIN traced AS t ON t.run = a.run
  LEFT JOIN shown AS s ON s.attempt_id = a.attempt_id
)
SELECT
  run, request_id, attempt_id, outcome, 'stream' AS state, CASE WHEN gateway_clock IS NOT NULL THEN 'gateway' ELSE 'engine' END AS owner,
  CASE WHEN gateway_clock IS NOT NULL THEN 'gateway arrived' ELSE 'engine arrived' END AS opened_by,
  CASE WHEN coalesce(gateway_done_ns, CASE WHEN gateway_clock IS NULL THEN engine_done_ns END) IS NOT NULL THEN 'done'
       WHEN gateway_cancel_seen_ns IS NOT NULL OR engine_cancel_seen_ns IS NOT NULL THEN 'disconnect seen'
       WHEN gateway_rejected_ns IS NOT NULL OR engine_rejected_ns IS NOT NULL THEN 'rejected' END AS released_by,
  CASE WHEN coalesce(gateway_done_ns, CASE WHEN gateway_clock IS NULL THEN engine_done_ns END, gateway_cancel_seen_ns, engine_cancel_seen_ns,
    gateway_rejected_ns, engine_rejected_ns) IS NOT NULL THEN 'released' ELSE 'open' END AS finding
FROM held
WHERE coalesce(gateway_arrived_ns, engine_arrived_ns) IS NOT NULL
UNION ALL
SELECT
  run, request_id, attempt_id, outcome, 'queue entry', 'scheduler', CASE WHEN engine_admitted_high_ns IS NOT NULL THEN 'engine admitted' ELSE 'gateway admitted' END,
  CASE WHEN coalesce(engine_started_ns, engine_started_high_ns) IS NOT NULL THEN 'dispatched' WHEN engine_first_token_ns IS NOT NULL THEN 'dispatched'
       WHEN engine_dequeued_ns IS NOT NULL THEN 'dequeued' WHEN engine_done_ns IS NOT NULL THEN 'done'
       WHEN coalesce(engine_rejected_ns, gateway_rejected_ns) IS NOT NULL THEN 'rejected'
       WHEN outcome = 'ok' OR coalesce(gateway_first_content_ns, client_first_content_ns) IS NOT NULL THEN 'dispatched' END,
  CASE WHEN coalesce(engine_started_ns, engine_started_high_ns, engine_first_token_ns, engine_dequeued_ns, engine_done_ns,
         engine_rejected_ns, gateway_rejected_ns, gateway_first_content_ns, client_first_content_ns) IS NOT NULL OR outcome = 'ok' THEN 'released'
       WHEN engine_clock IS NULL THEN 'cannot tell: the engine was not seen' ELSE 'open' END
FROM held
WHERE coalesce(engine_admitted_high_ns, gateway_admitted_ns) IS NOT NULL
UNION ALL
SELECT
  run, request_id, attempt_id, outcome, 'kv', 'worker', CASE WHEN coalesce(engine_started_ns, engine_started_high_ns) IS NOT NULL THEN 'engine started' ELSE 'engine first_token' END,
  CASE WHEN engine_released_ns IS NOT NULL THEN 'released' WHEN engine_done_ns IS NOT NULL AND engine_outcome = 'ok' THEN 'finished' END,
  CASE WHEN engine_released_ns IS NOT NULL OR engine_done_ns IS NOT NULL AND engine_outcome = 'ok' THEN 'released'
       WHEN engine_done_ns IS NOT NULL THEN 'closed, release not acknowledged' ELSE 'open' END
FROM held
WHERE coalesce(engine_started_ns, engine_started_high_ns, engine_first_token_ns) IS NOT NULL
UNION ALL
SELECT
  run, request_id, attempt_id, outcome, 'trace', 'telemetry pipeline', 'trace id', CASE WHEN has_span THEN 'exported' END,
  CASE WHEN has_span THEN 'released' ELSE 'not exported: dropped, sampled, or never written' END
FROM held
WHERE trace_id IS NOT NULL AND exports;

COMMENT ON VIEW state_ledger IS 'One row per attempt and state that it held (stream, queue entry, kv, trace): its owner, and the event that gave it back';
COMMENT ON COLUMN state_ledger.state IS 'stream, queue entry, kv or trace';
COMMENT ON COLUMN state_ledger.opened_by IS 'What shows that it was held';
COMMENT ON COLUMN state_ledger.released_by IS 'What shows that it was given back; NULL where nothing does';
COMMENT ON COLUMN state_ledger.finding IS 'released; closed, release not acknowledged; open: no release event although its owner was seen; or why neither can be told';
