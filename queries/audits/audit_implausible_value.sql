-- Engine durations that cannot be one: negative, sentinel, not a number. Raw value kept, NULL in results.
CREATE VIEW audit_implausible_value AS
SELECT run, 'implausible value' AS audit, 'fault' AS severity, what AS subject,
  'not a duration, for example ' || min(value) || ' s; kept raw and not used' AS detail, count(*) AS n
FROM (
  SELECT run, unnest(['time_to_first_token', 'time_in_queue', 'time_in_model_prefill', 'time_in_model_decode']) AS what,
    unnest([ttft_text, queue_text, prefill_text, decode_text]) AS value
  FROM span_observation WHERE side = 'engine' AND coalesce(output_tokens, 2) > 1
)
WHERE value IS NOT NULL AND NOT coalesce(TRY_CAST(value AS DOUBLE) > 0 AND TRY_CAST(value AS DOUBLE) <= 1e6, false)
GROUP BY run, what;

COMMENT ON VIEW audit_implausible_value IS 'Engine durations that cannot be one: negative, sentinel, not a number. Raw value kept, NULL in results; empty when healthy';
