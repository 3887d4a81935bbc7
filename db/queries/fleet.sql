-- Models and devices by what they can gain: measured runs against the best sequential bound of one library set for the
-- same model, device and threads, largest gain first. Only complete bounds count, with every layer measured; pairs
-- without a run come last.
-- :model=       only this model, by name
-- :generation=  only devices of this generation
SELECT o.name AS model, o.dims, d.name AS device, g.name AS generation, g.year, r.framework, r.framework_version, r.contract,
       r.best_us AS run_us, bound.bound_us, r.best_us - bound.bound_us AS gain_us, r.best_us / bound.bound_us AS ratio
FROM (
  SELECT model_id, device_id, threads, min(sequential_us) AS bound_us
  FROM (
    SELECT layer.model_id, best.device_id, e.threads, sum(layer.executions * best.best_us) AS sequential_us
    FROM (
      SELECT l.model_id, l.workload_id, l.contract, sum(l.executions) AS executions
      FROM current_models p JOIN model_layers l ON l.model_id = p.id
      WHERE l.workload_id IS NOT NULL AND l.executions > 0 AND (:model = '' OR p.name = :model)
      GROUP BY l.model_id, l.workload_id, l.contract
    ) layer
    JOIN (
      SELECT m.workload_id, m.device_id, m.contract, m.environment_id, min(m.best_us) AS best_us
      FROM measurements m
      WHERE m.outcome = 'measured' AND m.cache = 'warm' AND m.workload_id IN (
        SELECT k.workload_id FROM current_models q JOIN model_layers k ON k.model_id = q.id
        WHERE k.workload_id IS NOT NULL AND (:model = '' OR q.name = :model))
      GROUP BY m.workload_id, m.device_id, m.contract, m.environment_id
    ) best ON best.workload_id = layer.workload_id AND best.contract = layer.contract
    JOIN environments e ON e.id = best.environment_id
    GROUP BY layer.model_id, best.device_id, e.id, e.threads
    HAVING count(*) = (SELECT count(DISTINCT a.workload_id) FROM model_layers a
                       WHERE a.model_id = layer.model_id AND a.workload_id IS NOT NULL AND a.executions > 0)
       AND NOT EXISTS (SELECT 1 FROM model_layers u
                       WHERE u.model_id = layer.model_id AND u.status = 'unknown' AND u.executions > 0)
  ) complete
  GROUP BY model_id, device_id, threads
) bound
JOIN models o ON o.id = bound.model_id
JOIN devices d ON d.id = bound.device_id
LEFT JOIN generations g ON g.id = d.generation_id
LEFT JOIN runs r ON r.model_sha256 = o.sha256 AND r.dims = o.dims AND r.device_key = d.key
     AND r.threads = bound.threads
WHERE (:generation = '' OR g.name = :generation)
ORDER BY r.best_us IS NULL, ratio DESC, model, o.dims, g.year IS NULL, g.year, device
