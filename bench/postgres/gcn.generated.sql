-- the gradient with respect to w
-- Postgres's estimate: cost 3410.81 to 3411.31, 200 rows
WITH
-- Scan
scan1 AS (
  SELECT node AS c4, v AS c5
  FROM public.x
),
-- Scan
scan2 AS (
  SELECT src AS c1, dst AS c2, weight::double precision AS c3
  FROM public.edge
),
-- Join (c85 dst, c86 sum)
join3 AS (
  SELECT scan2.c2 AS c85, relgrad.chunk_mul(scan2.c3, scan1.c5) AS c86
  FROM scan1
  JOIN scan2 ON scan1.c4 = scan2.c1
),
-- Aggregate (c88 dst, c89 sum)
aggregate4 AS (
  SELECT c85 AS c88, relgrad.sum(c86) AS c89
  FROM join3
  GROUP BY c85
),
-- Scan
scan5 AS (
  SELECT id AS c6, v AS c7
  FROM public.w
),
-- Join (c90 dst, c91 sum, c92 id, c182 sum)
join6 AS (
  SELECT
    aggregate4.c88 AS c90,
    relgrad.matmul(aggregate4.c89, scan5.c7) AS c91,
    scan5.c6 AS c92,
    aggregate4.c89 AS c182
  FROM aggregate4
  JOIN scan5 ON TRUE
),
-- Aggregate (c12 dst, c13 sum)
aggregate7 AS (
  SELECT c90 AS c12, relgrad.sum(c91) AS c13
  FROM join6
  GROUP BY c90
),
-- Select (c14 node, c15 h, c177 sum)
select8 AS (
  SELECT c12 AS c14, relgrad.relu(c13) AS c15, c13 AS c177
  FROM aggregate7
  OFFSET 0
),
-- Scan
scan9 AS (
  SELECT node AS c16, v AS c17
  FROM public.goal
),
-- Join (c19 avg, c20 node, c169 h, c178 sum, c200 v)
join10 AS (
  SELECT 1::bigint AS c19, select8.c14 AS c20, select8.c15 AS c169, select8.c177 AS c178, scan9.c17 AS c200
  FROM select8
  JOIN scan9 ON select8.c14 = scan9.c16
),
-- Aggregate (c22 avg)
aggregate11 AS (
  SELECT pg_catalog.count(c19) AS c22
  FROM join10
),
-- Select (c168 d_avg)
select12 AS (
  SELECT relgrad.gen_div(1.0, c22::double precision) AS c168
  FROM aggregate11
),
-- Join (c121 node, c122 d_sum)
join13 AS (
  SELECT
    join10.c20 AS c121,
    relgrad.gen_select(relgrad.greater(join10.c178, 0.0), relgrad.chunk_mul(relgrad.gen_mul(2.0, select12.c168), relgrad.chunk_sub(join10.c169, join10.c200)), 0.0) AS c122
  FROM select12
  JOIN join10 ON TRUE
  OFFSET 0
),
-- Join (c128 id, c129 d_v)
join14 AS (
  SELECT join6.c92 AS c128, relgrad.outer(join6.c182, join13.c122) AS c129
  FROM join13
  JOIN join6 ON join13.c121 = join6.c90
),
-- Aggregate (c131 id, c132 d_v)
aggregate15 AS (
  SELECT c128 AS c131, relgrad.sum(c129) AS c132
  FROM join14
  GROUP BY c128
),
-- Select (c133 id, c134 v)
select16 AS (
  SELECT c131 AS c133, c132 AS c134
  FROM aggregate15
)
SELECT c133::bigint AS id, c134::real[] AS v
FROM select16
ORDER BY select16.c133
