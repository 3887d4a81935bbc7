-- What the library's own choice costs: its time against the best of the same library set, largest loss first.
-- :device=      only this device, by name
-- :family=      only this family of layers
-- :least=0.05   the smallest relative loss that is listed
SELECT device, contract, layer, choice, choice_us, best, best_us, choice_us / best_us AS ratio
FROM (
  SELECT d.name AS device, m.contract, w.text AS layer, c.library || '/' || c.algorithm AS choice, m.best_us AS choice_us,
         first_value(c2.library || '/' || c2.algorithm) OVER best_first AS best,
         first_value(m2.best_us) OVER best_first AS best_us,
         row_number() OVER best_first AS place
  FROM measurements m
  JOIN measurements m2 ON m2.workload_id = m.workload_id AND m2.device_id = m.device_id AND m2.contract = m.contract
       AND m2.cache = m.cache AND m2.environment_id = m.environment_id AND m2.campaign_id = m.campaign_id
       AND m2.outcome = 'measured'
  JOIN candidates c ON c.id = m.candidate_id
  JOIN candidates c2 ON c2.id = m2.candidate_id
  JOIN devices d ON d.id = m.device_id
  JOIN workloads w ON w.id = m.workload_id
  WHERE m.library_choice = 1 AND m.outcome = 'measured' AND (:device = '' OR d.name = :device)
    AND (:family = '' OR w.family = :family)
  WINDOW best_first AS (PARTITION BY m.id ORDER BY m2.best_us, m2.id)
) ranked
WHERE place = 1 AND choice_us > best_us * (1 + CAST(:least AS DOUBLE PRECISION))
ORDER BY ratio DESC, device, layer
