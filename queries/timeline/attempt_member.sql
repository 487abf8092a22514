-- Which views belong to one attempt. A view joins an outer one when an id says so and says it of one attempt only.
CREATE TABLE attempt_member AS
WITH ranked AS (
  SELECT
    observation_id, run, side, origin, request_id, attempt, repeat, trace_id, span_id, parent_span_id,
    CASE side WHEN 'client' THEN 0 WHEN 'gateway' THEN 2 ELSE 4 END + CASE origin WHEN 'event' THEN 0 ELSE 1 END AS rank,
    view_id AS sibling,
    response_id
  FROM observation
), id_key AS (
  SELECT DISTINCT run, observation_id, rank, trace_id, sibling, key
  FROM (
    SELECT *, request_id AS key FROM ranked
    UNION ALL
    SELECT *, response_id FROM ranked
    UNION ALL
    -- An engine wraps the header id: chatcmpl-<id>, and cmpl-<id>-<n> with one number per prompt.
    SELECT *, regexp_replace(response_id, '^chatcmpl-', '') FROM ranked WHERE response_id LIKE 'chatcmpl-%'
    UNION ALL
    SELECT *, regexp_replace(response_id, '-[0-9]+$', '') FROM ranked
      WHERE side = 'engine' AND regexp_matches(response_id, '^cmpl-.*-[0-9]+$')
    UNION ALL
    SELECT *, regexp_replace(regexp_replace(response_id, '^cmpl-', ''), '-[0-9]+$', '') FROM ranked
      WHERE side = 'engine' AND regexp_matches(response_id, '^cmpl-.*-[0-9]+$')
  )
  WHERE key IS NOT NULL
), link AS (
  -- 1: same id in the same trace
  SELECT i.run, i.observation_id, i.rank AS inner_rank, i.sibling, o.observation_id AS outer_id, o.rank AS outer_rank, 1 AS rule
  FROM id_key AS i
  JOIN id_key AS o ON o.run = i.run AND o.key = i.key AND o.trace_id = i.trace_id AND o.rank < i.rank
  UNION ALL
  -- 2: the span's parent is the outer view
  SELECT i.run, i.observation_id, i.rank, i.sibling, o.observation_id, o.rank, 2
  FROM ranked AS i
  JOIN ranked AS o ON o.run = i.run AND o.trace_id = i.trace_id AND o.span_id = i.parent_span_id AND o.rank < i.rank
  UNION ALL
  -- 3: same id where one of the two has no trace
  SELECT i.run, i.observation_id, i.rank, i.sibling, o.observation_id, o.rank, 3
  FROM id_key AS i
  JOIN id_key AS o ON o.run = i.run AND o.key = i.key AND o.rank < i.rank
    AND (o.trace_id IS NULL OR i.trace_id IS NULL)
  UNION ALL
  -- 4: same trace
  SELECT i.run, i.observation_id, i.rank, i.sibling, o.observation_id, o.rank, 4
  FROM ranked AS i
  JOIN ranked AS o ON o.run = i.run AND o.trace_id = i.trace_id AND o.rank < i.rank
  UNION ALL
  -- 5: same id although the traces differ, as when a gateway starts a trace of its own
  SELECT i.run, i.observation_id, i.rank, i.sibling, o.observation_id, o.rank, 5
  FROM id_key AS i
  JOIN id_key AS o ON o.run = i.run AND o.key = i.key AND o.rank < i.rank AND o.trace_id <> i.trace_id
), distinct_link AS (
  SELECT DISTINCT run, observation_id, inner_rank, sibling, outer_id, outer_rank, rule FROM link
), judged AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY run, observation_id, rule, outer_rank) AS outer_choices,
    count(DISTINCT sibling) OVER (PARTITION BY run, outer_id, rule, inner_rank) AS inner_claims
  FROM distinct_link
), choice AS (
  SELECT
    run, observation_id,
    arg_min(outer_id, {'rule': rule, 'rank': outer_rank})
      FILTER (outer_choices = 1 AND (rule NOT IN (3, 5) OR inner_claims = 1)) AS outer_id,
    min(rule) FILTER (outer_choices = 1 AND (rule NOT IN (3, 5) OR inner_claims = 1)) AS rule,
    bool_or(outer_choices > 1) AS had_choices
  FROM judged
  GROUP BY run, observation_id
), peer AS (
  -- Without an outer view: siblings (n > 1), and the clocks of one logged attempt, gather under the first of them.
  SELECT
    r.run, r.observation_id,
    min(r.observation_id) OVER (PARTITION BY r.run, r.rank,
      CASE WHEN r.origin = 'event'
        THEN 'e|' || r.side || '|' || r.request_id || '|' || r.attempt || '|' || coalesce(r.trace_id, '') || '|' || coalesce(r.repeat::VARCHAR, '')
        ELSE 's|' || r.sibling END) AS first_id
  FROM ranked AS r
), step AS (
  SELECT
    p.run, p.observation_id, coalesce(c.outer_id, p.first_id) AS up, c.rule,
    coalesce(c.outer_id IS NULL AND c.had_choices, false) AS ambiguous
  FROM peer AS p
  LEFT JOIN choice AS c ON c.observation_id = p.observation_id
)
SELECT
  s0.run, s0.observation_id,
  coalesce(s5.up, s4.up, s3.up, s2.up, s1.up, s0.up) AS root_id,
  s0.rule AS join_rule, s0.ambiguous
FROM step AS s0
LEFT JOIN step AS s1 ON s1.observation_id = s0.up
LEFT JOIN step AS s2 ON s2.observation_id = s1.up
LEFT JOIN step AS s3 ON s3.observation_id = s2.up
LEFT JOIN step AS s4 ON s4.observation_id = s3.up
LEFT JOIN step AS s5 ON s5.observation_id = s4.up;

COMMENT ON TABLE attempt_member IS 'One row per view with the outermost view of its attempt, and how they were joined';
COMMENT ON COLUMN attempt_member.root_id IS 'The outermost view of the attempt that this one belongs to';
COMMENT ON COLUMN attempt_member.join_rule IS '1 same id in one trace, 2 parent span, 3 same id without a trace to compare, 4 same trace, 5 same id in other traces; NULL: it is the outermost';
COMMENT ON COLUMN attempt_member.ambiguous IS 'An id matched several attempts, so the view was left on its own';
