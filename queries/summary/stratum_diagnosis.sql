-- Which wait makes a stratum slower than the run as a whole.
CREATE VIEW stratum_diagnosis AS
SELECT
  run, load_point, tenant, input_bin, output_bin, window_start, about, finding, part, n, low_ms, high_ms,
  median_low_ms, median_high_ms, median_n, excess_low_ms, excess_high_ms, other_part, other_high_ms,
  CASE WHEN n < 20 THEN 'n too small' END AS note
FROM greatest_excess
WHERE request_id IS NULL;

COMMENT ON VIEW stratum_diagnosis IS 'One row per stratum and end that is asked about: which wait''s median is longer than the run''s, over ok requests, with the numbers that say so';
COMMENT ON COLUMN stratum_diagnosis.about IS 'first content or end';
COMMENT ON COLUMN stratum_diagnosis.finding IS 'As in diagnosis';
COMMENT ON COLUMN stratum_diagnosis.part IS 'The wait whose excess is surely the greatest';
COMMENT ON COLUMN stratum_diagnosis.n IS 'ok requests of the stratum that have that wait';
COMMENT ON COLUMN stratum_diagnosis.low_ms IS 'Its median in the stratum, lower end, ms';
COMMENT ON COLUMN stratum_diagnosis.high_ms IS 'Its median in the stratum, upper end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_low_ms IS 'Its median in the run, lower end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_high_ms IS 'Its median in the run, upper end, ms';
COMMENT ON COLUMN stratum_diagnosis.median_n IS 'ok requests of the run that have that wait';
COMMENT ON COLUMN stratum_diagnosis.excess_low_ms IS 'Longer by at least this, ms';
COMMENT ON COLUMN stratum_diagnosis.excess_high_ms IS 'Longer by at most this, ms';
COMMENT ON COLUMN stratum_diagnosis.other_part IS 'The wait that may have grown most besides';
COMMENT ON COLUMN stratum_diagnosis.other_high_ms IS 'By at most this, ms';
