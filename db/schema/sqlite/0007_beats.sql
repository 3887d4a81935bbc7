-- The times of two fixed loops around a repetition, from which follows how fast the machine was then; and one more kind
-- of peaks: how long shared caches keep what lies in them.

ALTER TABLE repetitions ADD COLUMN beat_arithmetic_us REAL;   -- steps of integers, and a read of memory;
ALTER TABLE repetitions ADD COLUMN beat_memory_us REAL;       --   NULL where neither was timed

-- Of a peak every rate that was a record when it came stays; the greatest counts.
CREATE TABLE new_peak_rates (
  device_id INTEGER NOT NULL REFERENCES devices (id),
  kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'copy', 'arithmetic', 'tf32', 'launch', 'retention')),
  working_set_bytes INTEGER NOT NULL,
  dtype TEXT NOT NULL,
  threads INTEGER NOT NULL,
  source TEXT NOT NULL,
  per_second REAL NOT NULL CHECK (per_second > 0),    -- of a retention its seconds
  PRIMARY KEY (device_id, kind, working_set_bytes, dtype, threads, source, per_second)
) STRICT, WITHOUT ROWID;
INSERT INTO new_peak_rates SELECT * FROM peak_rates;
DROP TABLE peak_rates;
ALTER TABLE new_peak_rates RENAME TO peak_rates;
