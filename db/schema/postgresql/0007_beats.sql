-- The times of two fixed loops around a repetition, from which follows how fast the machine was then.

ALTER TABLE repetitions ADD COLUMN beat_arithmetic_us DOUBLE PRECISION;   -- multiply-adds, and a read of memory;
ALTER TABLE repetitions ADD COLUMN beat_memory_us DOUBLE PRECISION;       --   NULL where neither was timed
