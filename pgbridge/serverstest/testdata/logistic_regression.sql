-- engine sql: relgrad.engine is sql
-- rules, with how often each fired: EliminateAggregateOnKey 1, EliminateNullCheck 1, EliminateSelfJoin 3, EliminateSingleRow 1, MergeJoins 4
-- at this server
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 double precision, c2 bigint, c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_4 (c1 double precision);
CREATE TEMPORARY TABLE relgrad_site0_5 (c1 double precision, c2 bigint);
-- exchange 1, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT one AS c4, v AS c5
  FROM public.w
)
SELECT c4, c5
FROM scan1
ORDER BY c4;
-- exchange 2, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c2, c3 AS c3
  FROM pg_temp.relgrad_site0_3
),
-- Scan
scan2 AS (
  SELECT v AS c5
  FROM public.w
),
-- Join (c6 avg, c7 avg)
join3 AS (
  SELECT
    relgrad.bce_with_logits(relgrad.dot(scan1.c2, scan2.c5), scan1.c3::double precision) AS c6,
    1::bigint AS c7
  FROM scan1
  JOIN scan2 ON TRUE
),
-- Aggregate (c64 avg, c65 avg)
aggregate4 AS (
  SELECT relgrad.sum(c6) AS c64, pg_catalog.count(c7) AS c65
  FROM join3
)
SELECT c64, c65
FROM aggregate4;
-- exchange 2 fills relgrad_site0_1
-- kept in relgrad_site0_5
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c64, c2 AS c65
  FROM pg_temp.relgrad_site0_1
),
-- Aggregate (c10 avg, c11 avg)
aggregate2 AS (
  SELECT relgrad.sum(c64) AS c10, sum(c65)::bigint AS c11
  FROM scan1
)
SELECT c10, c11
FROM aggregate2;
-- kept in relgrad_site0_4
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c11
  FROM pg_temp.relgrad_site0_5
),
-- Select (c60 d_avg)
select2 AS (
  SELECT relgrad.gen_div(1.0, c11::double precision) AS c60
  FROM scan1
)
SELECT c60
FROM select2;
-- exchange 4, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c60
  FROM pg_temp.relgrad_site0_4
),
-- Scan
scan2 AS (
  SELECT c2 AS c2, c3 AS c3
  FROM pg_temp.relgrad_site0_3
),
-- Scan
scan3 AS (
  SELECT one AS c4, v AS c5
  FROM public.w
),
-- Join (c9 one, c61 x, c62 y, c63 v)
join4 AS (
  SELECT scan3.c4 AS c9, scan2.c2 AS c61, scan2.c3 AS c62, scan3.c5 AS c63
  FROM scan2
  JOIN scan3 ON TRUE
),
-- Join (c45 one, c46 d_v)
join5 AS (
  SELECT
    join4.c9 AS c45,
    relgrad.chunk_mul(relgrad.gen_mul(scan1.c60, relgrad.gen_bce_slope(relgrad.dot(join4.c61, join4.c63), join4.c62::double precision)), join4.c61) AS c46
  FROM scan1
  JOIN join4 ON TRUE
),
-- Aggregate (c66 one, c67 d_v)
aggregate6 AS (
  SELECT c45 AS c66, relgrad.sum(c46) AS c67
  FROM join5
  GROUP BY c45
)
SELECT c66, c67
FROM aggregate6
ORDER BY c66;
-- exchange 4 fills relgrad_site0_2
-- the loss
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c10, c2 AS c11
  FROM pg_temp.relgrad_site0_5
),
-- Select (c13 loss)
select2 AS (
  SELECT relgrad.gen_div(c10, c11::double precision) AS c13
  FROM scan1
)
SELECT c13::double precision AS loss
FROM select2;
-- the gradient with respect to w
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c66, c2 AS c67
  FROM pg_temp.relgrad_site0_2
),
-- Aggregate (c49 one, c50 d_v)
aggregate2 AS (
  SELECT c66 AS c49, relgrad.sum(c67) AS c50
  FROM scan1
  GROUP BY c66
),
-- Select (c51 one, c52 v)
select3 AS (
  SELECT c49 AS c51, c50 AS c52
  FROM aggregate2
)
SELECT c51::bigint AS one, c52::double precision[] AS v
FROM select3
ORDER BY select3.c51;
-- at server s1
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 double precision, c2 bigint, c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 double precision);
-- exchange 1 fills relgrad_site0_1
-- exchange 2, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT x AS c2, y AS c3
  FROM public.part_sample
),
-- Scan
scan2 AS (
  SELECT c2 AS c5
  FROM pg_temp.relgrad_site0_1
),
-- Join (c6 avg, c7 avg)
join3 AS (
  SELECT
    relgrad.bce_with_logits(relgrad.dot(scan1.c2, scan2.c5), scan1.c3::bigint::double precision) AS c6,
    1::bigint AS c7
  FROM scan1
  JOIN scan2 ON TRUE
),
-- Aggregate (c64 avg, c65 avg)
aggregate4 AS (
  SELECT relgrad.sum(c6) AS c64, pg_catalog.count(c7) AS c65
  FROM join3
)
SELECT c64, c65
FROM aggregate4;
-- exchange 2 fills relgrad_site0_2
-- kept in relgrad_site0_3
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c65
  FROM pg_temp.relgrad_site0_2
),
-- Aggregate (c11 avg)
aggregate2 AS (
  SELECT sum(c65)::bigint AS c11
  FROM scan1
),
-- Select (c60 d_avg)
select3 AS (
  SELECT relgrad.gen_div(1.0, c11::double precision) AS c60
  FROM aggregate2
)
SELECT c60
FROM select3;
-- exchange 4, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c60
  FROM pg_temp.relgrad_site0_3
),
-- Scan
scan2 AS (
  SELECT x AS c2, y AS c3
  FROM public.part_sample
),
-- Scan
scan3 AS (
  SELECT c1 AS c4, c2 AS c5
  FROM pg_temp.relgrad_site0_1
),
-- Join (c9 one, c61 x, c62 y, c63 v)
join4 AS (
  SELECT scan3.c4 AS c9, scan2.c2 AS c61, scan2.c3 AS c62, scan3.c5 AS c63
  FROM scan2
  JOIN scan3 ON TRUE
),
-- Join (c45 one, c46 d_v)
join5 AS (
  SELECT
    join4.c9 AS c45,
    relgrad.chunk_mul(relgrad.gen_mul(scan1.c60, relgrad.gen_bce_slope(relgrad.dot(join4.c61, join4.c63), join4.c62::bigint::double precision)), join4.c61) AS c46
  FROM scan1
  JOIN join4 ON TRUE
),
-- Aggregate (c66 one, c67 d_v)
aggregate6 AS (
  SELECT c45 AS c66, relgrad.sum(c46) AS c67
  FROM join5
  GROUP BY c45
)
SELECT c66, c67
FROM aggregate6;
