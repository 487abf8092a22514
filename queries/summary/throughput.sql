-- Raw rates of a run: what was offered and what was answered, per second of its window.
CREATE VIEW throughput AS
SELECT
  l.run, l.offered, l.ok, l.attempts, w.length_s AS window_s, w.basis AS window_basis,
  CASE WHEN w.length_s > 0 THEN l.offered / w.length_s END AS offered_per_s,
  CASE WHEN w.length_s > 0 AND l.unresolved < l.offered THEN l.ok / w.length_s END AS ok_per_s
FROM ledger AS l
JOIN run_window AS w ON w.run = l.run
WHERE l.load_point = '(all)';

COMMENT ON VIEW throughput IS 'One row per run: requests of the arrival cohort offered and answered, per second of the run''s window';
COMMENT ON COLUMN throughput.offered IS 'Requests in the population';
COMMENT ON COLUMN throughput.ok IS 'Requests of which an attempt was ok';
COMMENT ON COLUMN throughput.window_s IS 'Length of the window that the rates divide by, seconds';
COMMENT ON COLUMN throughput.window_basis IS 'Whether the window was declared';
COMMENT ON COLUMN throughput.offered_per_s IS 'Requests offered per second';
COMMENT ON COLUMN throughput.ok_per_s IS 'Requests answered per second, good or late; NULL where no end of any is recorded';
