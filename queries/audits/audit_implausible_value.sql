-- Durations of spans that cannot be one: negative, sentinel, not a number. Raw value kept, NULL in results.
CREATE VIEW audit_implausible_value AS
SELECT run, 'implausible value' AS audit, 'fault' AS severity, told['key'] AS subject,
  'not a duration, for example ' || min(told['text']) || CASE told['unit'] WHEN 'text' THEN '' ELSE ' ' || told['unit'] END
    || '; kept raw and not used' AS detail, count(*) AS n
FROM (SELECT run, unnest(durations) AS told FROM span_observation)
WHERE told['text'] IS NOT NULL AND told['ns'] IS NULL
GROUP BY run, told['key'], told['unit'];

COMMENT ON VIEW audit_implausible_value IS 'Durations of spans that cannot be one: negative, sentinel, not a number. Raw value kept, NULL in results; empty when healthy';
