-- Generations with their year, and indexes (see ../0003_models.sql).

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

-- The first entry of a workload on a device under a contract is its best row.
CREATE INDEX measured_by_workload ON measurements (workload_id, device_id, contract, cache, best_us, environment_id)
    INCLUDE (id, low_us, high_us, candidate_id, campaign_id, library_choice) WHERE outcome = 'measured';
CREATE INDEX measured_by_device ON measurements (device_id, environment_id, workload_id, contract, cache, candidate_id)
    INCLUDE (best_us, low_us, high_us, campaign_id, library_choice) WHERE outcome = 'measured';
DROP INDEX measurements_by_campaign;
CREATE INDEX measurements_by_campaign ON measurements (campaign_id, device_id, environment_id, id);
