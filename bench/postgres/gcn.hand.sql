-- d gcn_loss / d w, by hand: the sum over edges is taken before the product, dW = Σ_node (Σ_edges weight x)ᵀ (dz)
WITH s AS MATERIALIZED (
  SELECT e.dst AS node, sum(e.weight * x.v) AS v
  FROM edge e JOIN x ON x.node = e.src
  GROUP BY e.dst
),
z AS MATERIALIZED (
  SELECT s.node, s.v AS s, matmul(s.v, w.v) AS z FROM s CROSS JOIN w
),
n AS (
  SELECT count(*) AS n FROM s JOIN goal USING (node)
),
d AS (
  SELECT z.s, (2::double precision / n.n) * (relu(z.z) - g.v) * gen_to_real(greater(z.z, 0::double precision)) AS v
  FROM z JOIN goal g USING (node) CROSS JOIN n
)
SELECT w.id, g.v
FROM w CROSS JOIN (SELECT sum("outer"(s, v)) AS v FROM d) g
