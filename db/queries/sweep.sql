-- The cells of an evaluation and what became of each on every device that tried any, by one of their fields. Its share
-- of the floor is what it reaches of the least time.
-- :evaluation        its name or its hash
-- :field=threads     which of a cell's fields is the value: model.choices.nodes, framework.name, contract, ...
SELECT coalesce(d.name, r.device_key) AS device, c.name AS model, coalesce(f.value, 'as usual') AS value,
       coalesce(r.state, 'not run') AS state, r.best_us, r.floor_us, r.floor_us / r.best_us AS utilisation
FROM (
  SELECT k.cell_id, min(k.position) AS position
  FROM evaluations e JOIN evaluation_cells k ON k.evaluation_id = e.id
  WHERE e.name = :evaluation OR e.hash = :evaluation
  GROUP BY k.cell_id
) wanted
JOIN cells c ON c.id = wanted.cell_id
LEFT JOIN cell_fields f ON f.cell_id = c.id AND f.name = :field
LEFT JOIN current_cells r ON r.cell_id = c.id
LEFT JOIN devices d ON d.key = r.device_key
ORDER BY r.device_key IS NULL, device, wanted.position
