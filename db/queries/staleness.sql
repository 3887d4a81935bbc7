-- The age of the measurements of each device and library set, oldest first.
SELECT d.name AS device, g.name AS generation, e.libraries, m.oldest, m.newest, m.measurements, d.key AS device_key
FROM (
  SELECT device_id, environment_id, min(measured_at) AS oldest, max(measured_at) AS newest, count(*) AS measurements
  FROM measurements
  GROUP BY device_id, environment_id
) m
JOIN devices d ON d.id = m.device_id
LEFT JOIN generations g ON g.id = d.generation_id
JOIN environments e ON e.id = m.environment_id
ORDER BY m.newest, device, e.libraries
