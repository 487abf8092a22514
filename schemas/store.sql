-- The base tables: what was read, and what the reader declared about it. Everything else is derived from these.

CREATE TABLE store_state (
  key   VARCHAR NOT NULL,
  value VARCHAR
);
COMMENT ON TABLE store_state IS 'What the store knows about itself: layout version, whether derived tables are up to date';

CREATE TABLE source_file (
  path       VARCHAR NOT NULL,
  run        VARCHAR,
  bytes      BIGINT NOT NULL,
  sha256     VARCHAR NOT NULL,
  source     VARCHAR NOT NULL,
  tool       VARCHAR,
  records    BIGINT NOT NULL,
  kept       BIGINT NOT NULL,
  set_aside  BIGINT NOT NULL,
  refused    BIGINT NOT NULL,
  duplicates BIGINT NOT NULL,
  first_ns   BIGINT,
  last_ns    BIGINT,
  note       VARCHAR,
  other_kind BIGINT NOT NULL,
  dropped    BIGINT NOT NULL,
  reading    VARCHAR NOT NULL
);
COMMENT ON TABLE source_file IS 'One row per file read: records = kept + set_aside + refused + duplicates';
COMMENT ON COLUMN source_file.dropped IS 'Attributes of the file that were left out of the store: content, and what was named to be dropped';

CREATE TABLE refused (
  source_file VARCHAR NOT NULL,
  position    VARCHAR NOT NULL,
  reason      VARCHAR NOT NULL,
  sample      VARCHAR
);
COMMENT ON TABLE refused IS 'One row per record that could not be taken, with where it stands and why';

CREATE TABLE span (
  run                VARCHAR NOT NULL,
  trace_id           VARCHAR NOT NULL,
  span_id            VARCHAR NOT NULL,
  parent_span_id     VARCHAR,
  name               VARCHAR,
  kind               VARCHAR NOT NULL,
  service            VARCHAR,
  scope              VARCHAR,
  start_ns           BIGINT,
  end_ns             BIGINT,
  status             VARCHAR NOT NULL,
  status_message     VARCHAR,
  attributes         JSON,
  resource           JSON,
  events             JSON,
  links              JSON,
  trace_state        VARCHAR,
  flags              BIGINT,
  scope_version      VARCHAR,
  dropped_attributes BIGINT,
  dropped_events     BIGINT,
  dropped_links      BIGINT,
  clock              VARCHAR NOT NULL,
  flag               VARCHAR,
  source_file        VARCHAR NOT NULL,
  position           BIGINT NOT NULL
);
COMMENT ON TABLE span IS 'One row per OpenTelemetry span, times as the producer wrote them';

CREATE TABLE span_copy AS FROM span WITH NO DATA;
COMMENT ON TABLE span_copy IS 'One row per span that another row of span stands for: the same trace, span and kind. Kept, so that it can stand in when the other''s file changes';

CREATE TABLE event (
  run              VARCHAR NOT NULL,
  request          VARCHAR,
  attempt          INTEGER NOT NULL,
  parent           VARCHAR,
  required         BOOLEAN,
  event            VARCHAR NOT NULL,
  time_ns          BIGINT NOT NULL,
  clock            VARCHAR NOT NULL,
  clock_kind       VARCHAR NOT NULL,
  side             VARCHAR NOT NULL,
  content_kind     VARCHAR,
  tokens           BIGINT,
  repeat           BIGINT,
  load_point       VARCHAR,
  phase            VARCHAR,
  tenant           VARCHAR,
  route            VARCHAR,
  region           VARCHAR,
  model            VARCHAR,
  revision         VARCHAR,
  worker           VARCHAR,
  trace_id         VARCHAR,
  response_id      VARCHAR,
  deadline_ms      DOUBLE,
  retry_of         VARCHAR,
  idempotency_key  VARCHAR,
  streamed         BOOLEAN,
  stop_reason      VARCHAR,
  status_code      INTEGER,
  error_type       VARCHAR,
  outcome          VARCHAR,
  correct          BOOLEAN,
  input_tokens     BIGINT,
  output_tokens    BIGINT,
  reasoning_tokens BIGINT,
  cached_tokens    BIGINT,
  retokenized_input_tokens  BIGINT,
  retokenized_output_tokens BIGINT,
  name             VARCHAR,
  value            DOUBLE,
  source_file      VARCHAR NOT NULL,
  position         BIGINT NOT NULL
);
COMMENT ON TABLE event IS 'One row per line of a request event log, and per boundary of a load generator''s row';

CREATE TABLE tool_figure (
  run         VARCHAR NOT NULL,
  tool        VARCHAR NOT NULL,
  version     VARCHAR,
  load_point  VARCHAR,
  kind        VARCHAR NOT NULL,
  metric      VARCHAR NOT NULL,
  statistic   VARCHAR NOT NULL,
  value       DOUBLE,
  text        VARCHAR,
  unit        VARCHAR,
  source_file VARCHAR NOT NULL
);
COMMENT ON TABLE tool_figure IS 'One row per figure that a tool''s own file states of a run: settings, counts, and the summary that it prints';
COMMENT ON COLUMN tool_figure.kind IS 'setting: what the tool was told (limits of goodput, duration of its window); printed: what it says of the run';
COMMENT ON COLUMN tool_figure.metric IS 'Which number, in the words of as_printed';
COMMENT ON COLUMN tool_figure.statistic IS 'mean, std, min, max, p50 ... p99, count, sum, value';
COMMENT ON COLUMN tool_figure.value IS 'The figure as the tool''s file has it, in `unit`';
COMMENT ON COLUMN tool_figure.text IS 'The figure where it is no number';
COMMENT ON COLUMN tool_figure.version IS 'The tool''s version as its file says it; NULL where it does not';

CREATE TABLE run_setting (
  run             VARCHAR NOT NULL,
  why             VARCHAR,
  window_start_ns BIGINT,
  window_end_ns   BIGINT,
  window_width_ns BIGINT,
  warmup_ns       BIGINT,
  client_cancel   VARCHAR NOT NULL,
  max_attempts    BIGINT,
  retry_budget_share DOUBLE,
  retry_idempotent   BOOLEAN,
  entry           VARCHAR,
  unit            VARCHAR NOT NULL,
  manifest        VARCHAR
);
COMMENT ON TABLE run_setting IS 'One row per run: how its manifest, or the defaults, say that it is to be counted';
COMMENT ON COLUMN run_setting.max_attempts IS 'Attempts that a request may have, the first included, as declared';
COMMENT ON COLUMN run_setting.retry_budget_share IS 'Retries as a share of requests that are allowed, as declared';
COMMENT ON COLUMN run_setting.retry_idempotent IS 'Whether a repeated request is declared to be safe';
COMMENT ON COLUMN run_setting.manifest IS 'Name of the manifest that declares these settings; NULL for the defaults';

CREATE TABLE tenant_key (
  run      VARCHAR NOT NULL,
  position INTEGER NOT NULL,
  key      VARCHAR NOT NULL
);
COMMENT ON TABLE tenant_key IS 'Attributes that may name the tenant of a span, the first present wins';

CREATE TABLE length_bin (
  run       VARCHAR NOT NULL,
  dimension VARCHAR NOT NULL,
  bin       VARCHAR NOT NULL,
  low       BIGINT NOT NULL,
  high      BIGINT
);
COMMENT ON TABLE length_bin IS 'Length bins by token count, half open: low <= tokens < high';

CREATE TABLE slo (
  run        VARCHAR NOT NULL,
  slo        VARCHAR NOT NULL,
  condition  INTEGER NOT NULL,
  metric     VARCHAR NOT NULL,
  op         VARCHAR NOT NULL,
  limit_ms   DOUBLE NOT NULL,
  target     DOUBLE NOT NULL,
  confidence DOUBLE NOT NULL
);
COMMENT ON TABLE slo IS 'One row per condition of a promise; a request is good when it is ok and meets all of them';

CREATE TABLE slo_select (
  run       VARCHAR NOT NULL,
  slo       VARCHAR NOT NULL,
  dimension VARCHAR NOT NULL,
  value     VARCHAR NOT NULL
);
COMMENT ON TABLE slo_select IS 'The part of the population that a promise is about; no row means all of it';

CREATE TABLE population_select (
  run       VARCHAR NOT NULL,
  dimension VARCHAR NOT NULL,
  value     VARCHAR NOT NULL
);
COMMENT ON TABLE population_select IS 'The part of the traffic that the run''s numbers are about; no row means all of it';

CREATE TABLE clock_relation (
  run       VARCHAR NOT NULL,
  clock_a   VARCHAR NOT NULL,
  clock_b   VARCHAR NOT NULL,
  relation  VARCHAR NOT NULL,
  offset_ns BIGINT NOT NULL,
  error_ns  BIGINT NOT NULL
);
COMMENT ON TABLE clock_relation IS 'Declared relations of clocks, both directions: time on b = time on a + offset_ns, give or take error_ns';

CREATE TABLE load_point_range (
  run        VARCHAR NOT NULL,
  load_point VARCHAR NOT NULL,
  start_ns   BIGINT NOT NULL,
  end_ns     BIGINT NOT NULL
);
COMMENT ON TABLE load_point_range IS 'Load points that the manifest declares as ranges of arrival time, half open';

CREATE TABLE percentile_level (
  run  VARCHAR NOT NULL,
  q_e6 BIGINT NOT NULL
);
COMMENT ON TABLE percentile_level IS 'Quantile levels that the manifest declares beside 50, 90, 95, 99 and 99.9 %';

CREATE TABLE boundary_policy (
  run      VARCHAR NOT NULL,
  boundary VARCHAR NOT NULL,
  owner    VARCHAR,
  policy   VARCHAR,
  unknown  VARCHAR
);
COMMENT ON TABLE boundary_policy IS 'Who owns a boundary and by which policy, as the manifest declares';
COMMENT ON COLUMN boundary_policy.unknown IS 'Why the manifest says that the policy is not known';

CREATE TABLE rank_bound (
  n         BIGINT NOT NULL,
  q_e6      BIGINT NOT NULL,
  low_rank  BIGINT,
  high_rank BIGINT
);
COMMENT ON TABLE rank_bound IS 'Ranks of the order statistics that bound a quantile of n independent values, two-sided 95 %; NULL where none does';

CREATE TABLE share_bound (
  good       BIGINT NOT NULL,
  n          BIGINT NOT NULL,
  confidence DOUBLE NOT NULL,
  low        DOUBLE NOT NULL,
  high       DOUBLE NOT NULL
);
COMMENT ON TABLE share_bound IS 'Exact one-sided bounds (Clopper-Pearson) of a share good / n at a confidence';

CREATE TABLE rule_file (
  position INTEGER NOT NULL,
  name     VARCHAR NOT NULL,
  sha256   VARCHAR NOT NULL,
  text     VARCHAR NOT NULL
);
COMMENT ON TABLE rule_file IS 'One row per file of rules that a user added to the built-in ones';
COMMENT ON COLUMN rule_file.text IS 'The file as it was read';

CREATE TABLE span_rule (
  rule         INTEGER NOT NULL,
  name         VARCHAR NOT NULL,
  origin       VARCHAR NOT NULL,
  says         VARCHAR,
  looks        VARCHAR NOT NULL,
  kind         VARCHAR,
  scope        VARCHAR,
  span         VARCHAR,
  has          VARCHAR,
  equals       VARCHAR,
  path         VARCHAR,
  facts        VARCHAR,
  durations    VARCHAR,
  boundaries   VARCHAR,
  whole        VARCHAR,
  always_tries BOOLEAN NOT NULL,
  control      VARCHAR
);
COMMENT ON TABLE span_rule IS 'One row per rule by which spans are read, in the order in which they are tried: which spans it fits, what they are, and what they tell';
COMMENT ON COLUMN span_rule.rule IS 'Its number; of the rules that fit a span the lowest counts';
COMMENT ON COLUMN span_rule.name IS 'Name of the rule';
COMMENT ON COLUMN span_rule.origin IS 'The file that states it';
COMMENT ON COLUMN span_rule.says IS 'What is to be known of such spans';
COMMENT ON COLUMN span_rule.looks IS 'What such a span is: engine, gateway, http, call, try, part, control, agent, aside';
COMMENT ON COLUMN span_rule.kind IS 'Kinds of span; NULL: any';
COMMENT ON COLUMN span_rule.scope IS 'Instrumentation scopes, * for anything; NULL: any';
COMMENT ON COLUMN span_rule.span IS 'Names of the span, * for anything; NULL: any';
COMMENT ON COLUMN span_rule.has IS 'Attributes of which it has one; NULL: any';
COMMENT ON COLUMN span_rule.equals IS 'An attribute and the values that it may have';
COMMENT ON COLUMN span_rule.path IS 'HTTP paths, * for anything; NULL: any';
COMMENT ON COLUMN span_rule.facts IS 'Where its facts stand, where that is not the common place';
COMMENT ON COLUMN span_rule.durations IS 'Durations that it states: key and unit';
COMMENT ON COLUMN span_rule.boundaries IS 'What follows for the boundaries of the request';
COMMENT ON COLUMN span_rule.whole IS 'Facts of which an answer that came whole shows one';
COMMENT ON COLUMN span_rule.always_tries IS 'Each such span is a try of its own, whatever its status says';
COMMENT ON COLUMN span_rule.control IS 'The event of the control plane that it is';

CREATE TABLE span_pattern (
  rule         INTEGER NOT NULL,
  kind         VARCHAR,
  scope        VARCHAR,
  span         VARCHAR,
  attribute    VARCHAR,
  place        INTEGER,
  equal_key    VARCHAR,
  equal_place  INTEGER,
  equal_value  VARCHAR,
  path         VARCHAR
);
COMMENT ON TABLE span_pattern IS 'One row per way in which a span fits a rule: all that is not NULL must hold; patterns are those of LIKE';
COMMENT ON COLUMN span_pattern.rule IS 'Number of the rule';
COMMENT ON COLUMN span_pattern.scope IS 'Pattern of the instrumentation scope';
COMMENT ON COLUMN span_pattern.span IS 'Pattern of the name';
COMMENT ON COLUMN span_pattern.attribute IS 'Quoted key of an attribute that it has';
COMMENT ON COLUMN span_pattern.place IS 'Place of that attribute among the texts that are read';
COMMENT ON COLUMN span_pattern.equal_key IS 'Quoted key of an attribute with a given value';
COMMENT ON COLUMN span_pattern.equal_place IS 'Place of that attribute among the texts that are read';
COMMENT ON COLUMN span_pattern.equal_value IS 'Pattern of its value';
COMMENT ON COLUMN span_pattern.path IS 'Pattern of the HTTP path';

CREATE TABLE failure_rule (
  rule          INTEGER NOT NULL,
  name          VARCHAR NOT NULL,
  origin        VARCHAR NOT NULL,
  says          VARCHAR,
  failure_class VARCHAR NOT NULL,
  outcome       VARCHAR,
  status_low    INTEGER,
  status_high   INTEGER,
  error         VARCHAR
);
COMMENT ON TABLE failure_rule IS 'One row per way in which a failed attempt fits a rule of failures: all that is not NULL must hold, and the rule with the lowest number counts';
COMMENT ON COLUMN failure_rule.rule IS 'Number of the rule';
COMMENT ON COLUMN failure_rule.name IS 'Name of the rule';
COMMENT ON COLUMN failure_rule.origin IS 'The file that states it';
COMMENT ON COLUMN failure_rule.says IS 'What is to be known of it';
COMMENT ON COLUMN failure_rule.failure_class IS 'What such a failure is put down to';
COMMENT ON COLUMN failure_rule.status_low IS 'HTTP status, from';
COMMENT ON COLUMN failure_rule.status_high IS 'HTTP status, to, inclusive';
COMMENT ON COLUMN failure_rule.error IS 'Pattern, in small letters, of the type of the error';

CREATE TABLE span_event_edge (
  rule     INTEGER NOT NULL,
  boundary VARCHAR NOT NULL,
  edge     VARCHAR NOT NULL,
  choice   INTEGER NOT NULL,
  event    VARCHAR NOT NULL
);
COMMENT ON TABLE span_event_edge IS 'One row per boundary that the event of a span tells, by rule';
COMMENT ON COLUMN span_event_edge.rule IS 'Number of the rule';
COMMENT ON COLUMN span_event_edge.edge IS 'at: the boundary itself; low, high: one end of it';
COMMENT ON COLUMN span_event_edge.choice IS 'Of several ways to know it the lowest counts';
COMMENT ON COLUMN span_event_edge.event IS 'Name of the event';
