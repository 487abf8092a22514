-- How often each class of failures came, beside what shows it and what to do first.
CREATE VIEW failure_class_count AS
WITH failing AS (
  SELECT
    a.run, stratum_key(r.load_point) AS load_point, a.failure_class, a.attempt_id, a.attempt_id = r.answer_id AND r.outcome <> 'ok' AS decides,
    coalesce(a.error_type, CASE WHEN a.status_code >= 400 THEN 'status ' || a.status_code END, a.outcome) AS reason
  FROM attempt AS a
  JOIN request AS r ON r.run = a.run AND r.request_id = a.request_id AND r.counted
  WHERE a.failure_class IS NOT NULL
), reasoned AS (
  SELECT run, load_point, failure_class, reason, count(*) AS attempts, count(*) FILTER (decides) AS requests
  FROM failing
  GROUP BY run, load_point, failure_class, reason
  UNION ALL
  SELECT run, '(all)', failure_class, reason, count(*), count(*) FILTER (decides)
  FROM failing
  GROUP BY run, failure_class, reason
)
SELECT
  c.run, c.load_point, c.failure_class, sum(c.attempts)::BIGINT AS attempts, sum(c.requests)::BIGINT AS requests,
  arg_max(c.reason, {'n': c.attempts, 'reason': c.reason}) AS most_common, max(c.attempts) AS most_common_attempts,
  min(f.signal) AS signal, min(f.first_action) AS first_action
FROM reasoned AS c
JOIN failure_action AS f ON f.failure_class = c.failure_class
GROUP BY c.run, c.load_point, c.failure_class;

COMMENT ON VIEW failure_class_count IS 'One row per run, load point and class of failures, over the counted requests';
COMMENT ON COLUMN failure_class_count.attempts IS 'Their attempts that failed so, those that were tried again included';
COMMENT ON COLUMN failure_class_count.requests IS 'Requests that ended so';
COMMENT ON COLUMN failure_class_count.most_common IS 'The reason given most often: type of the error, status, or how it ended';
COMMENT ON COLUMN failure_class_count.most_common_attempts IS 'How often it was given';
COMMENT ON COLUMN failure_class_count.signal IS 'What shows such failures';
COMMENT ON COLUMN failure_class_count.first_action IS 'What to do first';
