-- The layers of models that lack measurements on a device: failed, unsupported, skipped or missing. `infimum plan MODEL
-- --device D` plans them.
-- :model=       only this model, by name
-- :device=      only this device, by name
-- :all=no       yes: also measured layers
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :threads=1    threads of a processor; GPUs count as one
SELECT model, dims, device, state, layers, workload
FROM (
  SELECT o.name AS model, o.dims, d.name AS device, w.text AS workload, layer.layers,
         CASE WHEN EXISTS (SELECT 1 FROM measurements m WHERE m.workload_id = layer.workload_id AND m.device_id = d.id
                           AND m.contract = layer.contract AND m.cache = :cache AND m.outcome = 'measured'
                           AND m.environment_id IN (SELECT v.id FROM environments v
                                                    WHERE CAST(v.threads AS TEXT) = :threads))
              THEN 'measured'
              ELSE coalesce((SELECT min(m.outcome) FROM measurements m
                             WHERE m.workload_id = layer.workload_id AND m.device_id = d.id
                               AND m.contract = layer.contract AND m.cache = :cache AND m.outcome = 'failed'),
                            (SELECT max(m.outcome) FROM measurements m
                             WHERE m.workload_id = layer.workload_id AND m.device_id = d.id
                               AND m.contract = layer.contract AND m.cache = :cache),
                            'missing') END AS state
  FROM current_models o
  JOIN (
    SELECT model_id, workload_id, contract, count(*) AS layers
    FROM model_layers
    WHERE workload_id IS NOT NULL
    GROUP BY model_id, workload_id, contract
  ) layer ON layer.model_id = o.id
  JOIN workloads w ON w.id = layer.workload_id
  CROSS JOIN devices d
  WHERE (:model = '' OR o.name = :model) AND (:device = '' OR d.name = :device)
) known
WHERE :all = 'yes' OR state <> 'measured'
ORDER BY model, dims, device, state, workload
