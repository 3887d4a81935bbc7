-- The layers of models that lack measurements on a device: failed, unsupported, skipped or missing. `infimum plan MODEL
-- --device D` plans them.
-- :model=       only this model, by name
-- :device=      only this device, by name or key
-- :all=no       yes: also measured layers
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :threads=1    threads of a processor; GPUs count as one; empty: any number
WITH threaded AS (
  SELECT v.id FROM environments v WHERE :threads = '' OR CAST(v.threads AS TEXT) = :threads
), states AS MATERIALIZED (
  -- Each configuration once, of however many models.
  SELECT wanted.workload_id, wanted.contract, d.id AS device_id,
         CASE WHEN EXISTS (SELECT 1 FROM measurements m WHERE m.workload_id = wanted.workload_id AND m.device_id = d.id
                           AND m.contract = wanted.contract AND m.cache = :cache AND m.outcome = 'measured'
                           AND m.environment_id IN (SELECT id FROM threaded))
              THEN 'measured'
              ELSE coalesce((SELECT min(m.outcome) FROM measurements m
                             WHERE m.workload_id = wanted.workload_id AND m.device_id = d.id
                               AND m.contract = wanted.contract AND m.cache = :cache AND m.outcome = 'failed'
                               AND m.environment_id IN (SELECT id FROM threaded)),
                            (SELECT max(m.outcome) FROM measurements m
                             WHERE m.workload_id = wanted.workload_id AND m.device_id = d.id
                               AND m.contract = wanted.contract AND m.cache = :cache
                               AND m.environment_id IN (SELECT id FROM threaded)),
                            'missing') END AS state
  FROM (
    SELECT DISTINCT k.workload_id, k.contract
    FROM current_models q JOIN model_layers k ON k.model_id = q.id
    WHERE k.workload_id IS NOT NULL AND k.executions > 0 AND (:model = '' OR q.name = :model)
  ) wanted
  CROSS JOIN devices d
  WHERE :device IN ('', d.name, d.key)
)
SELECT o.name AS model, o.dims, d.name AS device, s.state, layer.layers, w.text AS workload, o.sha256,
       d.key AS device_key
FROM current_models o
JOIN (
  SELECT model_id, workload_id, contract, count(*) AS layers
  FROM model_layers
  WHERE workload_id IS NOT NULL AND executions > 0
  GROUP BY model_id, workload_id, contract
) layer ON layer.model_id = o.id
JOIN states s ON s.workload_id = layer.workload_id AND s.contract = layer.contract
JOIN devices d ON d.id = s.device_id
JOIN workloads w ON w.id = layer.workload_id
WHERE (:model = '' OR o.name = :model) AND (:all = 'yes' OR s.state <> 'measured')
ORDER BY model, o.dims, device, s.state, workload
