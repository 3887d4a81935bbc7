-- Outcomes of the candidates: how many ran, were unsupported, failed or were skipped, by device and library.
SELECT d.name AS device, c.library, m.outcome, CAST(sum(m.rows) AS BIGINT) AS measurements
FROM (
  SELECT device_id, candidate_id, outcome, count(*) AS rows
  FROM measurements
  GROUP BY device_id, candidate_id, outcome
) m
JOIN devices d ON d.id = m.device_id
JOIN candidates c ON c.id = m.candidate_id
GROUP BY d.name, c.library, m.outcome
ORDER BY device, library, m.outcome
