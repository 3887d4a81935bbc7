-- Models and their layers, so that questions can be about a model; generations with their year; the clocks that a
-- repetition ran at; indexes over what was measured alone, which hold all that most questions want to know.

-- Texts of any length are unique by their MD5 where a text is one of several columns: entries of the usual indexes hold
-- 2,704 bytes.
ALTER TABLE environment_libraries DROP CONSTRAINT environment_libraries_pkey;
CREATE UNIQUE INDEX environment_libraries_by_name ON environment_libraries (environment_id, md5(library));
DROP INDEX environment_libraries_by_version;
CREATE INDEX environment_libraries_by_version ON environment_libraries USING hash (version);
ALTER TABLE candidates DROP CONSTRAINT candidates_library_algorithm_input_layout_output_layout_key;
CREATE UNIQUE INDEX candidates_by_name
  ON candidates (md5(library), md5(algorithm), md5(input_layout), md5(output_layout));
ALTER TABLE peak_rates DROP CONSTRAINT peak_rates_pkey;
CREATE UNIQUE INDEX peak_rates_by_device
  ON peak_rates (device_id, kind, working_set_bytes, dtype, threads, md5(source), per_second);
DROP INDEX runs_by_model;
CREATE INDEX runs_by_model ON runs USING hash (model_sha256);

CREATE TABLE generations (
  id BIGINT PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,                   -- "Volta", "Zen 3"
  year BIGINT,                                      -- of its first device; NULL where no data sheet tells
  EXCLUDE USING hash (name WITH =)
);
INSERT INTO generations (id, name)
  SELECT row_number() OVER (ORDER BY generation), generation
  FROM (SELECT DISTINCT generation FROM devices WHERE generation <> '') known;
ALTER TABLE devices ADD COLUMN generation_id BIGINT REFERENCES generations (id);  -- NULL where unknown
UPDATE devices SET generation_id = (SELECT g.id FROM generations g WHERE g.name = devices.generation);
ALTER TABLE devices DROP COLUMN generation;

CREATE TABLE models (
  id BIGINT PRIMARY KEY,                            -- in order of import: the newest is the greatest
  key TEXT COLLATE "C" NOT NULL UNIQUE,             -- SHA-256 of all that is kept of it
  name TEXT COLLATE "C" NOT NULL,                   -- the file's, without its extension
  sha256 TEXT COLLATE "C" NOT NULL,                 -- of the file
  dims TEXT COLLATE "C" NOT NULL                    -- JSON object of numbers, names ascending
);
CREATE INDEX models_by_name ON models USING hash (name);
CREATE INDEX models_by_file ON models USING hash (sha256);

CREATE TABLE model_layers (
  model_id BIGINT NOT NULL REFERENCES models (id),
  position BIGINT NOT NULL,                         -- from 0, in topological order; those of bodies follow their holder
  name TEXT COLLATE "C" NOT NULL,
  op TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL CHECK (status IN ('measurable', 'free', 'unknown')),
  reason TEXT COLLATE "C" NOT NULL,                 -- why free or unknown
  workload_id BIGINT REFERENCES workloads (id),
  contract TEXT COLLATE "C" NOT NULL,               -- that its own types ask for; '' where there is no workload
  executions BIGINT NOT NULL,                       -- in each inference; 0 in a branch that may not run
  bytes BIGINT NOT NULL,                            -- that it must move
  flops BIGINT NOT NULL,                            -- of the conventional algorithm
  PRIMARY KEY (model_id, position),
  CHECK ((status = 'measurable') = (workload_id IS NOT NULL))
);
CREATE INDEX model_layers_by_workload ON model_layers (workload_id);

-- Of a file that was read several times, by versions that know more, the newest reading.
CREATE VIEW current_models AS
  SELECT m.* FROM models m
  WHERE NOT EXISTS (SELECT 1 FROM models n WHERE n.sha256 = m.sha256 AND n.dims = m.dims AND n.name = m.name
                      AND n.id > m.id);

ALTER TABLE repetitions ADD COLUMN clock_low_mhz DOUBLE PRECISION;   -- lowest and highest reading of the device's clock;
ALTER TABLE repetitions ADD COLUMN clock_high_mhz DOUBLE PRECISION;  --   NULL where the system does not tell

-- The point value of a run and its interval, as of a measurement; NULL where a run has layers only.
ALTER TABLE runs ADD COLUMN best_us DOUBLE PRECISION;
ALTER TABLE runs ADD COLUMN low_us DOUBLE PRECISION;
ALTER TABLE runs ADD COLUMN high_us DOUBLE PRECISION;

-- The first entry of a workload on a device under a contract is its best row.
CREATE INDEX measured_by_workload ON measurements (workload_id, device_id, contract, cache, best_us, environment_id)
    INCLUDE (id, low_us, high_us, candidate_id, campaign_id, library_choice) WHERE outcome = 'measured';
CREATE INDEX measured_by_device ON measurements (device_id, environment_id, workload_id, contract, cache, candidate_id)
    INCLUDE (best_us, low_us, high_us, campaign_id, library_choice) WHERE outcome = 'measured';
DROP INDEX measurements_by_campaign;
CREATE INDEX measurements_by_campaign ON measurements (campaign_id, device_id, environment_id, id);
