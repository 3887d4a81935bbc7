-- What the SQLite files 0001 and 0002 make together: PostgreSQL came with schema 2. Texts compare by their bytes, as
-- they do in SQLite, whatever the database's language. Texts of any length are unique by hash indexes or by their MD5,
-- since entries of the usual indexes hold 2,704 bytes. Ids are given by the writer, which is alone (see README.md).

CREATE TABLE devices (
  id BIGINT PRIMARY KEY,
  key TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('cpu', 'gpu')),
  name TEXT COLLATE "C" NOT NULL,
  vendor TEXT COLLATE "C" NOT NULL,
  generation TEXT COLLATE "C" NOT NULL,
  identity TEXT COLLATE "C" NOT NULL,               -- JSON object of texts
  cores BIGINT NOT NULL,
  last_level_cache_bytes BIGINT NOT NULL,
  memory_bytes BIGINT NOT NULL,
  EXCLUDE USING hash (key WITH =)
);

CREATE TABLE environments (
  id BIGINT PRIMARY KEY,
  key TEXT COLLATE "C" NOT NULL,
  libraries TEXT COLLATE "C" NOT NULL,              -- JSON object of texts
  threads BIGINT NOT NULL,
  affinity TEXT COLLATE "C" NOT NULL,
  clock_policy TEXT COLLATE "C" NOT NULL,
  host TEXT COLLATE "C" NOT NULL,
  infimum_version TEXT COLLATE "C" NOT NULL,
  EXCLUDE USING hash (key WITH =)
);

CREATE TABLE environment_libraries (
  environment_id BIGINT NOT NULL REFERENCES environments (id),
  library TEXT COLLATE "C" NOT NULL,
  version TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX environment_libraries_by_name ON environment_libraries (environment_id, md5(library));
CREATE INDEX environment_libraries_by_version ON environment_libraries USING hash (version);

CREATE TABLE workloads (
  id BIGINT PRIMARY KEY,
  text TEXT COLLATE "C" NOT NULL,                   -- the canonical text
  family TEXT COLLATE "C" NOT NULL,                 -- its first word: convolution, region
  EXCLUDE USING hash (text WITH =)
);

CREATE TABLE candidates (
  id BIGINT PRIMARY KEY,
  library TEXT COLLATE "C" NOT NULL,
  algorithm TEXT COLLATE "C" NOT NULL,
  input_layout TEXT COLLATE "C" NOT NULL,
  output_layout TEXT COLLATE "C" NOT NULL
);
CREATE UNIQUE INDEX candidates_by_name
  ON candidates (md5(library), md5(algorithm), md5(input_layout), md5(output_layout));

CREATE TABLE campaigns (
  id BIGINT PRIMARY KEY,
  key TEXT COLLATE "C" NOT NULL,             -- '' for rows that belong to none
  source TEXT COLLATE "C" NOT NULL,                 -- the file's name, or what measured
  imported_at TEXT COLLATE "C" NOT NULL,            -- UTC
  EXCLUDE USING hash (key WITH =)
);

CREATE TABLE measurements (
  id BIGINT PRIMARY KEY,
  workload_id BIGINT NOT NULL REFERENCES workloads (id),
  candidate_id BIGINT NOT NULL REFERENCES candidates (id),
  contract TEXT COLLATE "C" NOT NULL,
  cache TEXT COLLATE "C" NOT NULL CHECK (cache IN ('warm', 'cold')),
  device_id BIGINT NOT NULL REFERENCES devices (id),
  environment_id BIGINT NOT NULL REFERENCES environments (id),
  campaign_id BIGINT NOT NULL REFERENCES campaigns (id),
  measured_at TEXT COLLATE "C" NOT NULL,            -- UTC
  outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('measured', 'unsupported', 'skipped', 'failed')),
  reason TEXT COLLATE "C" NOT NULL,                 -- of every outcome but measured
  library_choice SMALLINT NOT NULL CHECK (library_choice IN (0, 1)),
  numeric_error DOUBLE PRECISION,                   -- NULL where it was not checked
  flags TEXT COLLATE "C" NOT NULL,                  -- JSON list of texts
  repetition_count BIGINT NOT NULL,
  best_us DOUBLE PRECISION,                         -- the point value: the smallest median of a repetition
  low_us DOUBLE PRECISION,                          -- where it would fall if the campaign were repeated: from the
  high_us DOUBLE PRECISION,                         --   smallest minimum to the second-smallest median
  -- How much the row says: of rows that are equal but for it, the greatest counts and the others are history.
  weight BIGINT NOT NULL,
  CHECK ((outcome = 'measured') = (best_us IS NOT NULL)),
  UNIQUE (workload_id, device_id, candidate_id, contract, cache, environment_id, campaign_id, weight)
);
CREATE INDEX measurements_by_device ON measurements (device_id, measured_at);
CREATE INDEX measurements_by_campaign ON measurements (campaign_id);

CREATE TABLE repetitions (
  measurement_id BIGINT NOT NULL REFERENCES measurements (id) ON DELETE CASCADE,
  position BIGINT NOT NULL,
  count BIGINT NOT NULL CHECK (count > 0),
  minimum_us DOUBLE PRECISION NOT NULL,
  median_us DOUBLE PRECISION NOT NULL,
  p95_us DOUBLE PRECISION NOT NULL,
  samples_us BYTEA NOT NULL,                        -- 64-bit little-endian floats
  PRIMARY KEY (measurement_id, position)
);

-- Of a peak every rate that was a record when it came stays; the greatest counts.
CREATE TABLE peak_rates (
  device_id BIGINT NOT NULL REFERENCES devices (id),
  kind TEXT COLLATE "C" NOT NULL CHECK (kind IN ('read', 'write', 'copy', 'arithmetic')),
  working_set_bytes BIGINT NOT NULL,
  dtype TEXT COLLATE "C" NOT NULL,
  threads BIGINT NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  per_second DOUBLE PRECISION NOT NULL CHECK (per_second > 0)
);
CREATE UNIQUE INDEX peak_rates_by_device
  ON peak_rates (device_id, kind, working_set_bytes, dtype, threads, md5(source), per_second);

CREATE TABLE runs (
  id BIGINT PRIMARY KEY,                            -- in order of import: the newest is the greatest
  framework TEXT COLLATE "C" NOT NULL,
  framework_version TEXT COLLATE "C" NOT NULL,
  model_name TEXT COLLATE "C" NOT NULL,
  model_sha256 TEXT COLLATE "C" NOT NULL,
  device_key TEXT COLLATE "C" NOT NULL,
  dims TEXT COLLATE "C" NOT NULL,                   -- JSON object of numbers, names ascending
  threads BIGINT NOT NULL,
  contract TEXT COLLATE "C" NOT NULL,
  details TEXT COLLATE "C" NOT NULL                 -- JSON: settings, warnings, end_to_end samples, layers
);
CREATE INDEX runs_by_model ON runs USING hash (model_sha256);
