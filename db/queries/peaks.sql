-- The highest rates of each device, measured or of its data sheet: bytes or FLOPs a second, by kind, type and threads.
-- Of bandwidths the one of the largest working set, which is the memory's.
-- :device=  only this device, by name or key
SELECT d.name AS device, p.kind, p.dtype, p.threads, p.source, max(p.per_second) AS per_second,
       d.key AS device_key
FROM peak_rates p
JOIN devices d ON d.id = p.device_id
WHERE :device IN ('', d.name, d.key)
  AND p.working_set_bytes = (SELECT max(q.working_set_bytes) FROM peak_rates q
                             WHERE q.device_id = p.device_id AND q.kind = p.kind AND q.dtype = p.dtype
                               AND q.threads = p.threads AND q.source = p.source)
GROUP BY d.name, d.key, p.kind, p.dtype, p.threads, p.source
ORDER BY device, d.key, p.kind, p.dtype, p.threads, p.source
