-- Streams that fell behind: content came ever later after the token that it holds.
CREATE VIEW audit_backpressure AS
SELECT
  run, 'delivery falls behind' AS audit, 'warning' AS severity, 'streams' AS subject,
  'the last content came up to ' || round(max(growth_ms), 1) || ' ms later after its token than the first did, up to '
    || coalesce(round(max(slope_ms_per_s), 1)::VARCHAR, 'all of it') || ' ms more with each second. Most: ' || arg_max(attempt_id, {'ms': growth_ms, 'id': attempt_id}) AS detail,
  count(*) AS n
FROM delivery_lag
-- Less than a tenth of the stream, or than what a person notices, is what sockets and batches of tokens do.
WHERE growth_ms > 100 AND (slope_ms_per_s > 100 OR emitted_ms = 0)
GROUP BY run;

COMMENT ON VIEW audit_backpressure IS 'Streams whose delivery lag grew by more than 100 ms and a tenth of their length; empty when healthy';
