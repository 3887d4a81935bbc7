-- How old the measurements of each device and library set are, oldest first.
SELECT d.name AS device, d.generation, e.libraries, min(m.measured_at) AS oldest, max(m.measured_at) AS newest,
       count(*) AS measurements
FROM measurements m
JOIN devices d ON d.id = m.device_id
JOIN environments e ON e.id = m.environment_id
GROUP BY d.id, d.name, d.generation, e.id, e.libraries
ORDER BY newest, device
