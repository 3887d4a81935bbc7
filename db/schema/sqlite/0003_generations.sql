-- Generations with their year (see ../0003_models.sql).

CREATE TABLE generations (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,            -- "Volta", "Zen 3"
  year INTEGER                          -- of its first device; NULL where no data sheet tells
) STRICT;
INSERT INTO generations (name) SELECT DISTINCT generation FROM devices WHERE generation <> '' ORDER BY generation;
ALTER TABLE devices ADD COLUMN generation_id INTEGER REFERENCES generations (id);  -- NULL where unknown
