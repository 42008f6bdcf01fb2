-- the gradient with respect to w
-- Postgres's estimate: cost 8685.38 to 8686.40, 1 rows
WITH
-- Scan
scan1 AS NOT MATERIALIZED (
  SELECT node AS c4, v AS c5
  FROM public.x
),
-- Scan
scan2 AS NOT MATERIALIZED (
  SELECT id AS c6, v AS c7
  FROM public.w
),
-- Join (c59 node, c61 id, c63 matmul)
join3 AS (
  SELECT scan1.c4 AS c59, scan2.c6 AS c61, relgrad.matmul(scan1.c5, scan2.c7) AS c63
  FROM scan1
  JOIN scan2 ON TRUE
  OFFSET 0
),
-- Scan
scan4 AS (
  SELECT src AS c1, dst AS c2, weight::double precision AS c3
  FROM public.edge
),
-- Join (c8 dst, c9 sum, c10 src, c11 id, c110 weight)
join5 AS NOT MATERIALIZED (
  SELECT
    scan4.c2 AS c8,
    relgrad.chunk_mul(scan4.c3, join3.c63) AS c9,
    scan4.c1 AS c10,
    join3.c61 AS c11,
    scan4.c3 AS c110
  FROM join3
  JOIN scan4 ON join3.c59 = scan4.c1
),
-- Aggregate (c12 dst, c13 sum)
aggregate6 AS (
  SELECT c8 AS c12, relgrad.sum(c9) AS c13
  FROM join5
  GROUP BY c8
),
-- Select (c14 node, c15 h, c105 sum)
select7 AS (
  SELECT c12 AS c14, relgrad.relu(c13) AS c15, c13 AS c105
  FROM aggregate6
  OFFSET 0
),
-- Scan
scan8 AS NOT MATERIALIZED (
  SELECT node AS c16, v AS c17
  FROM public.goal
),
-- Join (c19 avg, c20 node, c101 h, c106 sum)
join9 AS (
  SELECT 1::bigint AS c19, select7.c14 AS c20, select7.c15 AS c101, select7.c105 AS c106
  FROM select7
  JOIN scan8 ON select7.c14 = scan8.c16
),
-- Aggregate (c21 avg, c22 avg)
aggregate10 AS (
  SELECT nullif(count(*), 0) AS c21, pg_catalog.count(c19) AS c22
  FROM join9
),
-- Select
select11 AS (
  SELECT 1 AS one
  FROM aggregate10
),
-- Join (c66 d_avg)
join12 AS (
  SELECT CASE WHEN aggregate10.c21 IS NOT NULL THEN relgrad.gen_div(1.0, aggregate10.c22::double precision) ELSE 0.0 END AS c66
  FROM select11
  JOIN aggregate10 ON TRUE
),
-- Join (c77 node, c78 d_sum)
join13 AS (
  SELECT
    join9.c20 AS c77,
    relgrad.gen_select(relgrad.greater(join9.c106, 0.0), relgrad.chunk_mul(relgrad.gen_mul(2.0, join12.c66), relgrad.chunk_sub(join9.c101, scan8.c17)), 0.0) AS c78
  FROM join12
  JOIN join9 ON TRUE
  JOIN scan8 ON join9.c20 = scan8.c16
  OFFSET 0
),
-- Join (c85 src, c86 id, c87 d_matmul)
join14 AS (
  SELECT join5.c10 AS c85, join5.c11 AS c86, relgrad.chunk_mul(join13.c78, join5.c110) AS c87
  FROM join13
  JOIN join5 ON join13.c77 = join5.c8
),
-- Aggregate (c89 src, c90 id, c91 d_matmul)
aggregate15 AS (
  SELECT c85 AS c89, c86 AS c90, relgrad.sum(c87) AS c91
  FROM join14
  GROUP BY c85, c86
),
-- Join (c92 id, c93 d_v)
join16 AS (
  SELECT aggregate15.c90 AS c92, relgrad.outer(scan1.c5, aggregate15.c91) AS c93
  FROM aggregate15
  JOIN scan1 ON aggregate15.c89 = scan1.c4
),
-- Aggregate (c95 id, c96 d_v)
aggregate17 AS (
  SELECT c92 AS c95, relgrad.sum(c93) AS c96
  FROM join16
  GROUP BY c92
),
-- Join (c97 id, c98 v)
join18 AS (
  SELECT scan2.c6 AS c97, aggregate17.c96 AS c98
  FROM aggregate17
  JOIN scan2 ON aggregate17.c95 = scan2.c6
)
SELECT c97::bigint AS id, c98::real[] AS v
FROM join18
ORDER BY join18.c97
