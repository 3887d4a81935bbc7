-- The libraries and thread counts that each device was measured with, and the number of measurements.
-- :device=   only this device, by name or key
-- :library=  only with this library (cudnn, onednn)
SELECT d.name AS device, e.key AS environment, e.libraries, l.version, e.threads, m.measurements, m.newest,
       d.key AS device_key
FROM (
  SELECT device_id, environment_id, count(*) AS measurements, max(measured_at) AS newest
  FROM measurements
  WHERE outcome = 'measured'
  GROUP BY device_id, environment_id
) m
JOIN devices d ON d.id = m.device_id
JOIN environments e ON e.id = m.environment_id
LEFT JOIN environment_libraries l ON l.environment_id = e.id AND l.library = :library
WHERE :device IN ('', d.name, d.key) AND (:library = '' OR l.version IS NOT NULL)
ORDER BY device, m.newest DESC, m.measurements DESC, environment
