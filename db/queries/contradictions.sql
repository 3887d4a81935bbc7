-- Campaigns that measured the same (layer, candidate, device, libraries) and disagree: their intervals do not overlap and
-- their times differ by more than :least.
-- :device=     only this device, by name
-- :least=0.1   the smallest relative difference that matters
SELECT d.name AS device, c.library || '/' || c.algorithm AS candidate, pairs.one_us, pairs.other_us,
       pairs.other_us / pairs.one_us AS ratio, ca.source AS one, cb.source AS other, e.libraries, w.text AS layer
FROM (
  SELECT DISTINCT a.device_id, a.environment_id, a.workload_id, a.candidate_id, a.campaign_id AS one,
         b.campaign_id AS other, a.best_us AS one_us, b.best_us AS other_us
  FROM (
    -- In the order of an index. A range holds all devices of a name, mostly one; the name itself is asked for below.
    SELECT m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.candidate_id
    FROM measurements m
    WHERE m.outcome = 'measured'
      AND m.device_id >= (SELECT min(s.id) FROM devices s WHERE :device = '' OR s.name = :device)
      AND m.device_id <= (SELECT max(s.id) FROM devices s WHERE :device = '' OR s.name = :device)
    GROUP BY m.device_id, m.environment_id, m.workload_id, m.contract, m.cache, m.candidate_id
    HAVING min(m.campaign_id) < max(m.campaign_id) AND max(m.low_us) > min(m.high_us)
  ) disputed
  JOIN measurements a ON a.workload_id = disputed.workload_id AND a.device_id = disputed.device_id
       AND a.candidate_id = disputed.candidate_id AND a.contract = disputed.contract AND a.cache = disputed.cache
       AND a.environment_id = disputed.environment_id AND a.outcome = 'measured'
  JOIN measurements b ON b.workload_id = a.workload_id AND b.device_id = a.device_id
       AND b.candidate_id = a.candidate_id AND b.contract = a.contract AND b.cache = a.cache
       AND b.environment_id = a.environment_id AND b.campaign_id <> a.campaign_id AND b.outcome = 'measured'
       AND b.low_us > a.high_us AND b.best_us > a.best_us * (1 + CAST(:least AS DOUBLE PRECISION))
) pairs
JOIN devices d ON d.id = pairs.device_id
JOIN environments e ON e.id = pairs.environment_id
JOIN candidates c ON c.id = pairs.candidate_id
JOIN campaigns ca ON ca.id = pairs.one
JOIN campaigns cb ON cb.id = pairs.other
JOIN workloads w ON w.id = pairs.workload_id
WHERE (:device = '' OR d.name = :device)
ORDER BY ratio DESC, device, layer, candidate, ca.source, cb.source
