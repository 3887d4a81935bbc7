-- Every candidate of a layer on one device: what ran, what did not and why.
-- :layer   the canonical text of a layer configuration or region
-- :device  the device's name
SELECT c.library || '/' || c.algorithm AS candidate, c.input_layout || ' to ' || c.output_layout AS layouts, m.contract,
       m.outcome, m.best_us AS latency_us, m.low_us, m.high_us, m.library_choice, m.reason, e.libraries, m.measured_at
FROM workloads w
CROSS JOIN devices d
JOIN measurements m ON m.workload_id = w.id AND m.device_id = d.id
JOIN candidates c ON c.id = m.candidate_id
JOIN environments e ON e.id = m.environment_id
WHERE w.text = :layer AND d.name = :device
ORDER BY m.best_us IS NULL, m.best_us, candidate, m.id
