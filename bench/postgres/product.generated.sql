-- the gradient with respect to a
-- Postgres's estimate: cost 308.81 to 309.43, 1 rows
WITH
-- Scan
scan1 AS NOT MATERIALIZED (
  SELECT k AS c4, j AS c5, v AS c6
  FROM public.b
),
-- Select (c114 k, c115 j, c117 transpose)
select2 AS MATERIALIZED (
  SELECT c4 AS c114, c5 AS c115, relgrad.transpose(c6) AS c117
  FROM scan1
),
-- Scan
scan3 AS NOT MATERIALIZED (
  SELECT i AS c1, k AS c2, v AS c3
  FROM public.a
),
-- Join (c7 i, c8 j, c9 sum)
join4 AS (
  SELECT scan3.c1 AS c7, scan1.c5 AS c8, relgrad.matmul(scan3.c3, scan1.c6) AS c9
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
scan6 AS (
  SELECT i AS c17, j AS c18, v AS c19
  FROM public.y
),
-- Join (c88 i, c89 j, c90 d_sum)
join7 AS MATERIALIZED (
  SELECT
    aggregate5.c11 AS c88,
    aggregate5.c12 AS c89,
    relgrad.chunk_mul(2.0, relgrad.chunk_sub(aggregate5.c13, scan6.c19)) AS c90
  FROM aggregate5
  JOIN scan6 ON aggregate5.c11 = scan6.c17 AND aggregate5.c12 = scan6.c18
),
-- Join (c99 i, c100 k, c101 d_v)
join8 AS (
  SELECT scan3.c1 AS c99, scan3.c2 AS c100, relgrad.matmul(join7.c90, select2.c117) AS c101
  FROM select2
  JOIN join7 ON join7.c89 = select2.c115
  JOIN scan3 ON scan3.c2 = select2.c114 AND join7.c88 = scan3.c1
),
-- Aggregate (c103 i, c104 k, c105 d_v)
aggregate9 AS (
  SELECT c99 AS c103, c100 AS c104, relgrad.sum(c101) AS c105
  FROM join8
  GROUP BY c99, c100
),
-- Select (c106 i, c107 k, c108 v)
select10 AS (
  SELECT c103 AS c106, c104 AS c107, c105 AS c108
  FROM aggregate9
)
SELECT c106::bigint AS i, c107::bigint AS k, c108::real[] AS v
FROM select10
ORDER BY select10.c106, select10.c107
