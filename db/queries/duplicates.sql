-- Duplicate measurements: the same layer, candidate, device and libraries in several campaigns, and how much the results
-- differ. Most often measured first.
-- :device=  only this device, by name
SELECT d.name AS device, c.library || '/' || c.algorithm AS candidate, same.measurements, same.least_us, same.most_us,
       same.most_us / same.least_us AS ratio, e.libraries, w.text AS layer
FROM (
  -- In the order of an index. A range holds all devices of a name, mostly one; the name itself is asked for below.
  SELECT m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.candidate_id, count(*) AS measurements,
         min(m.best_us) AS least_us, max(m.best_us) AS most_us
  FROM measurements m
  WHERE m.outcome = 'measured'
    AND m.device_id >= (SELECT min(s.id) FROM devices s WHERE :device = '' OR s.name = :device)
    AND m.device_id <= (SELECT max(s.id) FROM devices s WHERE :device = '' OR s.name = :device)
  GROUP BY m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.candidate_id
  HAVING min(m.campaign_id) < max(m.campaign_id)
) same
JOIN devices d ON d.id = same.device_id
JOIN environments e ON e.id = same.environment_id
JOIN candidates c ON c.id = same.candidate_id
JOIN workloads w ON w.id = same.workload_id
WHERE (:device = '' OR d.name = :device)
ORDER BY same.measurements DESC, ratio DESC, device, layer, candidate
