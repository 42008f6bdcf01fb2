-- engine sql: relgrad.engine is sql
-- rules, with how often each fired: EliminateAggregateOnKey 2, EliminateNullCheck 1, EliminateSelfJoin 4, EliminateSingleRow 1, MergeJoins 6, PruneColumns 1, PushAggregateBelowJoin 1
-- at this server
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 double precision, c2 bigint, c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_4 (c1 bigint, c2 bigint, c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_5 (c1 double precision);
CREATE TEMPORARY TABLE relgrad_site0_6 (c1 double precision, c2 bigint);
CREATE TEMPORARY TABLE relgrad_site0_7 (c1 bigint, c2 double precision[]);
-- exchange 1, SHUF, in each step
WITH
-- Scan
scan1 AS (
  SELECT u AS c5, v AS c6
  FROM public.w
)
SELECT c5, c6
FROM scan1
ORDER BY c5;
-- exchange 1 fills relgrad_site0_1
-- kept in relgrad_site0_7
WITH
-- Scan
scan1 AS (
  SELECT i AS c7, v AS c8
  FROM public.h
)
SELECT c7, c8
FROM scan1;
-- exchange 2, BCAST, in the first step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c7, c2 AS c8
  FROM pg_temp.relgrad_site0_7
)
SELECT c7, c8
FROM scan1;
-- exchange 3, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_4
),
-- Scan
scan2 AS (
  SELECT c1 AS c5, c2 AS c6
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan3 AS (
  SELECT c1 AS c7, c2 AS c8
  FROM pg_temp.relgrad_site0_7
),
-- Join (c9 avg, c10 avg)
join4 AS (
  SELECT relgrad.power(relgrad.gen_sub(scan1.c4, relgrad.dot(scan2.c6, scan3.c8)), 2.0) AS c9, 1::bigint AS c10
  FROM scan1
  JOIN scan2 ON scan1.c2 = scan2.c5
  JOIN scan3 ON scan1.c3 = scan3.c7
),
-- Aggregate (c95 avg, c96 avg)
aggregate5 AS (
  SELECT relgrad.sum(c9) AS c95, pg_catalog.count(c10) AS c96
  FROM join4
)
SELECT c95, c96
FROM aggregate5;
-- exchange 3 fills relgrad_site0_2
-- kept in relgrad_site0_6
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c95, c2 AS c96
  FROM pg_temp.relgrad_site0_2
),
-- Aggregate (c14 avg, c15 avg)
aggregate2 AS (
  SELECT relgrad.sum(c95) AS c14, sum(c96)::bigint AS c15
  FROM scan1
)
SELECT c14, c15
FROM aggregate2;
-- kept in relgrad_site0_5
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c15
  FROM pg_temp.relgrad_site0_6
),
-- Select (c83 d_avg)
select2 AS (
  SELECT relgrad.gen_div(1.0, c15::double precision) AS c83
  FROM scan1
)
SELECT c83
FROM select2;
-- exchange 5, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_4
),
-- Scan
scan2 AS (
  SELECT c1 AS c5, c2 AS c6
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan3 AS (
  SELECT c1 AS c7, c2 AS c8
  FROM pg_temp.relgrad_site0_7
),
-- Join (c12 u, c79 x, c93 v, c94 v)
join4 AS (
  SELECT scan2.c5 AS c12, scan1.c4 AS c79, scan2.c6 AS c93, scan3.c8 AS c94
  FROM scan1
  JOIN scan2 ON scan1.c2 = scan2.c5
  JOIN scan3 ON scan1.c3 = scan3.c7
),
-- Select (c63 u, c64 d_v)
select5 AS (
  SELECT
    c12 AS c63,
    relgrad.chunk_mul(-relgrad.gen_mul(2.0, relgrad.gen_sub(c79, relgrad.dot(c93, c94))), c94) AS c64
  FROM join4
),
-- Aggregate (c67 u, c68 d_v)
aggregate6 AS (
  SELECT c63 AS c67, relgrad.sum(c64) AS c68
  FROM select5
  GROUP BY c63
),
-- Scan
scan7 AS (
  SELECT c1 AS c83
  FROM pg_temp.relgrad_site0_5
),
-- Join (c59 u, c60 v)
join8 AS (
  SELECT aggregate6.c67 AS c59, relgrad.chunk_mul(scan7.c83, aggregate6.c68) AS c60
  FROM aggregate6
  JOIN scan7 ON TRUE
)
SELECT c59, c60
FROM join8
ORDER BY c59;
-- exchange 5 fills relgrad_site0_3
-- the loss
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c14, c2 AS c15
  FROM pg_temp.relgrad_site0_6
),
-- Select (c17 loss)
select2 AS (
  SELECT relgrad.gen_div(c14, c15::double precision) AS c17
  FROM scan1
)
SELECT c17::double precision AS loss
FROM select2;
-- the gradient with respect to w
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c59, c2 AS c60
  FROM pg_temp.relgrad_site0_3
)
SELECT c59::bigint AS u, c60::double precision[] AS v
FROM scan1
ORDER BY scan1.c59;
-- at server s1
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 double precision, c2 bigint, c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_4 (c1 double precision);
CREATE TEMPORARY TABLE relgrad_site0_5 (c1 bigint, c2 bigint, c3 double precision);
-- exchange 1 fills relgrad_site0_1
-- exchange 2 fills relgrad_site0_2
-- kept in relgrad_site0_5
WITH
-- Scan
scan1 AS (
  SELECT u AS c100, i AS c101, x AS c102
  FROM public.part_rating
),
-- Select (c104 u, c105 i, c106 x)
select2 AS (
  SELECT c100 AS c104, c101 AS c105, c102 AS c106
  FROM scan1
),
-- Union (c2 u, c3 i, c4 x)
union3 AS (
  SELECT c104 AS c2, c105 AS c3, c106 AS c4
  FROM select2
)
SELECT c2, c3, c4
FROM union3;
-- exchange 3, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c2, c2 AS c3, c3 AS c4
  FROM pg_temp.relgrad_site0_5
),
-- Scan
scan2 AS (
  SELECT c1 AS c5, c2 AS c6
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan3 AS (
  SELECT c1 AS c7, c2 AS c8
  FROM pg_temp.relgrad_site0_2
),
-- Join (c9 avg, c10 avg)
join4 AS (
  SELECT relgrad.power(relgrad.gen_sub(scan1.c4, relgrad.dot(scan2.c6, scan3.c8)), 2.0) AS c9, 1::bigint AS c10
  FROM scan1
  JOIN scan2 ON scan1.c2 = scan2.c5
  JOIN scan3 ON scan1.c3 = scan3.c7
),
-- Aggregate (c95 avg, c96 avg)
aggregate5 AS (
  SELECT relgrad.sum(c9) AS c95, pg_catalog.count(c10) AS c96
  FROM join4
)
SELECT c95, c96
FROM aggregate5;
-- exchange 3 fills relgrad_site0_3
-- kept in relgrad_site0_4
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c96
  FROM pg_temp.relgrad_site0_3
),
-- Aggregate (c15 avg)
aggregate2 AS (
  SELECT sum(c96)::bigint AS c15
  FROM scan1
),
-- Select (c83 d_avg)
select3 AS (
  SELECT relgrad.gen_div(1.0, c15::double precision) AS c83
  FROM aggregate2
)
SELECT c83
FROM select3;
-- exchange 5, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c2, c2 AS c3, c3 AS c4
  FROM pg_temp.relgrad_site0_5
),
-- Scan
scan2 AS (
  SELECT c1 AS c5, c2 AS c6
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan3 AS (
  SELECT c1 AS c7, c2 AS c8
  FROM pg_temp.relgrad_site0_2
),
-- Join (c12 u, c79 x, c93 v, c94 v)
join4 AS (
  SELECT scan2.c5 AS c12, scan1.c4 AS c79, scan2.c6 AS c93, scan3.c8 AS c94
  FROM scan1
  JOIN scan2 ON scan1.c2 = scan2.c5
  JOIN scan3 ON scan1.c3 = scan3.c7
),
-- Select (c63 u, c64 d_v)
select5 AS (
  SELECT
    c12 AS c63,
    relgrad.chunk_mul(-relgrad.gen_mul(2.0, relgrad.gen_sub(c79, relgrad.dot(c93, c94))), c94) AS c64
  FROM join4
),
-- Aggregate (c67 u, c68 d_v)
aggregate6 AS (
  SELECT c63 AS c67, relgrad.sum(c64) AS c68
  FROM select5
  GROUP BY c63
),
-- Scan
scan7 AS (
  SELECT c1 AS c83
  FROM pg_temp.relgrad_site0_4
),
-- Join (c59 u, c60 v)
join8 AS (
  SELECT aggregate6.c67 AS c59, relgrad.chunk_mul(scan7.c83, aggregate6.c68) AS c60
  FROM aggregate6
  JOIN scan7 ON TRUE
)
SELECT c59, c60
FROM join8;
