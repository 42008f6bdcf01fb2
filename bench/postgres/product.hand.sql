-- d product_loss / d a, by hand: dA = 2 (A B - Y) Bᵀ
WITH p AS (
  SELECT a.i, b.j, sum(matmul(a.v, b.v)) AS v
  FROM a JOIN b USING (k)
  GROUP BY a.i, b.j
),
d AS MATERIALIZED (
  SELECT i, j, 2::double precision * (p.v - y.v) AS v
  FROM p JOIN y USING (i, j)
),
t AS MATERIALIZED (
  SELECT k, j, transpose(v) AS v FROM b
)
SELECT d.i, t.k, sum(matmul(d.v, t.v)) AS v
FROM d JOIN t USING (j)
GROUP BY d.i, t.k
ORDER BY d.i, t.k
