-- Two more kinds of peaks: products under the contract tf32, and launches of empty kernels.

CREATE TABLE new_peak_rates (
  device_id INTEGER NOT NULL REFERENCES devices (id),
  kind TEXT NOT NULL CHECK (kind IN ('read', 'write', 'copy', 'arithmetic', 'tf32', 'launch')),
  working_set_bytes INTEGER NOT NULL,
  dtype TEXT NOT NULL,
  threads INTEGER NOT NULL,
  source TEXT NOT NULL,
  per_second REAL NOT NULL CHECK (per_second > 0),
  PRIMARY KEY (device_id, kind, working_set_bytes, dtype, threads, source, per_second)
) STRICT, WITHOUT ROWID;
INSERT INTO new_peak_rates SELECT * FROM peak_rates;
DROP TABLE peak_rates;
ALTER TABLE new_peak_rates RENAME TO peak_rates;
