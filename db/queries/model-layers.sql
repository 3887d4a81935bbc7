-- A model's layers over all generations: the best measured time of each on every device, with its candidate.
-- :model        its name
-- :device=      only this device, by name
-- :generation=  only devices of this generation
-- :cache=warm   warm or cold
-- :dims=        only with these dimensions: {"batch":1}
SELECT l.position, l.name AS layer, l.op, l.executions, d.name AS device, g.name AS generation, g.year,
       best.best_us AS latency_us, best.low_us, best.high_us, c.library || '/' || c.algorithm AS candidate, e.libraries,
       w.text AS workload
FROM current_models o
JOIN model_layers l ON l.model_id = o.id
JOIN workloads w ON w.id = l.workload_id
JOIN (
  SELECT m.workload_id, m.device_id, m.contract, m.best_us, m.low_us, m.high_us, m.candidate_id, m.environment_id,
         row_number() OVER (PARTITION BY m.workload_id, m.device_id, m.contract
                            ORDER BY m.best_us, m.candidate_id, m.environment_id) AS place
  FROM measurements m
  WHERE m.outcome = 'measured' AND m.cache = :cache AND m.workload_id IN (
    SELECT k.workload_id FROM current_models p JOIN model_layers k ON k.model_id = p.id
    WHERE k.workload_id IS NOT NULL AND p.name = :model)
) best ON best.workload_id = l.workload_id AND best.contract = l.contract AND best.place = 1
JOIN devices d ON d.id = best.device_id
LEFT JOIN generations g ON g.id = d.generation_id
JOIN candidates c ON c.id = best.candidate_id
JOIN environments e ON e.id = best.environment_id
WHERE o.name = :model AND (:device = '' OR d.name = :device) AND (:generation = '' OR g.name = :generation)
  AND (:dims = '' OR o.dims = :dims)
ORDER BY o.dims, o.id, l.position, g.year, device
