-- The sequential bound of models on every device, one row for each library set: the best measured time of each layer,
-- times its executions, in sum. Layers without a measurement add nothing: `layers_measured` of `layers` are in the sum;
-- the query coverage lists the others.
-- :model=       only this model, by name
-- :device=      only this device, by name or key
-- :generation=  only devices of this generation
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :threads=1    threads of a processor; GPUs count as one; empty: any number, each apart
-- :dims=        only with these dimensions: {"batch":1}
SELECT o.name AS model, o.dims, d.name AS device, g.name AS generation, g.year, summed.layers_measured,
       (SELECT count(*) FROM model_layers a WHERE a.model_id = o.id AND a.status <> 'free' AND a.executions > 0)
         AS layers,
       summed.sequential_us, summed.low_us, summed.high_us, e.libraries, e.threads, o.sha256,
       d.key AS device_key
FROM (
  SELECT layer.model_id, best.device_id, best.environment_id, CAST(sum(layer.layers) AS BIGINT) AS layers_measured,
         sum(layer.executions * best.best_us) AS sequential_us, sum(layer.executions * best.low_us) AS low_us,
         sum(layer.executions * best.high_us) AS high_us
  FROM (
    SELECT l.model_id, l.workload_id, count(*) AS layers, CAST(sum(l.executions) AS BIGINT) AS executions
    FROM current_models p JOIN model_layers l ON l.model_id = p.id
    WHERE l.workload_id IS NOT NULL AND l.executions > 0 AND (:model = '' OR p.name = :model)
      AND (:dims = '' OR p.dims = :dims)
    GROUP BY l.model_id, l.workload_id
  ) layer
  JOIN (
    SELECT m.workload_id, m.device_id, m.environment_id, min(m.best_us) AS best_us, min(m.low_us) AS low_us,
           min(m.high_us) AS high_us
    FROM (
      -- A workload's own contract is the same in every model.
      SELECT DISTINCT k.workload_id, k.contract
      FROM current_models q JOIN model_layers k ON k.model_id = q.id
      WHERE k.workload_id IS NOT NULL AND (:model = '' OR q.name = :model)
    ) wanted
    JOIN measurements m ON m.workload_id = wanted.workload_id AND m.contract = wanted.contract AND m.cache = :cache
         AND m.outcome = 'measured'
    GROUP BY m.workload_id, m.device_id, m.environment_id
  ) best ON best.workload_id = layer.workload_id
  GROUP BY layer.model_id, best.device_id, best.environment_id
) summed
JOIN models o ON o.id = summed.model_id
JOIN devices d ON d.id = summed.device_id
LEFT JOIN generations g ON g.id = d.generation_id
JOIN environments e ON e.id = summed.environment_id
WHERE (:threads = '' OR CAST(e.threads AS TEXT) = :threads) AND :device IN ('', d.name, d.key)
  AND (:generation = '' OR g.name = :generation)
ORDER BY model, o.dims, g.year IS NULL, g.year, device, layers_measured DESC, sequential_us
