-- Every candidate of a layer on one device, with its time or the reason why it did not run.
-- :layer   the canonical text of a layer configuration or region
-- :device  the device's name
SELECT c.library || '/' || c.algorithm AS candidate, c.input_layout || ' to ' || c.output_layout AS layouts, m.contract,
       m.cache, e.threads, m.outcome, m.best_us AS latency_us, m.low_us, m.high_us, m.library_choice, m.reason, e.libraries, m.measured_at
FROM workloads w
CROSS JOIN devices d
JOIN measurements m ON m.workload_id = w.id AND m.device_id = d.id
JOIN candidates c ON c.id = m.candidate_id
JOIN environments e ON e.id = m.environment_id
WHERE w.text = :layer AND d.name = :device
  -- Where nobody may delete, rows that a better one replaced are still there.
  AND NOT EXISTS (SELECT 1 FROM measurements b WHERE b.workload_id = m.workload_id AND b.device_id = m.device_id
                  AND b.candidate_id = m.candidate_id AND b.contract = m.contract AND b.cache = m.cache
                  AND b.environment_id = m.environment_id AND b.evidence_id = m.evidence_id
                  AND b.campaign_id = m.campaign_id AND b.weight > m.weight)
ORDER BY m.best_us IS NULL, m.best_us, candidate, m.id
