-- Where each attempt spent its time: one row per stage that two boundaries, or the owner's own measurement, show.
CREATE TABLE stage AS
WITH base AS (
  SELECT
    a.*, c.* EXCLUDE (attempt_id, run), d.queue_ms, d.prefill_ms, d.decode_ms, d.kv_transfer_ms,
    coalesce(a.gateway_arrived_ns, a.engine_arrived_ns) AS entry_ns,
    a.gateway_arrived_ns IS NOT NULL AS has_gateway
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
  LEFT JOIN engine_duration AS d ON d.attempt_id = a.attempt_id
), interval_row AS (
  -- start and end on `clock`; `to_client` moves them to the client's timeline.
  SELECT attempt_id, run, 'client_queue' AS stage, client_clock AS clock, 'client' AS owner,
    client_scheduled_ns AS start_ns, client_sent_ns AS end_low_ns, client_sent_ns AS end_high_ns, 0 AS error_ns,
    NULL::DOUBLE AS told_ms, 0 AS to_client
  FROM base
  UNION ALL
  SELECT attempt_id, run, 'edge', CASE WHEN has_gateway THEN gateway_clock ELSE engine_clock END, CASE WHEN has_gateway THEN 'gateway' ELSE 'engine' END,
    entry_ns,
    CASE WHEN gateway_admitted_ns IS NOT NULL THEN gateway_admitted_ns
         WHEN has_gateway THEN greatest(coalesce(engine_admitted_ns, engine_admitted_low_ns) + engine_to_gateway_ns, entry_ns)
         ELSE coalesce(engine_admitted_ns, engine_admitted_low_ns) END,
    CASE WHEN gateway_admitted_ns IS NOT NULL THEN gateway_admitted_ns
         WHEN has_gateway THEN coalesce(engine_admitted_ns, engine_admitted_high_ns) + engine_to_gateway_ns
         ELSE coalesce(engine_admitted_ns, engine_admitted_high_ns) END,
    CASE WHEN gateway_admitted_ns IS NULL AND has_gateway THEN engine_to_gateway_error_ns ELSE 0 END, NULL,
    CASE WHEN has_gateway THEN gateway_to_client_ns ELSE engine_to_client_ns END
  FROM base
  UNION ALL
  SELECT attempt_id, run, 'queue', engine_clock, 'scheduler',
    CASE WHEN queue_ms IS NOT NULL THEN engine_admitted_high_ns
         ELSE coalesce(engine_admitted_ns, gateway_admitted_ns - engine_to_gateway_ns) END,
    coalesce(engine_started_ns, engine_started_high_ns), coalesce(engine_started_ns, engine_started_high_ns),
    CASE WHEN queue_ms IS NULL AND engine_admitted_ns IS NULL THEN engine_to_gateway_error_ns ELSE 0 END,
    queue_ms, engine_to_client_ns
  FROM base
  UNION ALL
  -- Where prefill and decode have different workers it ends before the KV cache is on its way.
  SELECT attempt_id, run, 'prefill', engine_clock, 'worker', coalesce(engine_started_ns, engine_started_high_ns),
    coalesce(engine_prefill_done_ns, engine_first_token_ns), coalesce(engine_prefill_done_ns, engine_first_token_ns), 0,
    prefill_ms, engine_to_client_ns
  FROM base
  UNION ALL
  SELECT attempt_id, run, 'kv_transfer', engine_clock, 'worker', engine_prefill_done_ns, engine_decode_started_ns,
    engine_decode_started_ns, 0, kv_transfer_ms, engine_to_client_ns
  FROM base
  UNION ALL
  SELECT attempt_id, run, 'decode', engine_clock, 'worker', engine_first_token_ns, engine_last_token_ns, engine_last_token_ns, 0,
    decode_ms, engine_to_client_ns
  FROM base
  UNION ALL
  SELECT attempt_id, run, 'delivery', client_clock, 'stream', engine_first_token_ns + engine_to_client_ns,
    client_first_content_ns, client_first_content_ns, engine_to_client_error_ns, NULL, 0
  FROM base
  UNION ALL
  -- An end at the very time of the last content was not seen apart from it: some load generators take that for the end.
  SELECT attempt_id, run, 'terminal', client_clock, 'stream', client_last_content_ns,
    nullif(client_done_ns, client_last_content_ns), nullif(client_done_ns, client_last_content_ns), 0, NULL, 0
  FROM base
), told AS (
  SELECT
    attempt_id, run, stage, clock, owner, error_ns, to_client, start_ns, end_high_ns AS end_ns,
    -- No longer than what the relation of its two clocks may be wrong by: it may as well not be there.
    error_ns > 0 AND end_high_ns - start_ns <= error_ns AS within_error,
    coalesce(told_ms, CASE WHEN end_low_ns >= start_ns - error_ns THEN greatest((end_low_ns - start_ns - error_ns) / 1e6, 0) END) AS low_ms,
    coalesce(told_ms, CASE WHEN end_high_ns >= start_ns - error_ns THEN (end_high_ns - start_ns + error_ns) / 1e6 END) AS high_ms
  FROM interval_row
), known AS (
  SELECT * FROM told WHERE low_ms IS NOT NULL AND high_ms IS NOT NULL
), shift_error AS (
  SELECT attempt_id, false AS by_gateway, coalesce(engine_to_client_error_ns, 0) AS to_client_error_ns FROM attempt_clock
  UNION ALL
  SELECT attempt_id, true, coalesce(gateway_to_client_error_ns, 0) FROM attempt_clock
), inside AS (
  -- The part of each stage that lies between sent and first content, on the client's timeline.
  SELECT
    k.attempt_id, k.run, k.high_ms - k.low_ms - 2 * k.error_ns / 1e6 AS slack_ms,
    -- Where the ends of the client's time cut it, the error of the relation tells how much was cut.
    CASE WHEN k.start_ns + k.to_client - c.to_client_error_ns < a.client_sent_ns OR k.end_ns + k.to_client + c.to_client_error_ns > a.client_first_content_ns
      THEN greatest(k.error_ns, c.to_client_error_ns) ELSE k.error_ns END / 1e6 AS error_ms,
    greatest(k.start_ns + k.to_client, a.client_sent_ns) AS start_ns,
    least(k.end_ns + k.to_client, a.client_first_content_ns) AS end_ns,
    a.client_clock AS clock
  FROM known AS k
  JOIN attempt AS a ON a.attempt_id = k.attempt_id
  JOIN shift_error AS c ON c.attempt_id = k.attempt_id AND c.by_gateway = (k.stage = 'edge' AND k.owner = 'gateway')
  WHERE k.stage IN ('edge', 'queue', 'prefill', 'kv_transfer', 'delivery') AND k.to_client IS NOT NULL
    AND a.client_first_content_ns >= a.client_sent_ns
), covered AS (
  SELECT
    *,
    max(end_ns) OVER (PARTITION BY run, attempt_id ORDER BY start_ns, end_ns
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM inside
  WHERE end_ns > start_ns
), union_length AS (
  SELECT
    run, attempt_id,
    sum(greatest(end_ns - greatest(start_ns, coalesce(before_ns, start_ns)), 0)) / 1e6 AS high_ms,
    sum(greatest(slack_ms, 0)) AS slack_ms, max(error_ms) AS error_ms
  FROM covered
  GROUP BY run, attempt_id
), rest AS (
  SELECT
    a.attempt_id, a.run, a.client_clock AS clock,
    u.error_ms, u.error_ms > 0 AND (a.client_first_content_ns - a.client_sent_ns) / 1e6 - u.high_ms + u.slack_ms <= u.error_ms AS within_error,
    greatest((a.client_first_content_ns - a.client_sent_ns) / 1e6 - u.high_ms - u.error_ms, 0) AS low_ms,
    least((a.client_first_content_ns - a.client_sent_ns) / 1e6 - u.high_ms + u.slack_ms + u.error_ms,
          (a.client_first_content_ns - a.client_sent_ns) / 1e6) AS high_ms
  FROM union_length AS u
  JOIN attempt AS a ON a.attempt_id = u.attempt_id
)
SELECT
  k.attempt_id, k.run, k.stage,
  CASE WHEN k.low_ms = k.high_ms THEN k.low_ms END AS duration_ms,
  k.low_ms, k.high_ms,
  -- A first token that is itself an arrival plus a stated duration makes what is counted from it derived.
  CASE WHEN k.low_ms < k.high_ms THEN 'bounded'
       WHEN k.stage = 'delivery' AND v.origin = 'span' THEN 'derived' ELSE 'measured' END AS evidence,
  k.clock, k.owner, k.start_ns, k.end_ns, k.error_ns / 1e6 AS error_ms,
  CASE WHEN k.within_error THEN 'indistinguishable from zero' END AS note
FROM known AS k
LEFT JOIN side_view AS v ON v.attempt_id = k.attempt_id AND v.side = 'engine'
UNION ALL
SELECT attempt_id, run, 'unattributed', CASE WHEN low_ms = high_ms THEN low_ms END, low_ms, high_ms,
  CASE WHEN low_ms < high_ms THEN 'bounded' ELSE 'derived' END, clock, 'nobody', NULL, NULL, error_ms,
  CASE WHEN within_error THEN 'indistinguishable from zero' END
FROM rest;

COMMENT ON TABLE stage IS 'One row per attempt and stage; a bounded stage has no duration of its own but lies in [low_ms, high_ms]';
COMMENT ON COLUMN stage.stage IS 'client_queue, edge, queue, prefill, kv_transfer, decode, delivery, terminal, or unattributed: time to first content that no known stage covers';
COMMENT ON COLUMN stage.duration_ms IS 'Duration; NULL where it is only bounded';
COMMENT ON COLUMN stage.low_ms IS 'At least this long';
COMMENT ON COLUMN stage.high_ms IS 'At most this long';
COMMENT ON COLUMN stage.owner IS 'Who answers for this wait';
COMMENT ON COLUMN stage.evidence IS 'measured, derived or bounded';
COMMENT ON COLUMN stage.start_ns IS 'Where it begins, on its clock; for a bounded stage the start of its longest extent';
COMMENT ON COLUMN stage.end_ns IS 'Where it ends, on its clock';
COMMENT ON COLUMN stage.error_ms IS 'Declared error of the relation of the two clocks that it was read from, part of low_ms and high_ms; 0 on one clock';
COMMENT ON COLUMN stage.note IS 'indistinguishable from zero: no longer than that error';
