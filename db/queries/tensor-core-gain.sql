-- The gain of Tensor Cores, layer by layer: the best candidate that uses them against the best f32 arithmetic without them,
-- on the same device, for the same layer in other types.
-- :to=f16           their type: f16, bf16, s8, or f32 for candidates that round inputs themselves
-- :mark=tensor_op   part of the names of candidates that use them
-- :device=          only this device, by name
-- :cache=warm       warm, cold or cold-weights (which only layers with weights have)
-- :family=          only this family of layers (convolution, matmul)
-- :least=0          the smallest gain that is listed: 2 lists what becomes twice as fast
SELECT d.name AS device, g.name AS generation, g.year, plain.best_us AS plain_us, tensor.best_us AS tensor_us,
       plain.best_us / tensor.best_us AS gain, tensor.contract, w.text AS layer
FROM (
  SELECT m.device_id, m.workload_id, min(m.best_us) AS best_us
  FROM devices s CROSS JOIN measurements m JOIN candidates c ON c.id = m.candidate_id
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND m.cache = :cache AND (:device = '' OR s.name = :device)
    AND m.contract = 'strict-f32' AND c.algorithm NOT LIKE '%' || :mark || '%'
  GROUP BY m.device_id, m.workload_id
) plain
JOIN workloads w ON w.id = plain.workload_id
JOIN workloads n ON n.text = replace(w.text, 'f32', :to)
JOIN (
  SELECT m.device_id, m.workload_id, m.contract, min(m.best_us) AS best_us
  FROM devices s CROSS JOIN measurements m JOIN candidates c ON c.id = m.candidate_id
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND m.cache = :cache AND (:device = '' OR s.name = :device)
    AND c.algorithm LIKE '%' || :mark || '%'
  GROUP BY m.device_id, m.workload_id, m.contract
) tensor ON tensor.workload_id = n.id AND tensor.device_id = plain.device_id
JOIN devices d ON d.id = plain.device_id
LEFT JOIN generations g ON g.id = d.generation_id
WHERE (:family = '' OR w.family = :family)
  AND plain.best_us >= tensor.best_us * CAST(:least AS DOUBLE PRECISION)
ORDER BY gain DESC, device, layer
