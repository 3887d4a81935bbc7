-- What differs whenever the store does: for whoever keeps answers and asks whether they still hold. Rows are only ever
-- added, so that the newest of each kind tell.
SELECT (SELECT max(id) FROM measurements) AS measurements,
       (SELECT m.measured_at FROM measurements m ORDER BY m.id DESC LIMIT 1) AS newest,
       (SELECT count(*) FROM peak_rates) AS peaks, (SELECT max(id) FROM runs) AS runs,
       (SELECT max(id) FROM models) AS models,
       (SELECT m.key FROM models m ORDER BY m.id DESC LIMIT 1) AS newest_model,
       (SELECT count(*) FROM devices) AS devices, (SELECT max(id) FROM environments) AS environments,
       (SELECT sum(generation_id) FROM devices) AS generations, (SELECT sum(year) FROM generations) AS years
