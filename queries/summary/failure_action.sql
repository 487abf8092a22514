-- What shows a class of failures, and what to do first.
CREATE VIEW failure_action AS
SELECT * FROM (VALUES
  ('overload', 1, 'queue age and rejects', 'shed load, reduce admission'),
  ('resource_exhaustion', 2, 'allocation failures', 'protect state, narrow the workload'),
  ('dependency', 3, 'spans of what is downstream', 'fall back within a budget'),
  ('bad_revision', 4, 'difference of a canary in quality or promise', 'stop the rollout, roll back'),
  ('client', 5, 'statuses 4xx, cancellations', 'tell the caller; do not retry for it'),
  ('unknown', 6, 'none', 'find evidence first: a rule of failures, or a source that tells more')
) AS a (failure_class, place, signal, first_action);

COMMENT ON VIEW failure_action IS 'One row per class of failures: its signal, and the first action';
COMMENT ON COLUMN failure_action.place IS 'Order of the classes';
COMMENT ON COLUMN failure_action.signal IS 'What shows it';
COMMENT ON COLUMN failure_action.first_action IS 'What to do first';
