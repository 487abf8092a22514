-- Of the waits of a request or stratum, the one that surely grew most, beside the most that any other can have grown.
CREATE VIEW greatest_excess AS
WITH ranked AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY run, request_id, load_point, tenant, input_bin, output_bin, window_start, about
      ORDER BY excess_low_ms DESC NULLS LAST, place) AS rank
  FROM excess
)
SELECT
  run, request_id, load_point, tenant, input_bin, output_bin, window_start, about,
  max(part) FILTER (rank = 1) AS part, max(word) FILTER (rank = 1) AS word, max(n) FILTER (rank = 1) AS n,
  max(low_ms) FILTER (rank = 1) AS low_ms, max(high_ms) FILTER (rank = 1) AS high_ms,
  max(median_low_ms) FILTER (rank = 1) AS median_low_ms, max(median_high_ms) FILTER (rank = 1) AS median_high_ms,
  max(median_n) FILTER (rank = 1) AS median_n,
  max(excess_low_ms) FILTER (rank = 1) AS excess_low_ms, max(excess_high_ms) FILTER (rank = 1) AS excess_high_ms,
  arg_max(part, {'ms': excess_high_ms, 'place': -place}) FILTER (rank > 1) AS other_part, max(excess_high_ms) FILTER (rank > 1) AS other_high_ms,
  CASE
    WHEN max(excess_high_ms) <= 0 THEN 'no excess'
    WHEN max(excess_low_ms) FILTER (rank = 1) > 0 AND max(excess_low_ms) FILTER (rank = 1) > coalesce(max(excess_high_ms) FILTER (rank > 1), 0)
      THEN coalesce(max(word) FILTER (rank = 1), 'not enough evidence')
    ELSE 'not enough evidence' END AS finding
FROM ranked
GROUP BY run, request_id, load_point, tenant, input_bin, output_bin, window_start, about;

COMMENT ON VIEW greatest_excess IS 'One row per counted request or stratum and end that is asked about: the wait that grew most against the run''s median, and the runner-up';
COMMENT ON COLUMN greatest_excess.request_id IS 'The request; NULL where the row is about a stratum''s own median';
COMMENT ON COLUMN greatest_excess.about IS 'first content or end: what the waits lie before';
COMMENT ON COLUMN greatest_excess.part IS 'The wait whose excess is surely the greatest';
COMMENT ON COLUMN greatest_excess.word IS 'What a diagnosis calls it; NULL where it points to nobody';
COMMENT ON COLUMN greatest_excess.n IS 'Requests behind that wait: 1, or those of the stratum';
COMMENT ON COLUMN greatest_excess.low_ms IS 'That wait, lower end, ms';
COMMENT ON COLUMN greatest_excess.high_ms IS 'That wait, upper end, ms';
COMMENT ON COLUMN greatest_excess.median_low_ms IS 'Its median over ok requests of the run, lower end, ms';
COMMENT ON COLUMN greatest_excess.median_high_ms IS 'Its median, upper end, ms';
COMMENT ON COLUMN greatest_excess.median_n IS 'ok requests behind the median';
COMMENT ON COLUMN greatest_excess.excess_low_ms IS 'Longer than the median by at least this, ms';
COMMENT ON COLUMN greatest_excess.excess_high_ms IS 'Longer than the median by at most this, ms';
COMMENT ON COLUMN greatest_excess.other_part IS 'The wait that may have grown most besides';
COMMENT ON COLUMN greatest_excess.other_high_ms IS 'By at most this, ms';
COMMENT ON COLUMN greatest_excess.finding IS 'Who holds the excess, if its least is more than the most of any other; else not enough evidence, or no excess';
