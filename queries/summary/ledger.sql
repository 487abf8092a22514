-- The outcome ledger: what was offered, and how it ended; it balances.
CREATE VIEW ledger AS
SELECT
  run, load_point, offered, ok, rejected, timeout, cancelled, error, truncated, unsent, unresolved, attempts,
  ok_share, ok_ci_low, ok_ci_high
FROM stratum_ledger
WHERE tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)';

COMMENT ON VIEW ledger IS 'One row per run and load point: offered = ok + rejected + timeout + cancelled + error + truncated + unsent + unresolved';
COMMENT ON COLUMN ledger.offered IS 'Requests in the population';
COMMENT ON COLUMN ledger.ok IS 'Requests of which an attempt was ok';
COMMENT ON COLUMN ledger.rejected IS 'Requests refused at admission';
COMMENT ON COLUMN ledger.timeout IS 'Requests whose waiter gave up on time';
COMMENT ON COLUMN ledger.cancelled IS 'Requests whose waiter left for its own reason';
COMMENT ON COLUMN ledger.error IS 'Requests that ended in an error';
COMMENT ON COLUMN ledger.truncated IS 'Requests whose stream ended without its terminal event';
COMMENT ON COLUMN ledger.unsent IS 'Requests scheduled and never sent';
COMMENT ON COLUMN ledger.unresolved IS 'Requests whose end the data does not hold: still in flight when it ends, or never recorded';
COMMENT ON COLUMN ledger.ok_share IS 'ok / offered, requests; NULL where no end of any is recorded';
COMMENT ON COLUMN ledger.ok_ci_low IS 'Lower end of the 95 % Wilson interval of ok_share';
COMMENT ON COLUMN ledger.ok_ci_high IS 'Upper end of the 95 % Wilson interval of ok_share';
