-- Campaigns, so that two that measured the same stand side by side; rows are added and never changed, which is all
-- that a role with SELECT and INSERT may do; what queries select by has columns and indexes of its own.

CREATE TABLE campaigns (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,             -- '' for rows that belong to none
  source TEXT NOT NULL,                 -- the file's name, or what measured
  imported_at TEXT NOT NULL             -- UTC
) STRICT;
INSERT INTO campaigns (key, source, imported_at) SELECT '', '', '' WHERE EXISTS (SELECT 1 FROM measurements);

CREATE TABLE environment_libraries (
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  library TEXT NOT NULL,
  version TEXT NOT NULL,
  PRIMARY KEY (environment_id, library)
) STRICT, WITHOUT ROWID;
CREATE INDEX environment_libraries_by_version ON environment_libraries (library, version);
INSERT INTO environment_libraries (environment_id, library, version)
  SELECT e.id, entry.key, entry.value FROM environments e, json_each(e.libraries) entry;

ALTER TABLE workloads ADD COLUMN family TEXT NOT NULL DEFAULT '';  -- the text's first word: convolution, region
UPDATE workloads SET family = substr(text, 1, instr(text || ' ', ' ') - 1);

CREATE TABLE new_measurements (
  id INTEGER PRIMARY KEY,
  workload_id INTEGER NOT NULL REFERENCES workloads (id),
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  contract TEXT NOT NULL,
  cache TEXT NOT NULL CHECK (cache IN ('warm', 'cold')),
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
  SELECT m.id, m.workload_id, m.candidate_id, m.contract, m.cache, m.device_id, m.environment_id, c.id, m.measured_at,
         m.outcome, m.reason, m.library_choice, m.numeric_error, m.flags,
         (SELECT count(*) FROM repetitions r WHERE r.measurement_id = m.id),
         (SELECT min(r.median_us) FROM repetitions r WHERE r.measurement_id = m.id),
         (SELECT min(r.minimum_us) FROM repetitions r WHERE r.measurement_id = m.id),
         coalesce((SELECT r.median_us FROM repetitions r WHERE r.measurement_id = m.id
                   ORDER BY r.median_us LIMIT 1 OFFSET 1),
                  (SELECT r.p95_us FROM repetitions r WHERE r.measurement_id = m.id)),
         CASE m.outcome WHEN 'measured' THEN 10 + (SELECT count(*) FROM repetitions r WHERE r.measurement_id = m.id)
                        WHEN 'skipped' THEN 1 ELSE 2 END
  FROM measurements m, campaigns c WHERE c.key = '';

CREATE TABLE new_repetitions (
  measurement_id INTEGER NOT NULL REFERENCES new_measurements (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  minimum_us REAL NOT NULL,
  median_us REAL NOT NULL,
  p95_us REAL NOT NULL,
  samples_us BLOB NOT NULL,             -- 64-bit little-endian floats
  PRIMARY KEY (measurement_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO new_repetitions SELECT * FROM repetitions;

DROP TABLE repetitions;
DROP TABLE measurements;
ALTER TABLE new_measurements RENAME TO measurements;
ALTER TABLE new_repetitions RENAME TO repetitions;
CREATE INDEX measurements_by_device ON measurements (device_id, measured_at);
CREATE INDEX measurements_by_campaign ON measurements (campaign_id);

-- Of a peak every rate that was a record when it came stays; the greatest counts.
CREATE TABLE new_peak_rates (
  device_id INTEGER NOT NULL REFERENCES devices (id),
  kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'copy', 'arithmetic')),
  working_set_bytes INTEGER NOT NULL,
  dtype TEXT NOT NULL,
  threads INTEGER NOT NULL,
  source TEXT NOT NULL,
  per_second REAL NOT NULL CHECK (per_second > 0),
  PRIMARY KEY (device_id, kind, working_set_bytes, dtype, threads, source, per_second)
) STRICT, WITHOUT ROWID;
INSERT INTO new_peak_rates SELECT * FROM peak_rates;
DROP TABLE peak_rates;
ALTER TABLE new_peak_rates RENAME TO peak_rates;
