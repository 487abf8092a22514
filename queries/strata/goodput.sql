-- Requests per second that kept each promise, of those that arrived in the run's window.
CREATE VIEW goodput AS
SELECT
  a.*,
  CASE WHEN a.window_start = '(all)' AND w.length_s > 0 THEN a.good / w.length_s END AS per_s,
  CASE WHEN a.window_start = '(all)' AND w.length_s > 0 THEN (a.good + a.undetermined + a.unknown) / w.length_s END AS per_s_high,
  w.length_s AS window_s, w.basis AS window_basis
FROM attainment AS a
LEFT JOIN run_window AS w ON w.run = a.run
WHERE a.load_point = '(all)' OR (SELECT count(DISTINCT coalesce(r.load_point, '(none)')) FROM request AS r WHERE r.run = a.run AND r.counted) = 1;

COMMENT ON VIEW goodput IS 'One row per promise and stratum: requests that kept it per second of the run''s window; rates per load point are left out where several share the window';
COMMENT ON COLUMN goodput.n IS 'Requests to which the promise applies';
COMMENT ON COLUMN goodput.per_s IS 'Requests that surely kept it, per second';
COMMENT ON COLUMN goodput.per_s_high IS 'Requests that may have kept it, per second';
COMMENT ON COLUMN goodput.share_low IS 'Share that surely kept it';
COMMENT ON COLUMN goodput.share_high IS 'Share that may have kept it';
COMMENT ON COLUMN goodput.ci_low IS 'Lower end of the 95 % Wilson interval of share_low';
COMMENT ON COLUMN goodput.ci_high IS 'Upper end of the 95 % Wilson interval of share_high';
COMMENT ON COLUMN goodput.why IS 'Why there is no share';
COMMENT ON COLUMN goodput.window_s IS 'Length of the window that the rate divides by, seconds';
COMMENT ON COLUMN goodput.window_basis IS 'Whether the window was declared';
