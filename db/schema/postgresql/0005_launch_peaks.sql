-- Two more kinds of peaks: products under the contract tf32, and launches of empty kernels.

ALTER TABLE peak_rates DROP CONSTRAINT peak_rates_kind_check;
ALTER TABLE peak_rates ADD CONSTRAINT peak_rates_kind_check
  CHECK (kind IN ('read', 'write', 'copy', 'arithmetic', 'tf32', 'launch'));
