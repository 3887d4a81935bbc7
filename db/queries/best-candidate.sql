-- The best candidate of a layer on every device, with its interval, its library's version and when it was measured.
-- :layer        the canonical text of a layer configuration or region
-- :generation=  only devices of this generation (Volta, "Zen 3")
-- :cache=warm   warm or cold
SELECT device, generation, contract, candidate, layouts, latency_us, low_us, high_us, libraries, measured_at
FROM (
  SELECT d.name AS device, d.generation, m.contract, c.library || '/' || c.algorithm AS candidate,
         c.input_layout || ' to ' || c.output_layout AS layouts, m.best_us AS latency_us, m.low_us, m.high_us,
         e.libraries, m.measured_at,
         row_number() OVER (PARTITION BY m.device_id, m.contract ORDER BY m.best_us, m.id) AS place
  FROM workloads w
  JOIN measurements m ON m.workload_id = w.id
  JOIN devices d ON d.id = m.device_id
  JOIN candidates c ON c.id = m.candidate_id
  JOIN environments e ON e.id = m.environment_id
  WHERE w.text = :layer AND m.outcome = 'measured' AND m.cache = :cache
    AND (:generation = '' OR d.generation = :generation)
) ranked
WHERE place = 1
ORDER BY latency_us, device, contract
