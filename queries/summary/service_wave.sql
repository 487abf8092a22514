-- Attempts in the order in which an engine started them, in waves of as many as it ran at once.
CREATE VIEW service_wave AS
WITH started AS (
  SELECT
    a.run, a.engine_clock AS clock, a.engine_clock_kind AS clock_kind, coalesce(a.engine_started_ns, a.engine_started_high_ns) AS started_ns, a.engine_done_ns, o.peak_working AS slots,
    row_number() OVER (PARTITION BY a.run, a.engine_clock, a.engine_clock_kind ORDER BY coalesce(a.engine_started_ns, a.engine_started_high_ns), a.attempt_id) AS place
  FROM attempt AS a
  JOIN occupancy AS o ON o.run = a.run AND o.side = 'engine' AND o.clock = a.engine_clock AND o.clock_kind = a.engine_clock_kind
  WHERE coalesce(a.engine_started_ns, a.engine_started_high_ns) IS NOT NULL AND o.peak_working > 0
), numbered AS (
  SELECT *, (place - 1) // slots + 1 AS wave FROM started
)
SELECT
  run, clock, clock_kind, slots, wave, count(*) AS n,
  elapsed_ms(min(min(started_ns)) OVER (PARTITION BY run, clock, clock_kind), min(started_ns)) AS first_start_ms,
  elapsed_ms(min(min(started_ns)) OVER (PARTITION BY run, clock, clock_kind), max(engine_done_ns)) AS last_end_ms
FROM numbered
GROUP BY run, clock, clock_kind, slots, wave;

COMMENT ON VIEW service_wave IS 'One row per run, engine clock and wave: attempts in order of their start, as many in a wave as ran at once at the most. Equal jobs come in such waves; unequal ones overlap';
COMMENT ON COLUMN service_wave.slots IS 'Most attempts that ran at once';
COMMENT ON COLUMN service_wave.wave IS 'Number of the wave, from 1';
COMMENT ON COLUMN service_wave.n IS 'Attempts in it';
COMMENT ON COLUMN service_wave.first_start_ms IS 'Its first start since the first of all, ms';
COMMENT ON COLUMN service_wave.last_end_ms IS 'Its last end since the first start of all, ms';
