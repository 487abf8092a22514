-- The share of requests that kept each promise, in every stratum, as an interval where some cannot be judged.
CREATE VIEW attainment AS
SELECT
  a.slo, a.run, a.load_point, a.tenant, a.input_bin, a.output_bin, a.window_start,
  a.n, a.good, a.bad, a.undetermined, a.unknown, a.not_applicable,
  CASE WHEN a.n > 0 THEN a.good / a.n END AS share_low,
  CASE WHEN a.n > 0 THEN (a.good + a.undetermined + a.unknown) / a.n END AS share_high,
  wilson_low(a.good, a.n) AS ci_low,
  wilson_high(a.good + a.undetermined + a.unknown, a.n) AS ci_high,
  CASE WHEN a.n = 0 THEN 'no request to which the promise applies' END AS why
FROM attainment_count AS a;

COMMENT ON VIEW attainment IS 'One row per promise and stratum: the share of requests that kept it; undetermined and unknown ones make it an interval';
COMMENT ON COLUMN attainment.n IS 'Requests to which the promise applies: good, bad, undetermined and unknown';
COMMENT ON COLUMN attainment.share_low IS 'Share that surely kept it';
COMMENT ON COLUMN attainment.share_high IS 'Share that may have kept it';
COMMENT ON COLUMN attainment.ci_low IS 'Lower end of the 95 % Wilson interval of share_low';
COMMENT ON COLUMN attainment.ci_high IS 'Upper end of the 95 % Wilson interval of share_high';
COMMENT ON COLUMN attainment.why IS 'Why there is no share';
