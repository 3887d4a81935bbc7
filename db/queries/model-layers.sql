-- A model's layers over all generations: the best measured time of each on every device, with its candidate.
-- :model        its name, or the SHA-256 of its file
-- :device=      only this device, by name or key
-- :generation=  only devices of this generation
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :threads=1    threads of a processor; GPUs count as one; empty: any number
-- :dims=        only with these dimensions: {"batch":1}
SELECT l.position, l.name AS layer, l.op, l.executions, d.name AS device, g.name AS generation, g.year,
       best.best_us AS latency_us, best.low_us, best.high_us, c.library || '/' || c.algorithm AS candidate, e.libraries,
       w.text AS workload, d.key AS device_key
FROM (
  SELECT o.id AS model_id, o.dims, k.position, d.id AS device_id,
         (SELECT m.id FROM measurements m
          WHERE m.workload_id = k.workload_id AND m.device_id = d.id AND m.contract = k.contract AND m.cache = :cache
            AND m.outcome = 'measured'
            AND m.environment_id IN (SELECT v.id FROM environments v WHERE :threads = '' OR CAST(v.threads AS TEXT) = :threads)
          ORDER BY m.best_us, m.environment_id LIMIT 1) AS best_id
  FROM current_models o
  JOIN model_layers k ON k.model_id = o.id AND k.workload_id IS NOT NULL
  CROSS JOIN devices d
  WHERE (o.name = :model OR o.sha256 = :model) AND :device IN ('', d.name, d.key) AND (:dims = '' OR o.dims = :dims)
) known
JOIN measurements best ON best.id = known.best_id
JOIN model_layers l ON l.model_id = known.model_id AND l.position = known.position
JOIN devices d ON d.id = known.device_id
LEFT JOIN generations g ON g.id = d.generation_id
JOIN candidates c ON c.id = best.candidate_id
JOIN environments e ON e.id = best.environment_id
JOIN workloads w ON w.id = l.workload_id
WHERE (:generation = '' OR g.name = :generation)
ORDER BY known.model_id, l.position, g.year IS NULL, g.year, device
