-- Evaluations: what was asked for, cell by cell, every attempt at a cell, and what became of it. All of it is only ever
-- added: an attempt without a result is under way, or its worker is gone.

CREATE TABLE evaluations (
  id BIGINT PRIMARY KEY,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,            -- SHA-256 over those of its cells
  name TEXT COLLATE "C" NOT NULL,
  text TEXT COLLATE "C" NOT NULL                    -- the file
);

CREATE TABLE cells (
  id BIGINT PRIMARY KEY,
  hash TEXT COLLATE "C" NOT NULL UNIQUE,            -- SHA-256 of its text
  name TEXT COLLATE "C" NOT NULL,                   -- of its model
  text TEXT COLLATE "C" NOT NULL                    -- canonical: JSON, members by name
);

-- What is said of a cell, one fact a row: 'framework.name', 'model.choices.layers', 'threads'.
CREATE TABLE cell_fields (
  cell_id BIGINT NOT NULL REFERENCES cells (id),
  name TEXT COLLATE "C" NOT NULL,
  value TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (cell_id, name)
);

CREATE TABLE evaluation_cells (
  evaluation_id BIGINT NOT NULL REFERENCES evaluations (id),
  position BIGINT NOT NULL,            -- from 0, in the order of the file
  cell_id BIGINT NOT NULL REFERENCES cells (id),
  PRIMARY KEY (evaluation_id, position)
);
CREATE INDEX evaluation_cells_by_cell ON evaluation_cells (cell_id);

CREATE TABLE cell_attempts (
  id BIGINT PRIMARY KEY,               -- in order of beginning
  cell_id BIGINT NOT NULL REFERENCES cells (id),
  device_key TEXT COLLATE "C" NOT NULL,
  worker TEXT COLLATE "C" NOT NULL,                 -- host, process and its start
  begun_at TEXT COLLATE "C" NOT NULL,               -- UTC
  until TEXT COLLATE "C" NOT NULL                   -- UTC: later than this its worker is gone
);
CREATE INDEX cell_attempts_by_cell ON cell_attempts (cell_id);

CREATE TABLE cell_results (
  attempt_id BIGINT PRIMARY KEY REFERENCES cell_attempts (id),
  state TEXT COLLATE "C" NOT NULL CHECK (state IN ('ok', 'oom', 'timeout', 'failed', 'unsupported', 'skipped')),
  reason TEXT COLLATE "C" NOT NULL,                 -- why it is not ok
  measured_at TEXT COLLATE "C" NOT NULL,            -- UTC
  best_us DOUBLE PRECISION, low_us DOUBLE PRECISION, high_us DOUBLE PRECISION,  -- the point value and its interval; NULL where it is not ok
  parameters BIGINT, flops BIGINT, bytes BIGINT, weight_bytes BIGINT, memory_bytes BIGINT,  -- of its model
  floor_us DOUBLE PRECISION,                        -- textbook, on the device as it was known then
  framework_version TEXT COLLATE "C" NOT NULL,
  verifies BIGINT NOT NULL,           -- 1: only to be held against the result before it
  details TEXT COLLATE "C" NOT NULL                 -- JSON: facts, evidence, repetitions
);

-- Of each cell on each device the newest result that is no verification.
CREATE VIEW current_cells AS
  SELECT a.cell_id, a.device_key, r.* FROM cell_results r JOIN cell_attempts a ON a.id = r.attempt_id
  WHERE r.verifies = 0 AND NOT EXISTS (
    SELECT 1 FROM cell_attempts n JOIN cell_results s ON s.attempt_id = n.id
    WHERE s.verifies = 0 AND n.cell_id = a.cell_id AND n.device_key = a.device_key AND n.id > a.id);
