-- Engine spans whose queue and prefill are longer than their time to first token: the stages overlap.
CREATE VIEW audit_negative_slack AS
SELECT a.run, 'stages overlap' AS audit, 'warning' AS severity, 'queue and prefill' AS subject,
  'queue and prefill together exceed the time to first token, by up to '
    || round(max(d.queue_ms + d.prefill_ms - (a.engine_first_token_ns - a.engine_arrived_ns) / 1e6), 3) || ' ms' AS detail,
  count(*) AS n
FROM attempt AS a
JOIN engine_duration AS d ON d.attempt_id = a.attempt_id
WHERE d.queue_ms + d.prefill_ms > (a.engine_first_token_ns - a.engine_arrived_ns) / 1e6 + 0.001
GROUP BY a.run;

COMMENT ON VIEW audit_negative_slack IS 'Engine spans whose stated stages exceed their time to first token; empty when healthy';
