-- A third cache state: constant operands come from memory, everything else is warm. SQLite cannot change a condition of
-- a column, so rows move to a new table, and their repetitions with them.

CREATE TABLE new_measurements (
  id INTEGER PRIMARY KEY,
  workload_id INTEGER NOT NULL REFERENCES workloads (id),
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  contract TEXT NOT NULL,
  cache TEXT NOT NULL CHECK (cache IN ('warm', 'cold', 'cold-weights')),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
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
  UNIQUE (workload_id, device_id, candidate_id, contract, cache, environment_id, campaign_id, weight)
) STRICT;
INSERT INTO new_measurements
  SELECT id, workload_id, candidate_id, contract, cache, device_id, environment_id, campaign_id, measured_at, outcome,
         reason, library_choice, numeric_error, flags, repetition_count, best_us, low_us, high_us, weight
  FROM measurements ORDER BY id;

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
CREATE INDEX measurements_by_campaign ON measurements (campaign_id, device_id, environment_id);

-- The first entry of a workload on a device under a contract is its best row.
CREATE INDEX measured_by_workload ON measurements (workload_id, device_id, contract, cache, best_us, environment_id,
    low_us, high_us, candidate_id, campaign_id, library_choice) WHERE outcome = 'measured';
CREATE INDEX measured_by_device ON measurements (device_id, environment_id, workload_id, contract, cache, candidate_id,
    best_us, low_us, high_us, campaign_id, library_choice) WHERE outcome = 'measured';
