-- One row per unit of user demand: its attempts put together, how it ended, and whether the run's numbers are about it.
CREATE TABLE request AS
WITH ordered AS (
  SELECT
    a.*,
    -- A clock that starts anew with each request tells how long, not when.
    CASE WHEN coalesce(a.client_clock_kind, a.gateway_clock_kind, a.engine_clock_kind) <> 'duration'
      THEN coalesce(a.client_scheduled_ns, a.client_sent_ns, a.gateway_arrived_ns, a.engine_arrived_ns) END AS arrival_ns,
    CASE WHEN coalesce(a.client_clock_kind, a.gateway_clock_kind, a.engine_clock_kind) = 'duration' THEN NULL
         WHEN a.client_clock IS NOT NULL THEN a.client_done_ns WHEN a.gateway_clock IS NOT NULL THEN a.gateway_done_ns
         ELSE a.engine_done_ns END AS end_ns,
    coalesce(a.client_clock_kind, a.gateway_clock_kind, a.engine_clock_kind) AS arrival_clock_kind,
    {'attempt': a.attempt, 'id': a.attempt_id} AS place
  FROM attempt AS a
), gathered AS (
  SELECT
    run, request_id,
    count(*) AS attempts,
    -- The answer is the first attempt that succeeded; without one the last attempt speaks.
    coalesce(arg_min(attempt_id, {'end': end_ns, 'place': place}) FILTER (outcome = 'ok' AND end_ns IS NOT NULL),
      arg_min(attempt_id, place) FILTER (outcome = 'ok'), arg_max(attempt_id, place)) AS answer_id,
    arg_min(attempt_id, place) AS first_id,
    min(arrival_ns) AS arrived_ns, min(arrival_clock_kind) AS clock_kind,
    -- Times of the first attempt with the clock that each was read from: another attempt's may be on another clock.
    arg_min({'scheduled': client_scheduled_ns, 'sent': client_sent_ns, 'clock': client_clock, 'kind': client_clock_kind,
      'gateway': gateway_arrived_ns, 'gateway_clock': gateway_clock, 'gateway_kind': gateway_clock_kind}, place) AS first,
    max(end_ns) AS done_ns,
    arg_min(repeat, place) AS repeat, arg_min(load_point, place) AS load_point, arg_min(phase, place) AS phase,
    arg_min(tenant, place) AS tenant, arg_min(route, place) AS route, arg_min(region, place) AS region,
    arg_min(model, place) AS any_model, arg_min(revision, place) AS any_revision,
    arg_min(parent_request, place) AS parent_request, bool_and(required) AS required,
    bool_or(client_clock IS NOT NULL) AS seen_by_client, bool_or(gateway_clock IS NOT NULL) AS seen_by_gateway
  FROM ordered
  GROUP BY run, request_id
), known_as AS (
  -- A parent may be named by the id of one of its retries.
  SELECT o.run, o.request_id AS own_id, min(n.request_id) AS request_id
  FROM observation AS o
  JOIN attempt_member AS m ON m.observation_id = o.observation_id
  JOIN attempt_name AS n ON n.root_id = m.root_id
  WHERE o.request_id <> n.request_id
  GROUP BY o.run, o.request_id
  HAVING count(DISTINCT n.request_id) = 1 AND NOT bool_or(n.request_id LIKE o.request_id || '@%')
), started AS (
  SELECT g.run, min(g.arrived_ns) AS first_ns
  FROM gathered AS g JOIN run AS w ON w.run = g.run
  WHERE CASE w.side WHEN 'client' THEN g.seen_by_client WHEN 'gateway' THEN g.seen_by_client OR g.seen_by_gateway ELSE true END
  GROUP BY g.run
), placed AS (
  SELECT
    g.* EXCLUDE (parent_request, first), coalesce(k.request_id, g.parent_request) AS parent_request,
    g.first['scheduled'] AS first_scheduled_ns, g.first['sent'] AS first_sent_ns, g.first['clock'] AS first_clock, g.first['kind'] AS first_clock_kind,
    g.first['gateway'] AS first_gateway_ns, g.first['gateway_clock'] AS first_gateway_clock, g.first['gateway_kind'] AS first_gateway_clock_kind,
    w.side, w.window_width_ns, w.entry,
    CASE w.entry
      WHEN 'sent' THEN n.outcome <> 'unsent'
      WHEN 'admitted' THEN n.outcome NOT IN ('unsent', 'rejected')
      WHEN 'reached' THEN CASE w.side WHEN 'client' THEN n.client_first_content_low_ns WHEN 'gateway' THEN n.gateway_first_content_ns
        ELSE n.engine_first_token_ns END IS NOT NULL
      WHEN 'ok' THEN n.outcome = 'ok'
      ELSE true END AS entered,
    n.outcome, n.decided_by, n.failure_class, n.error_type, n.status_code, coalesce(n.model, g.any_model) AS model, coalesce(n.revision, g.any_revision) AS revision, n.worker, n.correct, n.streamed,
    n.input_tokens, n.output_tokens, n.deadline_ms, n.sides,
    -- A user asked for the parent; where that is in the data its branches are no demand of their own.
    b.request_id IS NOT NULL
      AND CASE w.side WHEN 'client' THEN b.seen_by_client WHEN 'gateway' THEN b.seen_by_client OR b.seen_by_gateway ELSE true END
      -- Of two that name each other the first is the demand.
      AND NOT (b.parent_request IS NOT DISTINCT FROM g.request_id AND g.request_id < b.request_id) AS is_branch,
    coalesce(g.load_point, l.load_point) AS point,
    CASE
      WHEN g.phase IS NOT NULL THEN g.phase
      WHEN w.warmup_ns IS NOT NULL AND g.arrived_ns < coalesce(w.window_start_ns, s.first_ns) + w.warmup_ns THEN 'warmup'
      WHEN w.warmup_ns IS NOT NULL AND g.arrived_ns IS NULL THEN 'unknown'
      ELSE 'measured' END AS shown_phase,
    CASE w.side WHEN 'client' THEN g.seen_by_client WHEN 'gateway' THEN g.seen_by_client OR g.seen_by_gateway ELSE true END AS offered,
    coalesce((w.window_start_ns IS NULL OR g.arrived_ns >= w.window_start_ns)
      AND (w.window_end_ns IS NULL OR g.arrived_ns < w.window_end_ns), false) AS inside_window,
    CASE WHEN g.clock_kind = 'wall' THEN g.arrived_ns - (g.arrived_ns - coalesce(w.window_start_ns, 0)) % w.window_width_ns END AS window_start_ns
  FROM gathered AS g
  JOIN run AS w ON w.run = g.run
  JOIN started AS s ON s.run = g.run
  JOIN attempt AS n ON n.attempt_id = g.answer_id
  LEFT JOIN known_as AS k ON k.run = g.run AND k.own_id = g.parent_request
  LEFT JOIN gathered AS b ON b.run = g.run AND b.request_id = coalesce(k.request_id, g.parent_request) AND b.request_id <> g.request_id
  LEFT JOIN load_point_range AS l ON l.run = g.run AND g.arrived_ns >= l.start_ns AND g.arrived_ns < l.end_ns
), selected AS (
  SELECT
    p.*,
    NOT EXISTS (
      SELECT 1 FROM population_select AS x
      WHERE x.run = p.run AND x.value IS DISTINCT FROM CASE x.dimension
        WHEN 'phase' THEN p.shown_phase WHEN 'route' THEN p.route WHEN 'region' THEN p.region WHEN 'tenant' THEN p.tenant
        WHEN 'model' THEN p.model WHEN 'revision' THEN p.revision WHEN 'load_point' THEN p.point END
    ) AS chosen,
    EXISTS (SELECT 1 FROM population_select AS x WHERE x.run = p.run AND x.dimension = 'phase') AS phase_chosen,
    EXISTS (
      SELECT 1 FROM population_select AS x
      WHERE x.run = p.run AND CASE x.dimension
        WHEN 'phase' THEN p.shown_phase WHEN 'route' THEN p.route WHEN 'region' THEN p.region WHEN 'tenant' THEN p.tenant
        WHEN 'model' THEN p.model WHEN 'revision' THEN p.revision WHEN 'load_point' THEN p.point END IS NULL
    ) AS key_missing
  FROM placed AS p
)
SELECT
  s.run, s.request_id, s.tenant, s.point AS load_point, s.shown_phase AS phase, s.repeat, s.route, s.region, s.model, s.revision,
  s.worker, s.attempts, s.outcome, s.decided_by, s.failure_class, s.error_type, s.status_code, s.correct, s.streamed,
  s.input_tokens, s.output_tokens, s.deadline_ms, s.sides, s.parent_request, s.required,
  s.answer_id, s.first_scheduled_ns, s.first_sent_ns, s.first_clock, s.first_clock_kind, s.first_gateway_ns, s.first_gateway_clock, s.first_gateway_clock_kind, s.clock_kind, s.arrived_ns, s.done_ns,
  i.bin AS input_bin, o.bin AS output_bin,
  s.window_start_ns, utc_second(s.window_start_ns) AS window_start,
  s.offered,
  s.offered AND NOT s.is_branch AND s.inside_window AND s.entered AND s.chosen AND (s.phase_chosen OR s.shown_phase = 'measured') AS counted,
  CASE
    WHEN NOT s.offered THEN 'not seen by the ' || s.side || ' side, which heads the run'
    WHEN s.is_branch THEN 'a branch of a request that is in the data itself'
    WHEN NOT s.inside_window AND s.arrived_ns IS NULL THEN 'no time that places it in the declared window'
    WHEN NOT s.inside_window THEN 'arrived outside the declared window'
    WHEN NOT s.entered THEN 'did not get as far as the declared entry point: ' || s.entry
    WHEN NOT s.chosen AND s.key_missing THEN 'the key that the declared population selects by was not recorded'
    WHEN NOT s.chosen THEN 'outside the declared population'
    WHEN NOT s.phase_chosen AND s.shown_phase = 'unknown' THEN 'no time that tells whether it was warm-up'
    WHEN NOT (s.phase_chosen OR s.shown_phase = 'measured') THEN 'phase ' || s.shown_phase
  END AS not_counted_why
FROM selected AS s
LEFT JOIN length_bin AS i ON i.run = s.run AND i.dimension = 'input' AND s.input_tokens >= i.low
  AND (i.high IS NULL OR s.input_tokens < i.high)
LEFT JOIN length_bin AS o ON o.run = s.run AND o.dimension = 'output' AND s.output_tokens >= o.low
  AND (o.high IS NULL OR s.output_tokens < o.high);

COMMENT ON TABLE request IS 'One row per request, ok when one of its attempts is; `counted` tells whether the run''s numbers are about it';
COMMENT ON COLUMN request.answer_id IS 'The attempt that speaks for the request: the first that is ok, else the last';
COMMENT ON COLUMN request.first_scheduled_ns IS 'When its first attempt was meant to be sent, client clock; NULL without an open-loop schedule';
COMMENT ON COLUMN request.first_sent_ns IS 'When its first attempt was sent, client clock';
COMMENT ON COLUMN request.first_clock IS 'The client clock of its first attempt';
COMMENT ON COLUMN request.first_clock_kind IS 'Its kind';
COMMENT ON COLUMN request.first_gateway_clock_kind IS 'Its kind';
COMMENT ON COLUMN request.first_gateway_ns IS 'When its first attempt arrived at the gateway, gateway clock';
COMMENT ON COLUMN request.first_gateway_clock IS 'The gateway clock of its first attempt';
COMMENT ON COLUMN request.arrived_ns IS 'When it arrived: scheduled send, else first send, else first arrival; NULL where its source has no time of day';
COMMENT ON COLUMN request.done_ns IS 'Last end that the outermost side saw';
COMMENT ON COLUMN request.offered IS 'Seen by the side that heads the run';
COMMENT ON COLUMN request.counted IS 'Enters the run''s numbers';
COMMENT ON COLUMN request.not_counted_why IS 'Why it does not enter the run''s numbers';
COMMENT ON COLUMN request.phase IS 'warmup, measured or cold, as told, else by the declared warm-up time; unknown where that needs a time which nobody told';
COMMENT ON COLUMN request.parent_request IS 'The request that this one is a branch of';
