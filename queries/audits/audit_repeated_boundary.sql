-- Log lines that tell the same boundary of one attempt twice, at different times: a reused id, or two writers.
CREATE VIEW audit_repeated_boundary AS
SELECT run, 'repeated boundary' AS audit, 'fault' AS severity, request AS subject,
  event || ' stands at ' || count(DISTINCT time_ns) || ' different times in one view of one attempt; is the id used twice?' AS detail,
  count(*) AS n
FROM event_line
WHERE event IN ('scheduled', 'sent', 'arrived', 'admitted', 'started', 'first_token', 'first_content', 'done')
GROUP BY run, observation_id, request, event
HAVING count(DISTINCT time_ns) > 1;

COMMENT ON VIEW audit_repeated_boundary IS 'Boundaries that one view of one attempt tells at several times; empty when healthy';
