-- The outcome ledger in every stratum: each balances, and the parts of a split sum to the whole.
CREATE VIEW stratum_ledger AS
SELECT
  run, load_point, tenant, input_bin, output_bin, window_start,
  sum(requests)::BIGINT AS offered,
  coalesce(sum(requests) FILTER (outcome = 'ok'), 0)::BIGINT AS ok,
  coalesce(sum(requests) FILTER (outcome = 'rejected'), 0)::BIGINT AS rejected,
  coalesce(sum(requests) FILTER (outcome = 'timeout'), 0)::BIGINT AS timeout,
  coalesce(sum(requests) FILTER (outcome = 'cancelled'), 0)::BIGINT AS cancelled,
  coalesce(sum(requests) FILTER (outcome = 'error'), 0)::BIGINT AS error,
  coalesce(sum(requests) FILTER (outcome = 'truncated'), 0)::BIGINT AS truncated,
  coalesce(sum(requests) FILTER (outcome = 'unsent'), 0)::BIGINT AS unsent,
  coalesce(sum(requests) FILTER (outcome = 'unresolved'), 0)::BIGINT AS unresolved,
  sum(attempts)::BIGINT AS attempts,
  -- Where no end is known at all, none is known to have been ok either: that is no share of 0.
  CASE WHEN offered > unresolved THEN ok / offered END AS ok_share,
  CASE WHEN offered > unresolved THEN wilson_low(ok, offered) END AS ok_ci_low,
  CASE WHEN offered > unresolved THEN wilson_high(ok, offered) END AS ok_ci_high
FROM outcome_count
GROUP BY run, load_point, tenant, input_bin, output_bin, window_start;

COMMENT ON VIEW stratum_ledger IS 'One row per stratum: offered = ok + rejected + timeout + cancelled + error + truncated + unsent + unresolved';
COMMENT ON COLUMN stratum_ledger.offered IS 'Requests in the population';
COMMENT ON COLUMN stratum_ledger.ok IS 'Requests of which an attempt was ok';
COMMENT ON COLUMN stratum_ledger.rejected IS 'Requests refused at admission';
COMMENT ON COLUMN stratum_ledger.timeout IS 'Requests whose waiter gave up on time';
COMMENT ON COLUMN stratum_ledger.cancelled IS 'Requests whose waiter left for its own reason';
COMMENT ON COLUMN stratum_ledger.error IS 'Requests that ended in an error';
COMMENT ON COLUMN stratum_ledger.truncated IS 'Requests whose stream ended without its terminal event';
COMMENT ON COLUMN stratum_ledger.unsent IS 'Requests scheduled and never sent';
COMMENT ON COLUMN stratum_ledger.unresolved IS 'Requests whose end the data does not hold: still in flight when it ends, or never recorded';
COMMENT ON COLUMN stratum_ledger.ok_share IS 'ok / offered, requests; NULL where no end of any is recorded';
COMMENT ON COLUMN stratum_ledger.ok_ci_low IS 'Lower end of the 95 % Wilson interval of ok_share';
COMMENT ON COLUMN stratum_ledger.ok_ci_high IS 'Upper end of the 95 % Wilson interval of ok_share';
