-- The models of the store with their work, in the order in which it came to know them. Of the layers that run: how many
-- can be measured, and how many are unknown; the contract is the one of most of the arithmetic.
-- :model=  only this model, by name
SELECT o.name AS model, o.dims, summed.layers, summed.unknown, summed.flops, summed.bytes,
       (SELECT k.contract FROM model_layers k
        WHERE k.model_id = o.id AND k.status = 'measurable'
        GROUP BY k.contract ORDER BY sum(CAST(k.flops AS DOUBLE PRECISION) * k.executions) DESC, k.contract LIMIT 1)
         AS contract,
       o.sha256
FROM current_models o
JOIN (
  SELECT model_id, CAST(sum(CASE WHEN status = 'measurable' THEN 1 ELSE 0 END) AS BIGINT) AS layers,
         CAST(sum(CASE WHEN status = 'unknown' THEN 1 ELSE 0 END) AS BIGINT) AS unknown,
         sum(CAST(flops AS DOUBLE PRECISION) * executions) AS flops,
         sum(CAST(bytes AS DOUBLE PRECISION) * executions) AS bytes
  FROM model_layers
  WHERE executions > 0
  GROUP BY model_id
) summed ON summed.model_id = o.id
WHERE (:model = '' OR o.name = :model)
ORDER BY (SELECT min(m.id) FROM models m WHERE m.sha256 = o.sha256 AND m.dims = o.dims AND m.name = o.name)
