-- The gain of a narrower type, layer by layer: the best time in :from against the best in :to on the same device.
-- :from=f32     the type before
-- :to=f16       the type after
-- :before=strict-f32  the numeric contract before
-- :after=f16    the numeric contract after
-- :device=      only this device, by name
-- :cache=warm   warm, cold or cold-weights (which only layers with weights have)
-- :family=      only this family of layers
SELECT d.name AS device, g.name AS generation, wide.best_us AS wide_us, narrow.best_us AS narrow_us,
       wide.best_us / narrow.best_us AS gain, w.text AS layer
FROM (
  SELECT m.device_id, m.workload_id, min(m.best_us) AS best_us
  FROM devices s CROSS JOIN measurements m
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND m.cache = :cache AND m.contract = :before AND (:device = '' OR s.name = :device)
  GROUP BY m.device_id, m.workload_id
) wide
JOIN workloads w ON w.id = wide.workload_id
JOIN workloads n ON n.text = replace(w.text, :from, :to) AND n.id <> w.id
JOIN (
  SELECT m.device_id, m.workload_id, min(m.best_us) AS best_us
  FROM devices s CROSS JOIN measurements m
  WHERE m.device_id = s.id AND m.outcome = 'measured' AND m.cache = :cache AND m.contract = :after AND (:device = '' OR s.name = :device)
  GROUP BY m.device_id, m.workload_id
) narrow ON narrow.workload_id = n.id AND narrow.device_id = wide.device_id
JOIN devices d ON d.id = wide.device_id
LEFT JOIN generations g ON g.id = d.generation_id
WHERE (:family = '' OR w.family = :family)
ORDER BY gain DESC, device, layer
