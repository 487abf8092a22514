-- How often all of k branches come back, measured, beside what independent branches would give.
CREATE VIEW fan_out_rate AS
SELECT
  run, branches, count(*) AS parents, count(*) FILTER (all_ok) AS all_ok,
  sum(ok_branches)::BIGINT / sum(branches)::BIGINT AS branch_share,
  count(*) FILTER (all_ok) / count(*) AS measured_share,
  pow(sum(ok_branches)::BIGINT / sum(branches)::BIGINT, branches) AS independent_share
FROM fan_out
WHERE counted
GROUP BY run, branches;

COMMENT ON VIEW fan_out_rate IS 'One row per run and number of required branches: the share of parents whose branches were all ok, measured and as independent branches would give it';
COMMENT ON COLUMN fan_out_rate.branches IS 'Branches that each of these parents needs';
COMMENT ON COLUMN fan_out_rate.parents IS 'Parents that need so many, and whose branches all count';
COMMENT ON COLUMN fan_out_rate.all_ok IS 'Parents of which every required branch is ok';
COMMENT ON COLUMN fan_out_rate.branch_share IS 'Share of their branches that are ok';
COMMENT ON COLUMN fan_out_rate.measured_share IS 'Share of the parents of which every branch is';
COMMENT ON COLUMN fan_out_rate.independent_share IS 'branch_share to the power of branches: right only if failures of branches have nothing to do with each other';
