-- The runs of models by frameworks: the fastest of each framework, version and contract on a device, and how many there
-- are, fastest first.
-- :model=   only this model, by name
-- :device=  only this device, by name or key
SELECT r.model_name AS model, r.dims, coalesce(d.name, r.device_key) AS device, r.threads, r.framework,
       r.framework_version, r.contract, min(r.best_us) AS run_us, min(r.low_us) AS low_us, min(r.high_us) AS high_us,
       count(*) AS runs, r.model_sha256 AS sha256, r.device_key
FROM runs r LEFT JOIN devices d ON d.key = r.device_key
WHERE r.best_us IS NOT NULL AND (:model = '' OR r.model_name = :model) AND :device IN ('', d.name, d.key)
GROUP BY r.model_name, r.model_sha256, r.dims, r.device_key, d.name, r.threads, r.framework, r.framework_version,
         r.contract
ORDER BY model, r.dims, device, r.threads, run_us
