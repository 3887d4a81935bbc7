-- Layers that get faster or slower from one version of a library to another: the best time of each layer with either, by
-- this library's candidates, on the same device and as many threads. A change counts only where the two intervals do not
-- overlap and the times differ by more than :least; for measurements without a spread (those of 2019) only :least
-- excludes noise. Other changes (a driver, the day) are not separated.
-- :library      the library as environments name it (cudnn, onednn)
-- :from         its version before
-- :to           its version after
-- :model=       only the layers of this model, by name
-- :device=      only this device, by name or key
-- :family=      only this family of layers (convolution, matmul, region)
-- :least=0.05   the smallest relative difference that matters
SELECT d.name AS device, both_sides.contract, both_sides.cache, both_sides.threads,
       CASE WHEN after_us > before_us THEN 'slower' ELSE 'faster' END AS verdict, before_us, after_us,
       after_us / before_us AS ratio, w.text AS layer, d.key AS device_key
FROM (
  SELECT m.workload_id, m.device_id, m.contract, m.cache, e.threads,
         min(CASE WHEN l.version = :from THEN m.best_us END) AS before_us,
         min(CASE WHEN l.version = :from THEN m.low_us END) AS before_low,
         min(CASE WHEN l.version = :from THEN m.high_us END) AS before_high,
         min(CASE WHEN l.version = :to THEN m.best_us END) AS after_us,
         min(CASE WHEN l.version = :to THEN m.low_us END) AS after_low,
         min(CASE WHEN l.version = :to THEN m.high_us END) AS after_high
  FROM environment_libraries l CROSS JOIN devices s CROSS JOIN measurements m
  JOIN environments e ON e.id = m.environment_id
  JOIN candidates c ON c.id = m.candidate_id
  WHERE l.library = :library AND l.version IN (:from, :to) AND m.device_id = s.id
    AND m.environment_id = l.environment_id AND m.outcome = 'measured' AND :device IN ('', s.name, s.key)
    AND (c.library = :library OR c.library LIKE :library || '-%')
    AND m.workload_id IN (
      SELECT k.workload_id FROM current_models o JOIN model_layers k ON k.model_id = o.id
      WHERE o.name = :model AND k.workload_id IS NOT NULL
      UNION SELECT v.id FROM workloads v WHERE :model = '' AND (:family = '' OR v.family = :family))
  GROUP BY m.workload_id, m.device_id, m.contract, m.cache, e.threads
) both_sides
JOIN devices d ON d.id = both_sides.device_id
JOIN workloads w ON w.id = both_sides.workload_id
-- Where one side is missing no comparison is true.
WHERE ((after_low > before_high AND after_us > before_us * (1 + CAST(:least AS DOUBLE PRECISION)))
       OR (after_high < before_low AND after_us < before_us / (1 + CAST(:least AS DOUBLE PRECISION))))
  AND (:family = '' OR w.family = :family)
ORDER BY ratio DESC, device, layer
