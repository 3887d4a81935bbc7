-- The cells of an evaluation that are worth their time: on each device those with more parameters than any faster one,
-- the fastest first.
-- :evaluation  its name or its hash
-- :device=     only this device, by name
SELECT device, model, parameters, flops, best_us, cell
FROM (
  SELECT coalesce(d.name, r.device_key) AS device, c.name AS model, r.parameters, r.flops, r.best_us, c.text AS cell,
         max(r.parameters) OVER (PARTITION BY r.device_key ORDER BY r.best_us, r.parameters DESC, c.id
                                 ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS most_before
  FROM current_cells r
  JOIN cells c ON c.id = r.cell_id
  LEFT JOIN devices d ON d.key = r.device_key
  WHERE r.best_us IS NOT NULL AND r.parameters IS NOT NULL AND (:device = '' OR d.name = :device)
    AND r.cell_id IN (SELECT k.cell_id FROM evaluations e JOIN evaluation_cells k ON k.evaluation_id = e.id
                      WHERE e.name = :evaluation OR e.hash = :evaluation)
) ordered
WHERE most_before IS NULL OR parameters > most_before
ORDER BY device, best_us, cell
