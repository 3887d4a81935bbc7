-- Of a row the bytes of its constant operands as the candidate packed them, where the library tells: filtered or blocked
-- weights may be larger than the layer's own.

ALTER TABLE measurements ADD COLUMN constant_bytes INTEGER CHECK (constant_bytes > 0);  -- NULL where it is not known
