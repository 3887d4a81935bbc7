-- Evaluations: what was asked for, cell by cell, every attempt at a cell, and what became of it. All of it is only ever
-- added: an attempt without a result is under way, or its worker is gone.

CREATE TABLE evaluations (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,            -- SHA-256 over those of its cells
  name TEXT NOT NULL,
  text TEXT NOT NULL                    -- the file
) STRICT;

CREATE TABLE cells (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,            -- SHA-256 of its text
  name TEXT NOT NULL,                   -- of its model
  text TEXT NOT NULL                    -- canonical: JSON, members by name
) STRICT;

-- What is said of a cell, one fact a row: 'framework.name', 'model.choices.layers', 'threads'.
CREATE TABLE cell_fields (
  cell_id INTEGER NOT NULL REFERENCES cells (id),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (cell_id, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE evaluation_cells (
  evaluation_id INTEGER NOT NULL REFERENCES evaluations (id),
  position INTEGER NOT NULL,            -- from 0, in the order of the file
  cell_id INTEGER NOT NULL REFERENCES cells (id),
  PRIMARY KEY (evaluation_id, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX evaluation_cells_by_cell ON evaluation_cells (cell_id);

CREATE TABLE cell_attempts (
  id INTEGER PRIMARY KEY,               -- in order of beginning
  cell_id INTEGER NOT NULL REFERENCES cells (id),
  device_key TEXT NOT NULL,
  worker TEXT NOT NULL,                 -- host, process and its start
  begun_at TEXT NOT NULL,               -- UTC
  until TEXT NOT NULL                   -- UTC: later than this its worker is gone
) STRICT;
CREATE INDEX cell_attempts_by_cell ON cell_attempts (cell_id, device_key);  -- kSqlite
CREATE INDEX cell_attempts_by_cell ON cell_attempts (cell_id);  -- kPostgreSql

CREATE TABLE cell_results (
  attempt_id INTEGER PRIMARY KEY REFERENCES cell_attempts (id),
  state TEXT NOT NULL CHECK (state IN ('ok', 'oom', 'timeout', 'failed', 'unsupported', 'skipped')),
  reason TEXT NOT NULL,                 -- why it is not ok
  measured_at TEXT NOT NULL,            -- UTC
  best_us REAL, low_us REAL, high_us REAL,  -- the point value and its interval; NULL where it is not ok
  parameters INTEGER, flops INTEGER, bytes INTEGER, weight_bytes INTEGER, memory_bytes INTEGER,  -- of its model
  floor_us REAL,                        -- textbook, on the device as it was known then
  framework_version TEXT NOT NULL,
  verifies INTEGER NOT NULL,           -- 1: only to be held against the result before it
  details TEXT NOT NULL                 -- JSON: facts, evidence, repetitions
) STRICT;

-- Of each cell on each device the newest result that is no verification.
CREATE VIEW current_cells AS
  SELECT a.cell_id, a.device_key, r.* FROM cell_results r JOIN cell_attempts a ON a.id = r.attempt_id
  WHERE r.verifies = 0 AND NOT EXISTS (
    SELECT 1 FROM cell_attempts n JOIN cell_results s ON s.attempt_id = n.id
    WHERE s.verifies = 0 AND n.cell_id = a.cell_id AND n.device_key = a.device_key AND n.id > a.id);
