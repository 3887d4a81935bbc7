-- What a narrower type wins, layer by layer: the best time in :from against the best in :to on the same device.
-- :from=f32     the type before
-- :to=f16       the type after
-- :device=      only this device, by name
-- :family=      only this family of layers
SELECT device, wide_us, narrow_us, wide_us / narrow_us AS gain, layer
FROM (
  SELECT d.name AS device, min(wide.best_us) AS wide_us, min(narrow.best_us) AS narrow_us, w.text AS layer
  FROM workloads w
  JOIN workloads n ON n.text = replace(w.text, :from, :to)
  JOIN measurements wide ON wide.workload_id = w.id AND wide.outcome = 'measured'
  JOIN measurements narrow ON narrow.workload_id = n.id AND narrow.outcome = 'measured'
       AND narrow.device_id = wide.device_id AND narrow.cache = wide.cache
  JOIN devices d ON d.id = wide.device_id
  WHERE w.text LIKE '%' || :from || '%' AND n.id <> w.id
    AND (:device = '' OR d.name = :device) AND (:family = '' OR w.family = :family)
  GROUP BY d.name, w.text
) compared
ORDER BY gain DESC, device, layer
