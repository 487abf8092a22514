-- How many attempts each side had at once, by what they were doing there; intervals are half open.
CREATE VIEW occupancy AS
WITH stay AS (
  SELECT
    run, 'engine' AS side, engine_clock AS clock, engine_clock_kind AS clock_kind,
    coalesce(engine_admitted_ns, engine_admitted_high_ns, engine_arrived_ns) AS entered_ns,
    coalesce(engine_started_ns, engine_started_high_ns) AS began_ns, coalesce(engine_done_ns, engine_last_token_ns) AS left_ns
  FROM attempt
  WHERE engine_clock_kind <> 'duration' AND engine_rejected_ns IS NULL AND NOT (outcome = 'rejected' AND decided_by = 'engine')
  UNION ALL
  SELECT run, 'gateway', gateway_clock, gateway_clock_kind, coalesce(gateway_admitted_ns, gateway_arrived_ns), gateway_first_content_ns, gateway_done_ns
  FROM attempt
  WHERE gateway_clock_kind <> 'duration' AND gateway_rejected_ns IS NULL
  UNION ALL
  SELECT run, 'client', client_clock, client_clock_kind, client_sent_ns, client_first_content_ns, client_done_ns
  FROM attempt
  WHERE client_clock_kind <> 'duration'
), timed AS (
  -- What ended before it began is no stay, and of one without an end nobody knows how long it was there.
  SELECT *, CASE WHEN began_ns >= entered_ns AND (left_ns IS NULL OR left_ns >= began_ns) THEN began_ns END AS works_ns
  FROM stay
  WHERE entered_ns IS NOT NULL AND left_ns >= entered_ns
), step AS (
  SELECT run, side, clock, clock_kind, entered_ns AS at_ns, 1 AS here, 0 AS working FROM timed
  UNION ALL
  SELECT run, side, clock, clock_kind, works_ns, 0, 1 FROM timed WHERE works_ns IS NOT NULL
  UNION ALL
  SELECT run, side, clock, clock_kind, left_ns, -1, CASE WHEN works_ns IS NOT NULL THEN -1 ELSE 0 END FROM timed WHERE left_ns IS NOT NULL
), net AS (
  SELECT run, side, clock, clock_kind, at_ns, sum(here)::BIGINT AS here, sum(working)::BIGINT AS working FROM step GROUP BY run, side, clock, clock_kind, at_ns
), level AS (
  SELECT
    run, side, clock, clock_kind, at_ns, lead(at_ns) OVER (PARTITION BY run, side, clock, clock_kind ORDER BY at_ns) AS next_ns,
    sum(here) OVER w AS here, sum(working) OVER w AS working
  FROM net
  WINDOW w AS (PARTITION BY run, side, clock, clock_kind ORDER BY at_ns ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
), peak AS (
  SELECT run, side, clock, clock_kind, max(here)::BIGINT AS peak_in_flight, max(working)::BIGINT AS peak_working, max(here - working)::BIGINT AS peak_waiting,
    -- Of the time in which more than one was there.
    (sum(next_ns - at_ns) FILTER (here > 1 AND working > 0))::DOUBLE / nullif(sum(next_ns - at_ns) FILTER (here > 1), 0)::DOUBLE AS busy_share
  FROM level
  GROUP BY run, side, clock, clock_kind
), size AS (
  SELECT run, side, clock, clock_kind, count(*) AS n, count(works_ns) FILTER (left_ns > works_ns) AS worked FROM timed GROUP BY run, side, clock, clock_kind
)
SELECT
  p.run, p.side, p.clock, p.clock_kind, s.n, s.worked, p.peak_in_flight,
  CASE WHEN s.worked > 0 THEN p.peak_working END AS peak_working, CASE WHEN s.worked > 0 THEN p.peak_waiting END AS peak_waiting, p.busy_share
FROM peak AS p
JOIN size AS s ON s.run = p.run AND s.side = p.side AND s.clock = p.clock AND s.clock_kind = p.clock_kind;

COMMENT ON VIEW occupancy IS 'One row per run, side and clock: the most attempts that were there at once';
COMMENT ON COLUMN occupancy.n IS 'Attempts that were there, and whose end was recorded';
COMMENT ON COLUMN occupancy.worked IS 'Of those, seen to be worked on for a time: run by the engine, or streamed to the client';
COMMENT ON COLUMN occupancy.peak_in_flight IS 'Most at once from admitted, arrived or sent to done';
COMMENT ON COLUMN occupancy.peak_working IS 'Most at once from started (engine) or first content (gateway, client) to done; NULL where neither was recorded';
COMMENT ON COLUMN occupancy.peak_waiting IS 'Most at once before that';
COMMENT ON COLUMN occupancy.busy_share IS 'Of the time in which more than one was there: share in which at least one was worked on';
