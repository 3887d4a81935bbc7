-- What the library's own choice costs: its time against the best of the same campaign and library set, largest loss
-- first.
-- :device=      only this device, by name
-- :model=       only the layers of this model, by name
-- :family=      only this family of layers
-- :least=0.05   the smallest relative loss that is listed
SELECT d.name AS device, ranked.contract, w.text AS layer, c.library || '/' || c.algorithm AS choice,
       ranked.best_us AS choice_us, b.library || '/' || b.algorithm AS best, ranked.least_us AS best_us,
       ranked.best_us / ranked.least_us AS ratio, e.libraries
FROM (
  SELECT m.device_id, m.environment_id, m.workload_id, m.contract, m.candidate_id, m.best_us, m.library_choice,
         first_value(m.candidate_id) OVER best_first AS least_id, first_value(m.best_us) OVER best_first AS least_us
  FROM devices s CROSS JOIN measurements m
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND (:device = '' OR s.name = :device)
    AND m.workload_id IN (
      SELECT l.workload_id FROM current_models o JOIN model_layers l ON l.model_id = o.id
      WHERE o.name = :model AND l.workload_id IS NOT NULL
      UNION SELECT v.id FROM workloads v WHERE :model = '' AND (:family = '' OR v.family = :family))
  WINDOW best_first AS (PARTITION BY m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.campaign_id
                        ORDER BY m.best_us, m.candidate_id)
) ranked
JOIN devices d ON d.id = ranked.device_id
JOIN environments e ON e.id = ranked.environment_id
JOIN workloads w ON w.id = ranked.workload_id
JOIN candidates c ON c.id = ranked.candidate_id
JOIN candidates b ON b.id = ranked.least_id
WHERE ranked.library_choice = 1 AND ranked.best_us > ranked.least_us * (1 + CAST(:least AS DOUBLE PRECISION))
  AND (:family = '' OR w.family = :family)
ORDER BY ratio DESC, device, layer, choice
