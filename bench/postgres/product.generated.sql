-- the gradient with respect to a
-- Postgres's estimate: cost 321.47 to 321.49, 8 rows
WITH
-- Scan
scan1 AS NOT MATERIALIZED (
  SELECT k AS c4, j AS c5, v AS c6
  FROM public.b
),
-- Select (c97 k, c98 j, c100 transpose)
select2 AS (
  SELECT c4 AS c97, c5 AS c98, relgrad.transpose(c6) AS c100
  FROM scan1
  OFFSET 0
),
-- Scan
scan3 AS NOT MATERIALIZED (
  SELECT i AS c1, k AS c2, v AS c3
  FROM public.a
),
-- Join (c7 i, c8 j, c9 sum, c10 k)
join4 AS NOT MATERIALIZED (
  SELECT scan3.c1 AS c7, scan1.c5 AS c8, relgrad.matmul(scan3.c3, scan1.c6) AS c9, scan3.c2 AS c10
  FROM scan3
  JOIN scan1 ON scan3.c2 = scan1.c4
),
-- Aggregate (c11 i, c12 j, c13 sum)
aggregate5 AS (
  SELECT c7 AS c11, c8 AS c12, relgrad.sum(c9) AS c13
  FROM join4
  GROUP BY c7, c8
),
-- Scan
scan6 AS NOT MATERIALIZED (
  SELECT i AS c17, j AS c18, v AS c19
  FROM public.y
),
-- Join (c21 i, c22 j, c103 sum)
join7 AS (
  SELECT aggregate5.c11 AS c21, aggregate5.c12 AS c22, aggregate5.c13 AS c103
  FROM aggregate5
  JOIN scan6 ON aggregate5.c11 = scan6.c17 AND aggregate5.c12 = scan6.c18
),
-- Aggregate (c23 sum)
aggregate8 AS (
  SELECT nullif(count(*), 0) AS c23
  FROM join7
),
-- Select
select9 AS (
  SELECT 1 AS one
  FROM aggregate8
),
-- Join (c69 d_sum)
join10 AS (
  SELECT CASE WHEN aggregate8.c23 IS NOT NULL THEN 1.0 ELSE 0.0 END::double precision AS c69
  FROM select9
  JOIN aggregate8 ON TRUE
),
-- Join (c76 i, c77 j, c78 d_sum)
join11 AS (
  SELECT
    join7.c21 AS c76,
    join7.c22 AS c77,
    relgrad.chunk_mul(relgrad.gen_mul(2.0, join10.c69), relgrad.chunk_sub(join7.c103, scan6.c19)) AS c78
  FROM join10
  JOIN join7 ON TRUE
  JOIN scan6 ON join7.c21 = scan6.c17 AND join7.c22 = scan6.c18
  OFFSET 0
),
-- Join (c87 i, c88 k, c89 d_v)
join12 AS (
  SELECT join4.c7 AS c87, join4.c10 AS c88, relgrad.matmul(join11.c78, select2.c100) AS c89
  FROM select2
  JOIN join11 ON TRUE
  JOIN join4 ON join4.c10 = select2.c97 AND join4.c8 = select2.c98 AND join11.c76 = join4.c7 AND join11.c77 = join4.c8
),
-- Aggregate (c91 i, c92 k, c93 d_v)
aggregate13 AS (
  SELECT c87 AS c91, c88 AS c92, relgrad.sum(c89) AS c93
  FROM join12
  GROUP BY c87, c88
),
-- Join (c94 i, c95 k, c96 v)
join14 AS (
  SELECT scan3.c1 AS c94, scan3.c2 AS c95, aggregate13.c93 AS c96
  FROM aggregate13
  JOIN scan3 ON aggregate13.c91 = scan3.c1 AND aggregate13.c92 = scan3.c2
)
SELECT c94::bigint AS i, c95::bigint AS k, c96::real[] AS v
FROM join14
ORDER BY join14.c94, join14.c95
