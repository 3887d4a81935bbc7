-- Where and how the rows of each device were measured: host, system, affinity, clock policy, version. A line is one
-- set of facts; a bound takes rows of all of them.
-- :device=  only this device, by name or key
SELECT d.name AS device, e.libraries, e.threads, v.text AS evidence, m.measurements, m.newest
FROM (
  SELECT device_id, environment_id, evidence_id, count(*) AS measurements, max(measured_at) AS newest
  FROM measurements
  GROUP BY device_id, environment_id, evidence_id
) m
JOIN devices d ON d.id = m.device_id
JOIN environments e ON e.id = m.environment_id
JOIN evidence v ON v.id = m.evidence_id
WHERE (:device = '' OR d.name = :device OR d.key = :device)
ORDER BY device, e.libraries, e.threads, m.newest DESC, evidence
