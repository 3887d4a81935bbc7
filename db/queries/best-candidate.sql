-- The best candidate of a layer on every device, with its interval, its library's version and when it was measured.
-- :layer        the canonical text of a layer configuration or region
-- :generation=  only devices of this generation (Volta, "Zen 3")
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :threads=1    threads of a processor; GPUs count as one
SELECT d.name AS device, g.name AS generation, g.year, best.contract, c.library || '/' || c.algorithm AS candidate,
       c.input_layout || ' to ' || c.output_layout AS layouts, best.best_us AS latency_us, best.low_us, best.high_us,
       e.libraries, m.measured_at
FROM (
  SELECT m.id, m.device_id, m.contract, m.best_us, m.low_us, m.high_us, m.candidate_id, m.environment_id,
         row_number() OVER (PARTITION BY m.device_id, m.contract ORDER BY m.best_us, m.candidate_id, m.id) AS place
  FROM workloads w
  JOIN measurements m ON m.workload_id = w.id
  WHERE w.text = :layer AND m.outcome = 'measured' AND m.cache = :cache
    AND m.environment_id IN (SELECT v.id FROM environments v WHERE CAST(v.threads AS TEXT) = :threads)
) best
JOIN measurements m ON m.id = best.id
JOIN devices d ON d.id = best.device_id
LEFT JOIN generations g ON g.id = d.generation_id
JOIN candidates c ON c.id = best.candidate_id
JOIN environments e ON e.id = best.environment_id
WHERE best.place = 1 AND (:generation = '' OR g.name = :generation)
ORDER BY latency_us, device, best.contract
