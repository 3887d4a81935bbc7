-- The first schema. Canonical texts are the keys; numbers carry their unit in the column's name.

CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('cpu', 'gpu')),
  name TEXT NOT NULL,
  vendor TEXT NOT NULL,
  generation TEXT NOT NULL,
  identity TEXT NOT NULL,               -- JSON object of texts
  cores INTEGER NOT NULL,
  last_level_cache_bytes INTEGER NOT NULL,
  memory_bytes INTEGER NOT NULL
) STRICT;

CREATE TABLE environments (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  libraries TEXT NOT NULL,              -- JSON object of texts
  threads INTEGER NOT NULL,
  affinity TEXT NOT NULL,
  clock_policy TEXT NOT NULL,
  host TEXT NOT NULL,
  infimum_version TEXT NOT NULL
) STRICT;

CREATE TABLE workloads (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE             -- the canonical text
) STRICT;

CREATE TABLE candidates (
  id INTEGER PRIMARY KEY,
  library TEXT NOT NULL,
  algorithm TEXT NOT NULL,
  input_layout TEXT NOT NULL,
  output_layout TEXT NOT NULL,
  UNIQUE (library, algorithm, input_layout, output_layout)
) STRICT;

CREATE TABLE measurements (
  id INTEGER PRIMARY KEY,
  workload_id INTEGER NOT NULL REFERENCES workloads (id),
  candidate_id INTEGER NOT NULL REFERENCES candidates (id),
  contract TEXT NOT NULL,
  cache TEXT NOT NULL CHECK (cache IN ('warm', 'cold')),
  device_id INTEGER NOT NULL REFERENCES devices (id),
  environment_id INTEGER NOT NULL REFERENCES environments (id),
  measured_at TEXT NOT NULL,            -- UTC
  outcome TEXT NOT NULL CHECK (outcome IN ('measured', 'unsupported', 'skipped', 'failed')),
  reason TEXT NOT NULL,                 -- of every outcome but measured
  library_choice INTEGER NOT NULL CHECK (library_choice IN (0, 1)),
  numeric_error REAL,                   -- NULL where it was not checked
  flags TEXT NOT NULL,                  -- JSON list of texts
  UNIQUE (workload_id, candidate_id, contract, cache, device_id, environment_id)
) STRICT;
CREATE INDEX measurements_by_device ON measurements (device_id, measured_at);

CREATE TABLE repetitions (
  measurement_id INTEGER NOT NULL REFERENCES measurements (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  count INTEGER NOT NULL CHECK (count > 0),
  minimum_us REAL NOT NULL,
  median_us REAL NOT NULL,
  p95_us REAL NOT NULL,
  samples_us BLOB NOT NULL,             -- 64-bit little-endian floats
  PRIMARY KEY (measurement_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE peak_rates (
  device_id INTEGER NOT NULL REFERENCES devices (id),
  kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'copy', 'arithmetic')),
  working_set_bytes INTEGER NOT NULL,
  dtype TEXT NOT NULL,
  threads INTEGER NOT NULL,
  source TEXT NOT NULL,
  per_second REAL NOT NULL CHECK (per_second > 0),
  PRIMARY KEY (device_id, kind, working_set_bytes, dtype, threads, source)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,               -- in order of import: the newest is the greatest
  framework TEXT NOT NULL,
  framework_version TEXT NOT NULL,
  model_name TEXT NOT NULL,
  model_sha256 TEXT NOT NULL,
  device_key TEXT NOT NULL,
  dims TEXT NOT NULL,                   -- JSON object of numbers, names ascending
  threads INTEGER NOT NULL,
  contract TEXT NOT NULL,
  details TEXT NOT NULL                 -- JSON: settings, warnings, end_to_end samples, layers
) STRICT;
CREATE INDEX runs_by_model ON runs (model_sha256, device_key, threads);
