-- Requests that need the answers of several others, and what their joining took.
CREATE VIEW fan_out AS
WITH branch AS (
  SELECT
    *,
    max(done_ns) OVER (PARTITION BY run, parent_request ORDER BY arrived_ns, done_ns, request_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns
  FROM (
    -- A branch is there when its answer is: a hedged copy that ends later holds nobody up.
    SELECT r.run, r.parent_request, r.request_id, r.outcome, r.counted, r.arrived_ns,
      CASE WHEN r.outcome <> 'ok' OR r.done_ns IS NULL THEN r.done_ns WHEN n.client_clock IS NOT NULL THEN n.client_done_ns
           WHEN n.gateway_clock IS NOT NULL THEN n.gateway_done_ns ELSE n.engine_done_ns END AS done_ns
    FROM request AS r
    JOIN attempt AS n ON n.attempt_id = r.answer_id
    WHERE r.parent_request IS NOT NULL AND r.required
  )
), read_on AS (
  -- The clocks that starts and ends were read from: times of two of them are not subtracted.
  SELECT b.run, b.parent_request, unnest([
    CASE WHEN coalesce(a.client_scheduled_ns, a.client_sent_ns) IS NOT NULL THEN a.client_clock_kind || ' ' || a.client_clock
         WHEN a.gateway_arrived_ns IS NOT NULL THEN a.gateway_clock_kind || ' ' || a.gateway_clock
         ELSE a.engine_clock_kind || ' ' || a.engine_clock END,
    CASE WHEN a.client_clock IS NOT NULL THEN a.client_clock_kind || ' ' || a.client_clock
         WHEN a.gateway_clock IS NOT NULL THEN a.gateway_clock_kind || ' ' || a.gateway_clock
         ELSE a.engine_clock_kind || ' ' || a.engine_clock END]) AS clock
  FROM branch AS b
  JOIN attempt AS a ON a.run = b.run AND a.request_id = b.request_id
), clock_count AS (
  SELECT run, parent_request, count(DISTINCT clock) AS clocks FROM read_on GROUP BY run, parent_request
), joined AS (
  SELECT
    run, parent_request,
    count(*) AS branches, count(*) FILTER (outcome = 'ok') AS ok_branches,
    count(*) FILTER (arrived_ns IS NULL OR done_ns IS NULL OR done_ns < arrived_ns) AS untimed, bool_and(counted) AS counted,
    arg_max(request_id, {'done': done_ns, 'id': request_id}) FILTER (done_ns IS NOT NULL) AS last_branch,
    sum(greatest(done_ns - greatest(arrived_ns, coalesce(before_ns, arrived_ns)), 0))::BIGINT AS path_ns,
    max(done_ns) - min(arrived_ns) AS whole_ns
  FROM branch
  GROUP BY run, parent_request
)
SELECT
  j.run, j.parent_request AS request_id, p.request_id IS NOT NULL AS parent_seen, p.outcome, j.branches, j.ok_branches,
  j.ok_branches = j.branches AS all_ok, coalesce(p.counted, j.counted) AS counted, j.last_branch,
  CASE WHEN j.untimed = 0 AND k.clocks = 1 THEN j.path_ns / 1e6 END AS path_ms,
  CASE WHEN j.untimed = 0 AND k.clocks = 1 THEN j.whole_ns / 1e6 END AS whole_ms,
  CASE WHEN j.untimed > 0 THEN 'not recorded' WHEN k.clocks > 1 THEN 'different clocks' END AS path_why
FROM joined AS j
JOIN clock_count AS k ON k.run = j.run AND k.parent_request = j.parent_request
LEFT JOIN request AS p ON p.run = j.run AND p.request_id = j.parent_request;

COMMENT ON VIEW fan_out IS 'One row per request that needs others: its required branches, and how long joining them took';
COMMENT ON COLUMN fan_out.parent_seen IS 'Whether the request itself is in the data';
COMMENT ON COLUMN fan_out.branches IS 'Branches that it needs';
COMMENT ON COLUMN fan_out.ok_branches IS 'Of those, ok';
COMMENT ON COLUMN fan_out.all_ok IS 'Whether all of them are';
COMMENT ON COLUMN fan_out.counted IS 'Whether the run''s numbers are about it: about the request itself where it is in the data, else about every one of its branches';
COMMENT ON COLUMN fan_out.last_branch IS 'The branch that ended last';
COMMENT ON COLUMN fan_out.path_ms IS 'Time in which at least one branch was at work: the slowest of parallel ones, the sum of serial ones, overlaps once, ms';
COMMENT ON COLUMN fan_out.whole_ms IS 'From the first branch''s start to the last one''s end, waiting between them included, ms';
COMMENT ON COLUMN fan_out.path_why IS 'Why neither is known';
