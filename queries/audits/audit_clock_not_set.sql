-- Wall-clock times before the year 2000: the clock was not running, or is none.
CREATE VIEW audit_clock_not_set AS
SELECT run, 'clock not set' AS audit, 'fault' AS severity, clock AS subject,
  'times before the year 2000 on a wall clock are kept raw and not used' AS detail, count(*) AS n
FROM (
  SELECT run, clock FROM event WHERE clock_kind = 'wall' AND time_ns < 946684800000000000
  UNION ALL
  SELECT run, clock FROM span WHERE start_ns < 946684800000000000 OR end_ns < 946684800000000000
)
GROUP BY run, clock;

COMMENT ON VIEW audit_clock_not_set IS 'Wall-clock times before the year 2000; empty when healthy';
