-- Scalar macros: the few expressions that many views share.

-- Milliseconds from one timestamp to another of the same clock; NULL when either is missing or they run backwards.
CREATE OR REPLACE MACRO elapsed_ms(start_ns, end_ns) AS
  CASE WHEN end_ns >= start_ns THEN (end_ns - start_ns) / 1e6 END;

-- Why elapsed_ms gave nothing.
CREATE OR REPLACE MACRO elapsed_why(start_ns, end_ns) AS
  CASE
    WHEN start_ns IS NULL OR end_ns IS NULL THEN 'not recorded'
    WHEN end_ns < start_ns THEN 'end before start'
  END;

-- Nearest rank: ceil(q * n) in integers, q given in millionths.
CREATE OR REPLACE MACRO nearest_rank(q_e6, n) AS (q_e6 * n + 999999) // 1000000;

-- A quantile level in millionths; finer ones, and those outside (0, 1], are refused.
CREATE OR REPLACE MACRO level_e6(q) AS
  CASE WHEN q > 0 AND q <= 1 AND abs(q * 1000000 - round(q * 1000000)) < 1e-6 THEN CAST(round(q * 1000000) AS BIGINT)
       ELSE error('a quantile level lies in (0, 1] and has at most six decimals') END;

-- The one place that names how an order statistic is read from ordered values; -infinity stands for no bound.
CREATE OR REPLACE MACRO order_statistic(ordered, rank) AS
  CASE WHEN rank >= 1 THEN nullif(list_extract(ordered, rank), '-infinity'::DOUBLE) END;

-- Several of them at once, NULL for a rank that is none; -infinity is left as it stands.
CREATE OR REPLACE MACRO order_statistics(ordered, ranks) AS list_select(ordered, ranks);

-- How load generators read a percentile from n ascending values: between the two nearest, as numpy does by default.
CREATE OR REPLACE MACRO linear_percentile(ordered, n, q) AS
  list_extract(ordered, CAST(floor((n - 1) * q) AS BIGINT) + 1)
  + (list_extract(ordered, least(CAST(floor((n - 1) * q) AS BIGINT) + 2, n)) - list_extract(ordered, CAST(floor((n - 1) * q) AS BIGINT) + 1))
    * ((n - 1) * q - floor((n - 1) * q));

-- And the value at place floor(n * q), counted from 0, as MLPerf LoadGen does.
CREATE OR REPLACE MACRO floor_percentile(ordered, n, q) AS
  list_extract(ordered, least(CAST(floor(n * q) AS BIGINT) + 1, n));

-- Wilson score interval of a share, two-sided 95 %.
CREATE OR REPLACE MACRO wilson_low(good, n) AS
  CASE WHEN good = 0 AND n > 0 THEN 0.0 WHEN n > 0 THEN greatest(0.0,
    (good / n + 1.959963984540054 * 1.959963984540054 / (2 * n)
     - 1.959963984540054 * sqrt((good / n) * (1 - good / n) / n
       + 1.959963984540054 * 1.959963984540054 / (4.0 * n * n)))
    / (1 + 1.959963984540054 * 1.959963984540054 / n)) END;
CREATE OR REPLACE MACRO wilson_high(good, n) AS
  CASE WHEN good = n AND n > 0 THEN 1.0 WHEN n > 0 THEN least(1.0,
    (good / n + 1.959963984540054 * 1.959963984540054 / (2 * n)
     + 1.959963984540054 * sqrt((good / n) * (1 - good / n) / n
       + 1.959963984540054 * 1.959963984540054 / (4.0 * n * n)))
    / (1 + 1.959963984540054 * 1.959963984540054 / n)) END;

-- One attribute of a span as text; the key may hold dots and quotes.
CREATE OR REPLACE MACRO attribute(attributes, key) AS
  json_extract_string(attributes, '$."' || replace(key, '"', '\"') || '"');

-- UTC time of a nanosecond count, to the second.
CREATE OR REPLACE MACRO utc_second(ns) AS CASE WHEN ns % 1000000000 = 0 THEN strftime(make_timestamp(ns // 1000), '%Y-%m-%dT%H:%M:%SZ') ELSE strftime(make_timestamp(ns // 1000), '%Y-%m-%dT%H:%M:%S.%fZ') END;

-- A key of a stratum: a missing one is (none), and a value that looks like a roll-up is quoted.
CREATE OR REPLACE MACRO stratum_key(value) AS
  CASE WHEN value IS NULL THEN '(none)' WHEN value IN ('(all)', '(none)') THEN '"' || value || '"' ELSE value END;

-- A duration as its producer wrote it, in ns: a number in its unit, or Rust's text such as 1.5ms. A value that cannot be
-- one (negative, sentinel, not finite, longer than eleven days) is none; 0 only where it may be.
CREATE OR REPLACE MACRO duration_ns(written, unit, zero) AS
  CASE WHEN TRY_CAST(CASE unit WHEN 'text' THEN regexp_extract(written, '^([0-9.]+)(ns|us|µs|ms|s)$', 1) ELSE written END AS DOUBLE)
         * CASE CASE unit WHEN 'text' THEN regexp_extract(written, '^([0-9.]+)(ns|us|µs|ms|s)$', 2) ELSE unit END
             WHEN 's' THEN 1e9 WHEN 'ms' THEN 1e6 WHEN 'us' THEN 1e3 WHEN 'µs' THEN 1e3 WHEN 'ns' THEN 1e0 END
         BETWEEN CASE WHEN zero THEN 0e0 ELSE 1e-3 END AND 1e15
    THEN CAST(round(TRY_CAST(CASE unit WHEN 'text' THEN regexp_extract(written, '^([0-9.]+)(ns|us|µs|ms|s)$', 1) ELSE written END AS DOUBLE)
         * CASE CASE unit WHEN 'text' THEN regexp_extract(written, '^([0-9.]+)(ns|us|µs|ms|s)$', 2) ELSE unit END
             WHEN 's' THEN 1e9 WHEN 'ms' THEN 1e6 WHEN 'us' THEN 1e3 WHEN 'µs' THEN 1e3 WHEN 'ns' THEN 1e0 END) AS BIGINT) END;
