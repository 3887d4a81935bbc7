-- Cells of an evaluation that a device is to run (again): on a device that has results of it those without one, and
-- those whose newest result is of another version of the framework than the newest result there of any cell. A cell
-- that names its version is not outdated.
-- :evaluation  its name or its hash
SELECT coalesce(d.name, there.device_key) AS device, c.name AS model, r.state, r.measured_at, r.framework_version,
       CASE WHEN r.state IS NULL THEN 'no result'
            ELSE 'measured with ' || w.framework || ' ' || r.framework_version || ', the newest there is ' ||
                 newest.framework_version END AS reason,
       c.text AS cell
FROM (
  SELECT k.cell_id, min(k.position) AS position, max(f.value) AS framework, max(v.value) AS version
  FROM evaluations e JOIN evaluation_cells k ON k.evaluation_id = e.id
  LEFT JOIN cell_fields f ON f.cell_id = k.cell_id AND f.name = 'framework.name'
  LEFT JOIN cell_fields v ON v.cell_id = k.cell_id AND v.name = 'framework.version'
  WHERE (e.name = :evaluation OR e.hash = :evaluation)
    AND NOT EXISTS (SELECT 1 FROM cell_fields q
                    WHERE q.cell_id = k.cell_id AND q.name = 'quantity' AND q.value = 'floor')
  GROUP BY k.cell_id
) w
CROSS JOIN (
  SELECT DISTINCT a.device_key
  FROM cell_attempts a JOIN cell_results s ON s.attempt_id = a.id
  WHERE a.cell_id IN (SELECT k.cell_id FROM evaluations e JOIN evaluation_cells k ON k.evaluation_id = e.id
                      WHERE e.name = :evaluation OR e.hash = :evaluation)
) there
JOIN cells c ON c.id = w.cell_id
LEFT JOIN current_cells r ON r.cell_id = w.cell_id AND r.device_key = there.device_key
LEFT JOIN devices d ON d.key = there.device_key
LEFT JOIN (
  SELECT a.device_key, f.value AS framework, s.framework_version,
         row_number() OVER (PARTITION BY a.device_key, f.value ORDER BY s.measured_at DESC, a.id DESC) AS place
  FROM cell_attempts a
  JOIN cell_results s ON s.attempt_id = a.id
  JOIN cell_fields f ON f.cell_id = a.cell_id AND f.name = 'framework.name'
  WHERE s.framework_version <> ''
) newest ON newest.device_key = there.device_key AND newest.framework = w.framework AND newest.place = 1
WHERE r.state IS NULL
   OR (w.version IS NULL AND r.framework_version <> '' AND r.framework_version <> newest.framework_version)
ORDER BY device, w.position
