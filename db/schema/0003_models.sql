-- Models and their layers, so that questions can be about a model; generations with their year; the clocks that a
-- repetition ran at.

UPDATE devices SET generation_id = (SELECT g.id FROM generations g WHERE g.name = devices.generation);
ALTER TABLE devices DROP COLUMN generation;

CREATE TABLE models (
  id INTEGER PRIMARY KEY,               -- in order of import: the newest is the greatest
  key TEXT NOT NULL UNIQUE,             -- SHA-256 of all that is kept of it
  name TEXT NOT NULL,                   -- the file's, without its extension
  sha256 TEXT NOT NULL,                 -- of the file
  dims TEXT NOT NULL                    -- JSON object of numbers, names ascending
) STRICT;
CREATE INDEX models_by_name ON models (name);  -- kSqlite
CREATE INDEX models_by_name ON models USING hash (name);  -- kPostgreSql
CREATE INDEX models_by_file ON models (sha256, dims);  -- kSqlite
CREATE INDEX models_by_file ON models USING hash (sha256);  -- kPostgreSql

CREATE TABLE model_layers (
  model_id INTEGER NOT NULL REFERENCES models (id),
  position INTEGER NOT NULL,            -- from 0, in topological order; those of bodies follow their holder
  name TEXT NOT NULL,
  op TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('measurable', 'free', 'unknown')),
  reason TEXT NOT NULL,                 -- why free or unknown
  workload_id INTEGER REFERENCES workloads (id),
  contract TEXT NOT NULL,               -- that its own types ask for; '' where there is no workload
  executions INTEGER NOT NULL,          -- in each inference; 0 in a branch that may not run
  bytes INTEGER NOT NULL,               -- that it must move
  flops INTEGER NOT NULL,               -- of the conventional algorithm
  PRIMARY KEY (model_id, position),
  CHECK ((status = 'measurable') = (workload_id IS NOT NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX model_layers_by_workload ON model_layers (workload_id);

-- Of a file that was read several times, by versions that know more, the newest reading.
CREATE VIEW current_models AS
  SELECT m.* FROM models m
  WHERE NOT EXISTS (SELECT 1 FROM models n WHERE n.sha256 = m.sha256 AND n.dims = m.dims AND n.name = m.name
                      AND n.id > m.id);

ALTER TABLE repetitions ADD COLUMN clock_low_mhz REAL;   -- lowest and highest reading of the device's clock;
ALTER TABLE repetitions ADD COLUMN clock_high_mhz REAL;  --   NULL where the system does not tell

-- The point value of a run and its interval, as of a measurement; NULL where a run has layers only.
ALTER TABLE runs ADD COLUMN best_us REAL;
ALTER TABLE runs ADD COLUMN low_us REAL;
ALTER TABLE runs ADD COLUMN high_us REAL;
