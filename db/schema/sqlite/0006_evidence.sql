-- An environment is what changes results: libraries and threads. What tells where a row was measured (host, kernel,
-- affinity, clock policy, infimum's version) becomes evidence beside it, so that rows of several hosts stand in one
-- environment. What each environment of before becomes is computed by the program, whose keys are escaped texts
-- (migrations.cc); a new store has none.

CREATE TEMP TABLE IF NOT EXISTS older_environments (
  id INTEGER PRIMARY KEY,
  kept INTEGER NOT NULL,                -- the id of the one that it becomes
  key TEXT NOT NULL,                    -- of that one
  told TEXT NOT NULL,                   -- its evidence
  facts TEXT NOT NULL
);

CREATE TABLE evidence (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,            -- "affinity=pinned/clocks=performance/host=3f9c0a51d2e8"; '' where nothing is known
  facts TEXT NOT NULL                   -- JSON object of texts
) STRICT;
INSERT INTO evidence (id, text, facts)
  SELECT row_number() OVER (ORDER BY told), told, facts
  FROM (SELECT told, min(facts) AS facts FROM older_environments GROUP BY told);

-- SQLite cannot change a table's conditions nor what is unique in it, so rows move to a new one, and their repetitions with them.
CREATE TABLE new_measurements (
  id INTEGER PRIMARY KEY,
  workload_id INTEGER NOT NULL REFERENCES workloads (id),
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  contract TEXT NOT NULL,
  cache TEXT NOT NULL CHECK (cache IN ('warm', 'cold', 'cold-weights')),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  evidence_id INTEGER NOT NULL REFERENCES evidence (id),
  campaign_id INTEGER NOT NULL REFERENCES campaigns (id),
  measured_at TEXT NOT NULL,            -- UTC
  outcome TEXT NOT NULL CHECK (outcome IN ('measured', 'unsupported', 'skipped', 'failed')),
  reason TEXT NOT NULL,                 -- of every outcome but measured
  library_choice INTEGER NOT NULL CHECK (library_choice IN (0, 1)),
  numeric_error REAL,                   -- NULL where it was not checked
  flags TEXT NOT NULL,                  -- JSON list of texts
  repetition_count INTEGER NOT NULL,
  best_us REAL,                         -- the point value: the smallest median of a repetition
  low_us REAL,                          -- where it would fall if the campaign were repeated: from the smallest minimum
  high_us REAL,                         --   to the second-smallest median (of one repetition: its 95th percentile)
  -- How much the row says: of rows that are equal but for it, the greatest counts and the others are history.
  weight INTEGER NOT NULL,
  CHECK ((outcome = 'measured') = (best_us IS NOT NULL)),
  UNIQUE (workload_id, device_id, candidate_id, contract, cache, environment_id, evidence_id, campaign_id, weight)
) STRICT;
INSERT INTO new_measurements
  SELECT m.id, m.workload_id, m.candidate_id, m.contract, m.cache, m.device_id, o.kept, v.id, m.campaign_id,
         m.measured_at, m.outcome, m.reason, m.library_choice, m.numeric_error, m.flags, m.repetition_count, m.best_us,
         m.low_us, m.high_us, m.weight
  FROM measurements m CROSS JOIN older_environments o CROSS JOIN evidence v
  WHERE o.id = m.environment_id AND v.text = o.told ORDER BY m.id;

CREATE TABLE new_repetitions (
  measurement_id INTEGER NOT NULL REFERENCES new_measurements (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  minimum_us REAL NOT NULL,
  median_us REAL NOT NULL,
  p95_us REAL NOT NULL,
  samples_us BLOB NOT NULL,             -- 64-bit little-endian floats
  clock_low_mhz REAL,                   -- lowest and highest reading of the device's clock;
  clock_high_mhz REAL,                  --   NULL where the system does not tell
  PRIMARY KEY (measurement_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO new_repetitions
  SELECT measurement_id, position, count, minimum_us, median_us, p95_us, samples_us, clock_low_mhz, clock_high_mhz
  FROM repetitions ORDER BY measurement_id, position;

DROP TABLE repetitions;
DROP TABLE measurements;
ALTER TABLE new_measurements RENAME TO measurements;
ALTER TABLE new_repetitions RENAME TO repetitions;
CREATE INDEX measurements_by_device ON measurements (device_id, measured_at);
CREATE INDEX measurements_by_campaign ON measurements (campaign_id, device_id, environment_id, evidence_id);

-- Indexes over what was measured alone, which hold all that most questions want to know: the first entry of a workload
-- on a device under a contract is its best row.
CREATE INDEX measured_by_workload ON measurements (workload_id, device_id, contract, cache, best_us, environment_id,
    low_us, high_us, candidate_id, campaign_id, library_choice) WHERE outcome = 'measured';
CREATE INDEX measured_by_device ON measurements (device_id, environment_id, workload_id, contract, cache, candidate_id,
    best_us, low_us, high_us, campaign_id, library_choice) WHERE outcome = 'measured';

DELETE FROM environment_libraries WHERE environment_id IN (SELECT id FROM older_environments WHERE id <> kept);
DELETE FROM environments WHERE id IN (SELECT id FROM older_environments WHERE id <> kept);
UPDATE environments SET key = (SELECT o.key FROM older_environments o WHERE o.id = environments.id);
ALTER TABLE environments DROP COLUMN affinity;
ALTER TABLE environments DROP COLUMN clock_policy;
ALTER TABLE environments DROP COLUMN host;
ALTER TABLE environments DROP COLUMN infimum_version;
DROP TABLE older_environments;
