-- An environment is what changes results: libraries and threads. What tells where a row was measured (host, kernel,
-- affinity, clock policy, infimum's version) becomes evidence beside it, so that rows of several hosts stand in one
-- environment. What each environment of before becomes is computed by the program, whose keys are escaped texts
-- (migrations.cc); a new store has none.

CREATE TEMP TABLE IF NOT EXISTS older_environments (
  id BIGINT PRIMARY KEY,
  kept BIGINT NOT NULL,                             -- the id of the one that it becomes
  key TEXT COLLATE "C" NOT NULL,                    -- of that one
  told TEXT COLLATE "C" NOT NULL,                   -- its evidence
  facts TEXT COLLATE "C" NOT NULL
);

CREATE TABLE evidence (
  id BIGINT PRIMARY KEY,
  text TEXT COLLATE "C" NOT NULL,                   -- "affinity=pinned/clocks=performance/host=3f9c0a51d2e8"; or ''
  facts TEXT COLLATE "C" NOT NULL,                  -- JSON object of texts
  EXCLUDE USING hash (text WITH =)
);
INSERT INTO evidence (id, text, facts)
  SELECT row_number() OVER (ORDER BY told), told, facts
  FROM (SELECT told, min(facts) AS facts FROM older_environments GROUP BY told) known;

ALTER TABLE measurements ADD COLUMN evidence_id BIGINT REFERENCES evidence (id);
ALTER TABLE measurements DROP CONSTRAINT measurements_workload_id_device_id_candidate_id_contract_ca_key;
UPDATE measurements m SET environment_id = o.kept, evidence_id = v.id
  FROM older_environments o JOIN evidence v ON v.text = o.told WHERE o.id = m.environment_id;
ALTER TABLE measurements ALTER COLUMN evidence_id SET NOT NULL;
ALTER TABLE measurements ADD CONSTRAINT measurements_key
  UNIQUE (workload_id, device_id, candidate_id, contract, cache, environment_id, evidence_id, campaign_id, weight);
DROP INDEX measurements_by_campaign;
CREATE INDEX measurements_by_campaign ON measurements (campaign_id, device_id, environment_id, evidence_id, id);

DELETE FROM environment_libraries WHERE environment_id IN (SELECT id FROM older_environments WHERE id <> kept);
DELETE FROM environments WHERE id IN (SELECT id FROM older_environments WHERE id <> kept);
UPDATE environments e SET key = o.key FROM older_environments o WHERE o.id = e.id;
ALTER TABLE environments DROP COLUMN affinity;
ALTER TABLE environments DROP COLUMN clock_policy;
ALTER TABLE environments DROP COLUMN host;
ALTER TABLE environments DROP COLUMN infimum_version;
DROP TABLE older_environments;
