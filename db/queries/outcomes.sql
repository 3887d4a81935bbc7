-- What came of the candidates: how many ran, were unsupported, failed or were skipped, by device and library.
SELECT d.name AS device, c.library, m.outcome, count(*) AS measurements, count(DISTINCT m.workload_id) AS layers
FROM measurements m
JOIN devices d ON d.id = m.device_id
JOIN candidates c ON c.id = m.candidate_id
GROUP BY d.name, c.library, m.outcome
ORDER BY device, library, m.outcome
