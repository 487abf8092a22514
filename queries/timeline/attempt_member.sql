-- Which views belong to one attempt. A view joins an outer one when an id says so and says it of one attempt only.
CREATE TABLE attempt_member AS
WITH numbered AS MATERIALIZED (
  -- Ids are long texts: the work is done with numbers, in the order of the ids, and the ids stand again at the end.
  SELECT
    row_number() OVER (ORDER BY observation_id) AS no,
    observation_id, run, origin, side, request_id, attempt, repeat, trace_id, span_id, try_span_id, parent_span_id, view_id, response_id,
    tried_in IS NOT NULL AS is_try,
    CASE side WHEN 'client' THEN 0 WHEN 'gateway' THEN 2 ELSE 4 END + CASE origin WHEN 'event' THEN 0 ELSE 1 END AS rank
  FROM observation
), ranked AS MATERIALIZED (
  -- A trace, and a group of outputs, is called by its first view.
  SELECT
    no, run, origin, side, rank, span_id, try_span_id, parent_span_id, request_id, response_id, is_try,
    -- Both sides of an event log number their tries; a view without a number may be any of them.
    CASE WHEN origin = 'event' THEN attempt END AS attempt,
    CASE WHEN trace_id IS NOT NULL THEN min(no) OVER (PARTITION BY run, trace_id) END AS trace,
    min(no) OVER (PARTITION BY view_id) AS sibling,
    CASE WHEN origin = 'event'
      THEN concat_ws('|', side, request_id, attempt, coalesce(trace_id, ''), coalesce(repeat::VARCHAR, '')) END AS logged
  FROM numbered
), whole AS (
  -- An earlier try of a call is an attempt of its own: nothing but the parent that a span names joins it.
  SELECT * FROM ranked WHERE NOT is_try
), id_told AS (
  SELECT no, run, rank, attempt, trace, sibling, request_id AS key FROM whole
  UNION ALL
  SELECT no, run, rank, attempt, trace, sibling, response_id FROM whole
  UNION ALL
  -- An engine wraps the header id: chatcmpl-<id>, and cmpl-<id>-<n> with one number per prompt.
  SELECT no, run, rank, attempt, trace, sibling, regexp_replace(response_id, '^chatcmpl-', '') FROM whole
  WHERE response_id LIKE 'chatcmpl-%'
  UNION ALL
  SELECT no, run, rank, attempt, trace, sibling, regexp_replace(response_id, '-[0-9]+$', '') FROM whole
  WHERE side = 'engine' AND regexp_matches(response_id, '^cmpl-.*-[0-9]+$')
  UNION ALL
  SELECT no, run, rank, attempt, trace, sibling, regexp_replace(regexp_replace(response_id, '^cmpl-', ''), '-[0-9]+$', '') FROM whole
  WHERE side = 'engine' AND regexp_matches(response_id, '^cmpl-.*-[0-9]+$')
), id_key AS MATERIALIZED (
  SELECT DISTINCT no, rank, attempt, trace, sibling, key
  FROM (SELECT no, rank, attempt, trace, sibling, min(no) OVER (PARTITION BY run, key) AS key FROM id_told WHERE key IS NOT NULL)
), outer_span AS (
  SELECT no, rank, trace, span_id FROM ranked
  UNION ALL
  SELECT no, rank, trace, try_span_id FROM ranked WHERE try_span_id IS NOT NULL
), link AS (
  -- 1: same id in the same trace
  SELECT i.no, i.rank AS inner_rank, i.sibling, o.no AS outer_no, o.rank AS outer_rank, 1 AS rule
  FROM id_key AS i
  JOIN id_key AS o ON o.key = i.key AND o.trace = i.trace AND o.rank < i.rank
    AND (i.attempt = o.attempt OR i.attempt IS NULL OR o.attempt IS NULL)
  UNION ALL
  -- 2: the span's parent is the outer view
  SELECT i.no, i.rank, i.sibling, o.no, o.rank, 2
  FROM whole AS i
  JOIN outer_span AS o ON o.trace = i.trace AND o.span_id = i.parent_span_id AND o.rank < i.rank
  UNION ALL
  -- 3: same id where one of the two has no trace
  SELECT i.no, i.rank, i.sibling, o.no, o.rank, 3
  FROM id_key AS i
  JOIN id_key AS o ON o.key = i.key AND o.rank < i.rank AND (o.trace IS NULL OR i.trace IS NULL)
    AND (i.attempt = o.attempt OR i.attempt IS NULL OR o.attempt IS NULL)
  UNION ALL
  -- 4: same trace
  SELECT i.no, i.rank, i.sibling, o.no, o.rank, 4
  FROM whole AS i
  JOIN whole AS o ON o.trace = i.trace AND o.rank < i.rank
    AND (i.attempt = o.attempt OR i.attempt IS NULL OR o.attempt IS NULL)
  UNION ALL
  -- 5: same id although the traces differ, as when a gateway starts a trace of its own
  SELECT i.no, i.rank, i.sibling, o.no, o.rank, 5
  FROM id_key AS i
  JOIN id_key AS o ON o.key = i.key AND o.rank < i.rank AND o.trace <> i.trace
    AND (i.attempt = o.attempt OR i.attempt IS NULL OR o.attempt IS NULL)
), judged AS (
  SELECT
    no, outer_no, rule, outer_rank,
    count(*) OVER (PARTITION BY no, rule, outer_rank) = 1 AS one_choice,
    min(sibling) OVER claim = max(sibling) OVER claim AS one_claim
  FROM (SELECT DISTINCT no, inner_rank, sibling, outer_no, outer_rank, rule FROM link)
  WINDOW claim AS (PARTITION BY outer_no, rule, inner_rank)
), choice AS (
  SELECT
    no,
    arg_min(outer_no, rule * 8 + outer_rank) FILTER (one_choice AND (rule NOT IN (3, 5) OR one_claim)) AS outer_no,
    min(rule) FILTER (one_choice AND (rule NOT IN (3, 5) OR one_claim)) AS rule,
    bool_or(NOT one_choice) AS had_choices
  FROM judged
  GROUP BY no
), peer AS (
  -- Without an outer view: siblings (n > 1), and the clocks of one logged attempt, gather under the first of them.
  SELECT no, min(no) OVER (PARTITION BY run, logged, rank, CASE WHEN logged IS NULL THEN sibling END, CASE WHEN is_try THEN no END) AS first_no
  FROM ranked
), step AS MATERIALIZED (
  SELECT
    p.no, coalesce(c.outer_no, p.first_no) AS up, c.rule,
    coalesce(c.outer_no IS NULL AND c.had_choices, false) AS ambiguous
  FROM peer AS p
  LEFT JOIN choice AS c ON c.no = p.no
), root AS (
  SELECT s0.no, coalesce(s5.up, s4.up, s3.up, s2.up, s1.up, s0.up) AS root_no, s0.rule, s0.ambiguous
  FROM step AS s0
  LEFT JOIN step AS s1 ON s1.no = s0.up
  LEFT JOIN step AS s2 ON s2.no = s1.up
  LEFT JOIN step AS s3 ON s3.no = s2.up
  LEFT JOIN step AS s4 ON s4.no = s3.up
  LEFT JOIN step AS s5 ON s5.no = s4.up
)
SELECT n.run, n.observation_id, o.observation_id AS root_id, r.rule AS join_rule, r.ambiguous
FROM root AS r
JOIN numbered AS n ON n.no = r.no
JOIN numbered AS o ON o.no = r.root_no;

COMMENT ON TABLE attempt_member IS 'One row per view with the outermost view of its attempt, and how they were joined';
COMMENT ON COLUMN attempt_member.root_id IS 'The outermost view of the attempt that this one belongs to';
COMMENT ON COLUMN attempt_member.join_rule IS '1 same id in one trace, 2 parent span, 3 same id without a trace to compare, 4 same trace, 5 same id in other traces; NULL: it is the outermost';
COMMENT ON COLUMN attempt_member.ambiguous IS 'An id matched several attempts, so the view was left on its own';
