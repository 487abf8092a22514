-- How many attempts a request cost, over the requests that count.
CREATE VIEW retry_amplification AS
WITH member AS (
  SELECT
    run, stratum_key(load_point) AS load_point, coalesce(window_start, '(none)') AS window_start, attempts, outcome
  FROM request
  WHERE counted
), summed AS (
  SELECT
    run, coalesce(load_point, '(all)') AS load_point, coalesce(window_start, '(all)') AS window_start,
    count(*) AS requests, sum(attempts)::BIGINT AS attempts, count(*) FILTER (attempts > 1) AS retried,
    count(*) FILTER (attempts > 1 AND outcome = 'ok') AS recovered, max(attempts) AS most
  FROM member
  GROUP BY run, GROUPING SETS ((), (load_point), (load_point, window_start))
)
SELECT
  s.run, s.load_point, s.window_start, s.requests, s.attempts, s.retried, s.recovered, s.most,
  s.attempts / s.requests AS amplification,
  CASE WHEN s.load_point = '(all)' AND s.window_start = '(all)' AND w.length_s > 0 THEN s.attempts / w.length_s END AS attempts_per_s
FROM summed AS s
LEFT JOIN run_window AS w ON w.run = s.run;

COMMENT ON VIEW retry_amplification IS 'One row per run, load point and window of arrival: attempts against requests';
COMMENT ON COLUMN retry_amplification.requests IS 'Requests that count';
COMMENT ON COLUMN retry_amplification.attempts IS 'Their attempts, first ones and retries alike';
COMMENT ON COLUMN retry_amplification.retried IS 'Requests with more than one attempt';
COMMENT ON COLUMN retry_amplification.recovered IS 'Of those, requests that ended ok';
COMMENT ON COLUMN retry_amplification.most IS 'The most attempts of one request';
COMMENT ON COLUMN retry_amplification.amplification IS 'Attempts per request';
COMMENT ON COLUMN retry_amplification.attempts_per_s IS 'Attempts per second of the run''s window; NULL in its parts';
