-- What a newer device wins, cell by cell: the times of the same cell on two devices and their floors there, with the
-- generation and year of each. Where the gain is less than that of the floors, the newer device is used less well.
-- :from         the device before, by name
-- :to           the device after, by name
-- :evaluation=  only cells of this evaluation, by name or hash
SELECT c.name AS model, a.best_us AS from_us, b.best_us AS to_us, a.best_us / b.best_us AS gain,
       a.floor_us / b.floor_us AS floor_gain, g.name AS from_generation, g.year AS from_year, h.name AS to_generation,
       h.year AS to_year, c.text AS cell
FROM devices s
JOIN current_cells a ON a.device_key = s.key
JOIN current_cells b ON b.cell_id = a.cell_id
JOIN devices t ON t.key = b.device_key
JOIN cells c ON c.id = a.cell_id
LEFT JOIN generations g ON g.id = s.generation_id
LEFT JOIN generations h ON h.id = t.generation_id
WHERE s.name = :from AND t.name = :to AND a.best_us IS NOT NULL AND b.best_us IS NOT NULL
  AND (:evaluation = '' OR a.cell_id IN (
    SELECT k.cell_id FROM evaluations e JOIN evaluation_cells k ON k.evaluation_id = e.id
    WHERE e.name = :evaluation OR e.hash = :evaluation))
ORDER BY gain DESC, model, cell
