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

-- What a row says of itself. Schema 6 moves rows to a new table, which holds the conditions of these columns.
ALTER TABLE measurements ADD COLUMN campaign_id INTEGER REFERENCES campaigns (id);
ALTER TABLE measurements ADD COLUMN repetition_count INTEGER;
ALTER TABLE measurements ADD COLUMN best_us REAL;
ALTER TABLE measurements ADD COLUMN low_us REAL;
ALTER TABLE measurements ADD COLUMN high_us REAL;
ALTER TABLE measurements ADD COLUMN weight INTEGER;
UPDATE measurements SET
  campaign_id = (SELECT id FROM campaigns WHERE key = ''),
  repetition_count = (SELECT count(*) FROM repetitions r WHERE r.measurement_id = measurements.id),
  best_us = (SELECT min(r.median_us) FROM repetitions r WHERE r.measurement_id = measurements.id),
  low_us = (SELECT min(r.minimum_us) FROM repetitions r WHERE r.measurement_id = measurements.id),
  high_us = coalesce((SELECT r.median_us FROM repetitions r WHERE r.measurement_id = measurements.id
                      ORDER BY r.median_us LIMIT 1 OFFSET 1),
                     (SELECT r.p95_us FROM repetitions r WHERE r.measurement_id = measurements.id));
UPDATE measurements SET
  weight = CASE outcome WHEN 'measured' THEN 10 + repetition_count WHEN 'skipped' THEN 1 ELSE 2 END;
