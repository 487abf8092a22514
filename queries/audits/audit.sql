-- Every finding of every audit.
CREATE VIEW audit AS
SELECT run, audit, severity, subject, detail, n FROM audit_client_only
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_server_only
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_retokenized
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_told_twice
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_set_aside
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_refused_record
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_source_note
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_different_clocks
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_out_of_order
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_no_time_passed
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_no_terminal_event
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_ambiguous_join
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_reused_id
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_several_outputs
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_fact_conflict
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_token_mismatch
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_implausible_value
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_cancel_ran_on
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_failures_dropped
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_one_short_run
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_not_counted
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_several_views
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_repeated_boundary
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_unplaced_line
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_clock_not_set
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_negative_slack
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_clock_contradiction
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_retry_past_deadline
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_retry_backoff
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_retry_over_budget
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_retry_not_idempotent
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_no_overload_gate
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_serialized
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_traffic_state
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_cold_in_window
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_drain
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_probe_failed
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_bad_revision
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_backpressure
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_state_not_released
UNION ALL
SELECT run, audit, severity, subject, detail, n FROM audit_clock_not_seen;

COMMENT ON VIEW audit IS 'One row per finding: what may be wrong with the data or with what one reads into it; empty when healthy';
COMMENT ON COLUMN audit.audit IS 'Which audit found it';
COMMENT ON COLUMN audit.severity IS 'fault, warning or note';
COMMENT ON COLUMN audit.subject IS 'What it is about';
COMMENT ON COLUMN audit.detail IS 'What was found, and what was done about it';
COMMENT ON COLUMN audit.n IS 'How many records it concerns';
