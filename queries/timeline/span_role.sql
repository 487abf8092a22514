-- What each span is about. Matched by scope and attribute; a name alone decides little.
CREATE TABLE span_role AS
WITH machine AS (
  -- Processes that name the machine they ran on share its clock.
  SELECT run, clock, 'host ' || min(host) AS host_clock
  FROM span_look
  WHERE host IS NOT NULL
  GROUP BY run, clock
  HAVING count(DISTINCT host) = 1
), look AS (
  SELECT l.* EXCLUDE (clock), coalesce(m.host_clock, l.clock) AS clock
  FROM span_look AS l
  LEFT JOIN machine AS m ON m.run = l.run AND m.clock = l.clock
), service_kind AS (
  SELECT
    run, clock, coalesce(service, '') AS service,
    bool_or(looks = 'engine') AS is_engine,
    bool_or(looks IN ('http', 'gateway')) AS is_server
  FROM look
  GROUP BY ALL
)
SELECT
  f.*,
  coalesce(k.is_server, false) AND NOT coalesce(k.is_engine, false) AS in_gateway,
  CASE
    WHEN looks = 'engine' THEN 'engine'
    -- A request that the engine's own HTTP layer refused has no engine span.
    WHEN looks = 'http' AND k.is_engine AND status_code >= 400 THEN 'engine'
    WHEN looks IN ('http', 'gateway') AND NOT k.is_engine THEN 'gateway'
    WHEN looks = 'call' AND NOT coalesce(k.is_server OR k.is_engine, false) THEN 'client'
  END AS role
FROM look AS f
JOIN service_kind AS k
  ON k.run = f.run AND k.clock = f.clock AND k.service = coalesce(f.service, '');

COMMENT ON TABLE span_role IS 'One row per span that a rule is about, with the part it plays: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_role.role IS 'Which side''s view of an attempt the span is: client, gateway, engine, or NULL';
COMMENT ON COLUMN span_role.in_gateway IS 'Its service takes requests and passes them on';
COMMENT ON COLUMN span_role.path IS 'Route or path of an HTTP span';
COMMENT ON COLUMN span_role.request_id IS 'Request id that the span carries';
