-- Which wait makes a request slower than the run's own median request.
CREATE VIEW diagnosis AS
WITH way AS (
  -- Time on the way to the first server is part of what no stage covers, and known where clocks are related.
  SELECT
    a.attempt_id,
    CASE WHEN a.gateway_arrived_ns IS NOT NULL
      THEN a.gateway_arrived_ns + c.gateway_to_client_ns - a.client_sent_ns - c.gateway_to_client_error_ns
      ELSE a.engine_arrived_ns + c.engine_to_client_ns - a.client_sent_ns - c.engine_to_client_error_ns END / 1e6 AS network_low_ms
  FROM attempt AS a
  JOIN attempt_clock AS c ON c.attempt_id = a.attempt_id
), judged AS (
  SELECT
    g.*, r.outcome, r.load_point AS of_load_point, r.tenant AS of_tenant, r.answer_id, w.side,
    -- At most this much of the excess can lie elsewhere than on the way.
    g.part = 'unattributed' AND g.excess_low_ms > coalesce(g.other_high_ms, 0) AND 2 * (g.high_ms - n.network_low_ms) < g.excess_low_ms AS on_the_way,
    CASE WHEN g.about = 'first content'
      THEN CASE w.side WHEN 'client' THEN coalesce(m.ttft_scheduled_ms, m.ttft_ms) WHEN 'gateway' THEN m.ttft_gateway_ms ELSE m.ttft_engine_ms END
      -- A wait in the client counts where there was a schedule.
      ELSE CASE w.side WHEN 'client' THEN m.e2e_ms + coalesce(m.client_queue_high_ms, 0) WHEN 'gateway' THEN m.e2e_gateway_ms ELSE m.e2e_engine_ms END END AS total_ms,
    CASE WHEN g.about = 'first content'
      THEN CASE w.side WHEN 'client' THEN CASE WHEN m.ttft_scheduled_ms IS NOT NULL THEN 'ttft_scheduled' ELSE 'ttft' END WHEN 'gateway' THEN 'ttft_gateway' ELSE 'ttft_engine' END
      ELSE CASE w.side WHEN 'client' THEN CASE WHEN m.client_queue_high_ms IS NOT NULL THEN 'e2e from schedule' ELSE 'e2e' END WHEN 'gateway' THEN 'e2e_gateway' ELSE 'e2e_engine' END END AS metric
  FROM greatest_excess AS g
  JOIN run AS w ON w.run = g.run
  JOIN request AS r ON r.run = g.run AND r.request_id = g.request_id
  JOIN request_metric AS m ON m.run = g.run AND m.request_id = g.request_id
  JOIN way AS n ON n.attempt_id = r.answer_id
)
SELECT
  j.run, j.request_id, j.of_load_point AS load_point, j.of_tenant AS tenant, j.outcome, j.about, j.metric, j.total_ms, q.value AS median_total_ms,
  CASE WHEN j.total_ms IS NULL THEN 'not enough evidence' WHEN j.on_the_way THEN 'network' ELSE j.finding END AS finding,
  j.part, j.low_ms, j.high_ms, j.median_low_ms, j.median_high_ms, j.median_n, j.excess_low_ms, j.excess_high_ms, j.other_part, j.other_high_ms,
  CASE
    WHEN j.total_ms IS NULL THEN CASE j.about WHEN 'first content' THEN 'no time to first content' ELSE 'no end' END
    WHEN j.on_the_way OR j.finding <> 'not enough evidence' THEN NULL
    WHEN j.excess_low_ms IS NULL THEN 'no wait of it has a median to compare with'
    WHEN j.part = 'unattributed' AND j.excess_low_ms > coalesce(j.other_high_ms, 0) THEN 'the excess lies where no known wait does'
    WHEN j.other_part = 'unseen' THEN 'as much may lie where nothing was recorded'
    WHEN j.excess_low_ms <= 0 THEN 'no wait is surely longer than its median'
    ELSE 'the waits are not known closely enough to tell ' || j.part || ' from ' || j.other_part
  END AS why
FROM judged AS j
LEFT JOIN quantile AS q ON q.run = j.run AND q.metric = j.metric AND q.population = 'ok' AND q.q = 0.5 AND q.load_point = '(all)'
  AND q.tenant = '(all)' AND q.input_bin = '(all)' AND q.output_bin = '(all)' AND q.window_start = '(all)';

COMMENT ON VIEW diagnosis IS 'One row per counted request and end that is asked about: which wait holds what it is longer by than the run''s own medians, with the numbers that say so';
COMMENT ON COLUMN diagnosis.load_point IS 'Operating point of the run; NULL where it has none';
COMMENT ON COLUMN diagnosis.tenant IS 'Tenant; NULL where it has none';
COMMENT ON COLUMN diagnosis.about IS 'first content or end';
COMMENT ON COLUMN diagnosis.metric IS 'The time that is asked about, of the side that heads the run, from the schedule where there is one';
COMMENT ON COLUMN diagnosis.total_ms IS 'That time of this request, ms';
COMMENT ON COLUMN diagnosis.median_total_ms IS 'Its median over ok requests of the run, ms';
COMMENT ON COLUMN diagnosis.finding IS 'client, retries, network, admission, queue, prefill, kv_transfer, decode, delivery, no excess, or not enough evidence';
COMMENT ON COLUMN diagnosis.part IS 'The wait whose excess is surely the greatest';
COMMENT ON COLUMN diagnosis.low_ms IS 'That wait, lower end, ms';
COMMENT ON COLUMN diagnosis.high_ms IS 'That wait, upper end, ms';
COMMENT ON COLUMN diagnosis.median_low_ms IS 'Its median over ok requests of the run, lower end, ms';
COMMENT ON COLUMN diagnosis.median_high_ms IS 'Its median, upper end, ms';
COMMENT ON COLUMN diagnosis.median_n IS 'ok requests behind the median';
COMMENT ON COLUMN diagnosis.excess_low_ms IS 'Longer than the median by at least this, ms';
COMMENT ON COLUMN diagnosis.excess_high_ms IS 'Longer than the median by at most this, ms';
COMMENT ON COLUMN diagnosis.other_part IS 'The wait that may have grown most besides';
COMMENT ON COLUMN diagnosis.other_high_ms IS 'By at most this, ms';
COMMENT ON COLUMN diagnosis.why IS 'Why the evidence is not enough';
