-- What gets faster or slower from one version of a library to another: the best time of each layer with either, on the
-- same device. A change counts only where the two intervals do not overlap and the times differ by more than :least.
-- :library      the library as environments name it (cudnn, onednn)
-- :from         its version before
-- :to           its version after
-- :device=      only this device, by name
-- :family=      only this family of layers (convolution, matmul, region)
-- :least=0.05   the smallest relative difference that matters
SELECT device, contract, verdict, before_us, after_us, after_us / before_us AS ratio, layer
FROM (
  SELECT d.name AS device, old.contract, old.best AS before_us, new.best AS after_us, w.text AS layer,
         CASE WHEN new.low > old.high AND new.best > old.best * (1 + CAST(:least AS DOUBLE PRECISION)) THEN 'slower'
              WHEN new.high < old.low AND new.best < old.best / (1 + CAST(:least AS DOUBLE PRECISION)) THEN 'faster'
              ELSE 'same' END AS verdict
  FROM (SELECT m.workload_id, m.device_id, m.contract, m.cache, min(m.best_us) AS best, min(m.low_us) AS low,
               min(m.high_us) AS high
        FROM environment_libraries l JOIN measurements m ON m.environment_id = l.environment_id
        WHERE l.library = :library AND l.version = :from AND m.outcome = 'measured'
        GROUP BY m.workload_id, m.device_id, m.contract, m.cache) old
  JOIN (SELECT m.workload_id, m.device_id, m.contract, m.cache, min(m.best_us) AS best, min(m.low_us) AS low,
               min(m.high_us) AS high
        FROM environment_libraries l JOIN measurements m ON m.environment_id = l.environment_id
        WHERE l.library = :library AND l.version = :to AND m.outcome = 'measured'
        GROUP BY m.workload_id, m.device_id, m.contract, m.cache) new
    ON new.workload_id = old.workload_id AND new.device_id = old.device_id AND new.contract = old.contract
       AND new.cache = old.cache
  JOIN devices d ON d.id = old.device_id
  JOIN workloads w ON w.id = old.workload_id
  WHERE (:device = '' OR d.name = :device) AND (:family = '' OR w.family = :family)
) compared
WHERE verdict <> 'same'
ORDER BY ratio DESC, device, layer
