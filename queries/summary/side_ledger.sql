-- What the load generator's record and the server's say of the same attempts, where a run has both.
CREATE VIEW side_ledger AS
WITH counted AS (
  SELECT
    run,
    count(*) FILTER (sides LIKE 'client%') AS client_attempts,
    count(*) FILTER (sides <> 'client') AS server_attempts,
    count(*) FILTER (sides LIKE 'client,%') AS joined,
    count(*) FILTER (sides = 'client' AND outcome <> 'unsent') AS client_only,
    count(*) FILTER (sides NOT LIKE 'client%') AS server_only
  FROM attempt
  GROUP BY run
)
SELECT
  run, client_attempts, server_attempts, joined, client_only,
  CASE WHEN joined > 0 THEN server_only END AS lost,
  CASE
    WHEN server_attempts = 0 THEN 'no server record'
    WHEN client_attempts = 0 THEN 'no client record'
    WHEN joined = 0 THEN 'no id joins the two: the counts stand side by side, and which attempt is missing cannot be told'
  END AS why
FROM counted;

COMMENT ON VIEW side_ledger IS 'One row per run: attempts that the client saw, that a server saw, that both saw, and those that the client''s file lost';
COMMENT ON COLUMN side_ledger.client_attempts IS 'Attempts in the client''s record, warm-up included';
COMMENT ON COLUMN side_ledger.server_attempts IS 'Attempts in a gateway''s or engine''s record';
COMMENT ON COLUMN side_ledger.joined IS 'Attempts that both saw';
COMMENT ON COLUMN side_ledger.client_only IS 'Attempts that were sent and that no server recorded';
COMMENT ON COLUMN side_ledger.lost IS 'Attempts that a server recorded and the client''s file lacks; NULL where no id joins the two';
COMMENT ON COLUMN side_ledger.why IS 'Why the two cannot be told apart';
