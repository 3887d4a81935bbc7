-- The cost of the library's own choice: its time against the best of the same campaign and library set, largest loss
-- first.
-- :device=      only this device, by name or key
-- :model=       only the layers of this model, by name
-- :family=      only this family of layers
-- :least=0.05   the smallest relative loss that is listed
SELECT d.name AS device, regret.contract, w.text AS layer,
       (SELECT c.library || '/' || c.algorithm FROM measurements m JOIN candidates c ON c.id = m.candidate_id
        WHERE m.workload_id = regret.workload_id AND m.device_id = regret.device_id AND m.contract = regret.contract
          AND m.cache = regret.cache AND m.environment_id = regret.environment_id
          AND m.campaign_id = regret.campaign_id AND m.outcome = 'measured' AND m.best_us = regret.choice_us
          AND m.library_choice = 1
        ORDER BY m.candidate_id LIMIT 1) AS choice,
       regret.choice_us,
       (SELECT c.library || '/' || c.algorithm FROM measurements m JOIN candidates c ON c.id = m.candidate_id
        WHERE m.workload_id = regret.workload_id AND m.device_id = regret.device_id AND m.contract = regret.contract
          AND m.cache = regret.cache AND m.environment_id = regret.environment_id
          AND m.campaign_id = regret.campaign_id AND m.outcome = 'measured' AND m.best_us = regret.best_us
        ORDER BY m.candidate_id LIMIT 1) AS best,
       regret.best_us, regret.choice_us / regret.best_us AS ratio, e.libraries
FROM (
  SELECT m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.campaign_id, min(m.best_us) AS best_us,
         min(CASE WHEN m.library_choice = 1 THEN m.best_us END) AS choice_us
  FROM devices s CROSS JOIN measurements m
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND :device IN ('', s.name, s.key)
    AND m.workload_id IN (
      SELECT l.workload_id FROM current_models o JOIN model_layers l ON l.model_id = o.id
      WHERE o.name = :model AND l.workload_id IS NOT NULL
      UNION SELECT v.id FROM workloads v WHERE :model = '' AND (:family = '' OR v.family = :family))
  GROUP BY m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.campaign_id
  HAVING min(CASE WHEN m.library_choice = 1 THEN m.best_us END)
         > min(m.best_us) * (1 + CAST(:least AS DOUBLE PRECISION))
) regret
JOIN devices d ON d.id = regret.device_id
JOIN environments e ON e.id = regret.environment_id
JOIN workloads w ON w.id = regret.workload_id
WHERE (:family = '' OR w.family = :family)
ORDER BY ratio DESC, device, layer, choice
