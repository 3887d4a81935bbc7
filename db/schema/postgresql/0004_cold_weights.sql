-- A third cache state: constant operands come from memory, everything else is warm.

ALTER TABLE measurements DROP CONSTRAINT measurements_cache_check;
ALTER TABLE measurements ADD CONSTRAINT measurements_cache_check CHECK (cache IN ('warm', 'cold', 'cold-weights'));
