-- What gets faster or slower from one version of a library to another: the best time of each layer with either, by this
-- library's candidates, on the same device and as many threads. A change counts only where the two intervals do not
-- overlap and the times differ by more than :least; where a row is one number without a spread (the measurements of
-- 2019), :least is all that stands for the noise. What changed beside the library (a driver, the day) it cannot know.
-- :library      the library as environments name it (cudnn, onednn)
-- :from         its version before
-- :to           its version after
-- :model=       only the layers of this model, by name
-- :device=      only this device, by name
-- :family=      only this family of layers (convolution, matmul, region)
-- :least=0.05   the smallest relative difference that matters
SELECT d.name AS device, old.contract, old.cache, old.threads,
       CASE WHEN new.best > old.best THEN 'slower' ELSE 'faster' END AS verdict, old.best AS before_us, new.best AS after_us, new.best / old.best AS ratio, w.text AS layer
FROM (
  SELECT m.workload_id, m.device_id, m.contract, m.cache, v.threads, min(m.best_us) AS best, min(m.low_us) AS low,
         min(m.high_us) AS high
  FROM environment_libraries l CROSS JOIN devices s CROSS JOIN measurements m
  JOIN environments v ON v.id = m.environment_id
  JOIN candidates c ON c.id = m.candidate_id
  WHERE l.library = :library AND l.version = :from AND m.device_id = s.id AND m.environment_id = l.environment_id
    AND m.outcome = 'measured' AND (:device = '' OR s.name = :device)
    AND (c.library = :library OR c.library LIKE :library || '-%')
    AND m.workload_id IN (
      SELECT k.workload_id FROM current_models o JOIN model_layers k ON k.model_id = o.id
      WHERE o.name = :model AND k.workload_id IS NOT NULL
      UNION SELECT v.id FROM workloads v WHERE :model = '' AND (:family = '' OR v.family = :family))
  GROUP BY m.workload_id, m.device_id, m.contract, m.cache, v.threads
) old
JOIN (
  SELECT m.workload_id, m.device_id, m.contract, m.cache, v.threads, min(m.best_us) AS best, min(m.low_us) AS low,
         min(m.high_us) AS high
  FROM environment_libraries l CROSS JOIN devices s CROSS JOIN measurements m
  JOIN environments v ON v.id = m.environment_id
  JOIN candidates c ON c.id = m.candidate_id
  WHERE l.library = :library AND l.version = :to AND m.device_id = s.id AND m.environment_id = l.environment_id
    AND m.outcome = 'measured' AND (:device = '' OR s.name = :device)
    AND (c.library = :library OR c.library LIKE :library || '-%')
    AND m.workload_id IN (
      SELECT k.workload_id FROM current_models o JOIN model_layers k ON k.model_id = o.id
      WHERE o.name = :model AND k.workload_id IS NOT NULL
      UNION SELECT v.id FROM workloads v WHERE :model = '' AND (:family = '' OR v.family = :family))
  GROUP BY m.workload_id, m.device_id, m.contract, m.cache, v.threads
) new ON new.workload_id = old.workload_id AND new.device_id = old.device_id AND new.contract = old.contract
     AND new.cache = old.cache AND new.threads = old.threads
JOIN devices d ON d.id = old.device_id
JOIN workloads w ON w.id = old.workload_id
WHERE ((new.low > old.high AND new.best > old.best * (1 + CAST(:least AS DOUBLE PRECISION)))
       OR (new.high < old.low AND new.best < old.best / (1 + CAST(:least AS DOUBLE PRECISION))))
  AND (:family = '' OR w.family = :family)
ORDER BY ratio DESC, device, layer
