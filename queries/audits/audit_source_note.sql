-- What a source says about its own file.
CREATE VIEW audit_source_note AS
SELECT coalesce(run, '(all)') AS run, 'source note' AS audit, 'warning' AS severity, path AS subject, note AS detail, 1::BIGINT AS n
FROM source_file
WHERE note IS NOT NULL;

COMMENT ON VIEW audit_source_note IS 'What a source says about its own file; empty when healthy';
