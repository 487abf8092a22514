-- Calls that were made within the run of an agent, each with the outermost run around it.
CREATE TABLE span_agent AS
WITH RECURSIVE agent AS (
  SELECT DISTINCT run, trace_id, span_id FROM span_look WHERE looks = 'agent'
), climb AS (
  SELECT v.run, v.trace_id, v.span_id, v.kind, v.parent_span_id AS up, 1 AS steps, NULL::VARCHAR AS agent_span_id
  FROM span_view AS v
  WHERE v.role = 'client' AND v.parent_span_id IS NOT NULL
    AND EXISTS (SELECT 1 FROM agent AS a WHERE a.run = v.run AND a.trace_id = v.trace_id)
  UNION ALL
  SELECT c.run, c.trace_id, c.span_id, c.kind, s.parent_span_id, c.steps + 1, coalesce(a.span_id, c.agent_span_id)
  FROM climb AS c
  JOIN span AS s ON s.run = c.run AND s.trace_id = c.trace_id AND s.span_id = c.up
  LEFT JOIN agent AS a ON a.run = c.run AND a.trace_id = c.trace_id AND a.span_id = c.up
  WHERE c.steps < 32
)
SELECT run, trace_id, span_id, arg_max(agent_span_id, steps) FILTER (agent_span_id IS NOT NULL) AS agent_span_id
FROM climb
GROUP BY run, trace_id, span_id
HAVING count(agent_span_id) > 0;

COMMENT ON TABLE span_agent IS 'One row per call that was made within the run of an agent: a branch of what the user asked for';
COMMENT ON COLUMN span_agent.agent_span_id IS 'Span of the outermost run of an agent around it';
