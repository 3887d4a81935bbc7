-- The times of two fixed loops around a repetition, from which follows how fast the machine was then; and one more kind
-- of peaks: how long shared caches keep what lies in them (per_second is its seconds).

ALTER TABLE repetitions ADD COLUMN beat_arithmetic_us DOUBLE PRECISION;   -- steps of integers, and a read of memory;
ALTER TABLE repetitions ADD COLUMN beat_memory_us DOUBLE PRECISION;       --   NULL where neither was timed

ALTER TABLE peak_rates DROP CONSTRAINT peak_rates_kind_check;
ALTER TABLE peak_rates ADD CONSTRAINT peak_rates_kind_check
  CHECK (kind IN ('read', 'write', 'copy', 'arithmetic', 'tf32', 'launch', 'retention'));
