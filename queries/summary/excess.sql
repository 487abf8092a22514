-- What each wait of a request, and of each stratum's median, is longer by than the run's own median.
CREATE VIEW excess AS
WITH part AS (
  SELECT * FROM (VALUES
    ('client_queue', 1, 'client', true), ('retries', 2, 'retries', true), ('edge', 3, 'admission', true), ('queue', 4, 'queue', true),
    ('prefill', 5, 'prefill', true), ('kv_transfer', 6, 'kv_transfer', true), ('delivery', 7, 'delivery', true),
    ('unattributed', 8, NULL, true), ('decode', 9, 'decode', false), ('terminal', 10, 'delivery', false), ('unseen', 11, NULL, true)
  ) AS p (part, place, word, before_first)
), asked AS (
  -- The time to first content ends before the last tokens do.
  SELECT p.*, 'first content' AS about FROM part AS p WHERE p.before_first
  UNION ALL
  SELECT p.*, 'end' FROM part AS p
), middle AS (
  SELECT * FROM quantile WHERE q = 0.5 AND population = 'ok'
), typical AS (
  -- The middle of each wait by itself, so that runs in which every request is as long tell their waits apart.
  SELECT run, metric AS part, min(low) AS low_ms, max(high) AS high_ms, max(n) AS n
  FROM middle
  WHERE load_point = '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)'
  GROUP BY run, metric
  UNION ALL
  SELECT run, 'retries', 0, 0, requests FROM retry_amplification
  WHERE load_point = '(all)' AND window_start = '(all)' AND 2 * retried < requests
), answer AS (
  SELECT
    r.run, r.request_id, w.side,
    -- What was tried before the attempt that answered.
    CASE WHEN r.attempts = 1 THEN 0 WHEN w.side = 'client' AND r.first_clock = n.client_clock AND r.first_clock_kind = n.client_clock_kind THEN elapsed_ms(r.first_sent_ns, n.client_sent_ns)
         WHEN w.side = 'gateway' AND r.first_gateway_clock = n.gateway_clock AND r.first_gateway_clock_kind = n.gateway_clock_kind THEN elapsed_ms(r.first_gateway_ns, n.gateway_arrived_ns) END AS retries_ms,
    CASE w.side WHEN 'client' THEN m.ttft_ms WHEN 'gateway' THEN m.ttft_gateway_ms ELSE m.ttft_engine_ms END AS first_ms,
    CASE w.side WHEN 'client' THEN m.e2e_ms WHEN 'gateway' THEN m.e2e_gateway_ms ELSE m.e2e_engine_ms END AS end_ms
  FROM request AS r
  JOIN run AS w ON w.run = r.run
  JOIN attempt AS n ON n.attempt_id = r.answer_id
  JOIN request_metric AS m ON m.run = r.run AND m.request_id = r.request_id
  WHERE r.counted
), known AS (
  SELECT run, request_id, metric AS part, low AS low_ms, high AS high_ms
  FROM metric_value
  WHERE metric IN ('client_queue', 'edge', 'queue', 'prefill', 'kv_transfer', 'delivery', 'unattributed', 'decode', 'terminal') AND low IS NOT NULL
  UNION ALL
  SELECT run, request_id, 'retries', retries_ms, retries_ms FROM answer WHERE retries_ms IS NOT NULL
), sum_known AS (
  SELECT
    run, request_id, bool_or(part = 'unattributed') AS apart,
    sum(CASE WHEN part IN ('retries', 'edge', 'queue', 'prefill', 'kv_transfer', 'delivery') THEN low_ms END::DECIMAL(28, 9)) AS first_ms,
    coalesce(sum(CASE WHEN part IN ('decode', 'terminal') THEN low_ms END::DECIMAL(28, 9)), 0) AS rest_ms
  FROM known
  GROUP BY run, request_id
), unseen AS (
  -- Time that no wait above accounts for: nothing, where the time to first content was taken apart to its end.
  SELECT
    a.run, a.request_id, k.about,
    greatest(CASE k.about
      WHEN 'first content' THEN CASE WHEN s.apart THEN 0 ELSE a.first_ms - coalesce(s.first_ms, 0)::DOUBLE END
      ELSE a.end_ms - CASE WHEN s.apart THEN a.first_ms ELSE coalesce(s.first_ms, 0)::DOUBLE END - coalesce(s.rest_ms, 0)::DOUBLE END, 0) AS high_ms
  FROM answer AS a
  CROSS JOIN (VALUES ('first content'), ('end')) AS k (about)
  LEFT JOIN sum_known AS s ON s.run = a.run AND s.request_id = a.request_id
), waited AS (
  SELECT k.run, k.request_id, '(all)' AS load_point, '(all)' AS tenant, '(all)' AS input_bin, '(all)' AS output_bin, '(all)' AS window_start,
    p.about, k.part, p.place, p.word, k.low_ms, k.high_ms, 1 AS n
  FROM known AS k
  JOIN asked AS p ON p.part = k.part
  UNION ALL
  SELECT u.run, u.request_id, '(all)', '(all)', '(all)', '(all)', '(all)', u.about, 'unseen', 11, NULL, 0, u.high_ms, 1
  FROM unseen AS u
  WHERE u.high_ms IS NOT NULL
  UNION ALL
  SELECT q.run, NULL, q.load_point, q.tenant, q.input_bin, q.output_bin, q.window_start, p.about, q.metric, p.place, p.word, q.low, q.high, q.n
  FROM middle AS q
  JOIN asked AS p ON p.part = q.metric
  WHERE NOT (q.load_point = '(all)' AND q.tenant = '(all)' AND q.input_bin = '(all)' AND q.output_bin = '(all)' AND q.window_start = '(all)')
)
SELECT
  w.run, w.request_id, w.load_point, w.tenant, w.input_bin, w.output_bin, w.window_start, w.about, w.part, w.place, w.word,
  w.low_ms, w.high_ms, t.low_ms AS median_low_ms, t.high_ms AS median_high_ms, w.n, t.n AS median_n,
  w.low_ms - t.high_ms AS excess_low_ms, w.high_ms - coalesce(t.low_ms, 0) AS excess_high_ms
FROM waited AS w
LEFT JOIN typical AS t ON t.run = w.run AND t.part = w.part;

COMMENT ON VIEW excess IS 'One row per counted request or stratum, end that is asked about, and wait before it: by how much it is longer than the median of that wait over the run''s ok requests';
COMMENT ON COLUMN excess.request_id IS 'The request; NULL where the row is about a stratum''s own median';
COMMENT ON COLUMN excess.about IS 'first content or end: what the wait lies before';
COMMENT ON COLUMN excess.part IS 'A stage, retries (what was tried before the answering attempt), unattributed, or unseen: what nothing accounts for';
COMMENT ON COLUMN excess.place IS 'Order of the waits';
COMMENT ON COLUMN excess.word IS 'What a diagnosis calls it; NULL where it points to nobody';
COMMENT ON COLUMN excess.low_ms IS 'The wait, lower end, ms';
COMMENT ON COLUMN excess.high_ms IS 'The wait, upper end, ms';
COMMENT ON COLUMN excess.median_low_ms IS 'Median of this wait over ok requests of the run, lower end, ms';
COMMENT ON COLUMN excess.median_high_ms IS 'Its upper end, ms';
COMMENT ON COLUMN excess.n IS 'Requests behind the wait: 1, or those of the stratum';
COMMENT ON COLUMN excess.median_n IS 'ok requests behind the median';
COMMENT ON COLUMN excess.excess_low_ms IS 'Longer than the median by at least this, ms; NULL where the run has no median of it';
COMMENT ON COLUMN excess.excess_high_ms IS 'Longer than the median by at most this, ms';
