-- What came of the candidates: how many ran, were unsupported, failed or were skipped, by device and library.
SELECT d.name AS device, c.library, m.outcome, CAST(sum(m.rows) AS BIGINT) AS measurements, count(DISTINCT m.workload_id) AS layers
FROM (
  SELECT device_id, candidate_id, outcome, workload_id, count(*) AS rows
  FROM measurements
  GROUP BY device_id, candidate_id, outcome, workload_id
) m
JOIN devices d ON d.id = m.device_id
JOIN candidates c ON c.id = m.candidate_id
GROUP BY d.name, c.library, m.outcome
ORDER BY device, library, m.outcome
