-- engine sql: relgrad.engine is sql
-- rules, with how often each fired: EliminateAggregateOnKey 2, EliminateNullCheck 1, EliminateSelfJoin 6, EliminateSingleRow 1, MergeJoins 10, PruneColumns 1, PushAggregateBelowJoin 2, PushKernelBelowJoin 2
-- at this server
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 bigint, c2 bigint, c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_4 (c1 bigint, c2 bigint, c3 double precision[], c4 bigint);
CREATE TEMPORARY TABLE relgrad_site0_5 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_6 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_7 (c1 bigint, c2 bigint, c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_8 (c1 bigint, c2 bigint, c3 double precision[], c4 bigint);
CREATE TEMPORARY TABLE relgrad_site0_9 (c1 double precision);
CREATE TEMPORARY TABLE relgrad_site0_10 (c1 double precision, c2 bigint);
CREATE TEMPORARY TABLE relgrad_site0_11 (c1 bigint, c2 bigint, c3 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_12 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_13 (c1 bigint, c2 double precision[], c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_14 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_15 (c1 bigint, c2 double precision[], c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_16 (c1 bigint, c2 double precision[]);
-- exchange 1, SHUF, in the first step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c1, c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_7
)
SELECT c1, c2, c3, c4
FROM scan1;
-- exchange 1 fills relgrad_site0_1
-- exchange 2, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT one AS c9, v AS c10
  FROM public.l1
)
SELECT c9, c10
FROM scan1
ORDER BY c9;
-- kept in relgrad_site0_16
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c6, c3 AS c7
  FROM pg_temp.relgrad_site0_8
),
-- Select (c160 id, c161 sum)
select2 AS (
  SELECT c6 AS c160, c7 AS c161
  FROM scan1
),
-- Aggregate (c163 id, c164 sum)
aggregate3 AS (
  SELECT c160 AS c163, relgrad.sum(c161) AS c164
  FROM select2
  GROUP BY c160
)
SELECT c163, c164
FROM aggregate3;
-- kept in relgrad_site0_15
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c163, c2 AS c164
  FROM pg_temp.relgrad_site0_16
),
-- Scan
scan2 AS (
  SELECT v AS c10
  FROM public.l1
),
-- Join (c165 id, c166 sum)
join3 AS (
  SELECT scan1.c163 AS c165, relgrad.matmul(scan1.c164, scan2.c10) AS c166
  FROM scan1
  JOIN scan2 ON TRUE
),
-- Aggregate (c116 id, c117 sum)
aggregate4 AS (
  SELECT c165 AS c116, relgrad.sum(c166) AS c117
  FROM join3
  GROUP BY c165
),
-- Scan
scan5 AS (
  SELECT c1 AS c1, c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_1
),
-- Join (c118 dst, c119 sum, c120 id, c121 rowid, c414 weight)
join6 AS (
  SELECT
    scan5.c3 AS c118,
    relgrad.chunk_mul(scan5.c4, aggregate4.c117) AS c119,
    aggregate4.c116 AS c120,
    scan5.c1 AS c121,
    scan5.c4 AS c414
  FROM aggregate4
  JOIN scan5 ON aggregate4.c116 = scan5.c2
)
SELECT c118, c119, c120, c414
FROM join6
ORDER BY c121;
-- exchange 3, SHUF, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c118, c2 AS c119
  FROM pg_temp.relgrad_site0_15
),
-- Aggregate (c436 dst, c437 sum)
aggregate2 AS (
  SELECT c118 AS c436, relgrad.sum(c119) AS c437
  FROM scan1
  GROUP BY c118
)
SELECT c436, c437
FROM aggregate2
ORDER BY c436;
-- exchange 3 fills relgrad_site0_2
-- kept in relgrad_site0_14
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c436, c2 AS c437
  FROM pg_temp.relgrad_site0_2
),
-- Aggregate (c16 dst, c17 sum)
aggregate2 AS (
  SELECT c436 AS c16, relgrad.sum(c437) AS c17
  FROM scan1
  GROUP BY c436
)
SELECT c16, c17
FROM aggregate2
ORDER BY c16;
-- kept in relgrad_site0_13
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c1, c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan2 AS (
  SELECT c1 AS c16, c2 AS c17
  FROM pg_temp.relgrad_site0_14
),
-- Select (c18 id, c19 h)
select3 AS (
  SELECT c16 AS c18, relgrad.relu(c17) AS c19
  FROM scan2
  OFFSET 0
),
-- Join (c20 dst, c21 sum, c22 rowid, c23 id, c399 weight)
join4 AS (
  SELECT
    scan1.c3 AS c20,
    relgrad.chunk_mul(scan1.c4, select3.c19) AS c21,
    scan1.c1 AS c22,
    select3.c18 AS c23,
    scan1.c4 AS c399
  FROM scan1
  JOIN select3 ON select3.c18 = scan1.c2
)
SELECT c20, c21, c23, c399
FROM join4
ORDER BY c22;
-- exchange 4, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c20, c2 AS c21
  FROM pg_temp.relgrad_site0_13
),
-- Aggregate (c438 dst, c439 sum)
aggregate2 AS (
  SELECT c20 AS c438, relgrad.sum(c21) AS c439
  FROM scan1
  GROUP BY c20
)
SELECT c438, c439
FROM aggregate2
ORDER BY c438;
-- exchange 4 fills relgrad_site0_3
-- kept in relgrad_site0_12
WITH
-- Scan
scan1 AS (
  SELECT one AS c28, v AS c29
  FROM public.l2
)
SELECT c28, c29
FROM scan1;
-- exchange 5, BCAST, in the first step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c28, c2 AS c29
  FROM pg_temp.relgrad_site0_12
)
SELECT c28, c29
FROM scan1;
-- exchange 6, BCAST, in the first step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c5, c2 AS c6, c3 AS c7, c4 AS c8
  FROM pg_temp.relgrad_site0_8
)
SELECT c5, c6, c7, c8
FROM scan1;
-- exchange 6 fills relgrad_site0_4
-- kept in relgrad_site0_11
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c438, c2 AS c439
  FROM pg_temp.relgrad_site0_3
),
-- Aggregate (c24 dst, c25 sum)
aggregate2 AS (
  SELECT c438 AS c24, relgrad.sum(c439) AS c25
  FROM scan1
  GROUP BY c438
),
-- Scan
scan3 AS (
  SELECT c1 AS c28, c2 AS c29
  FROM pg_temp.relgrad_site0_12
),
-- Join (c146 dst, c148 one, c150 matmul)
join4 AS (
  SELECT aggregate2.c24 AS c146, scan3.c28 AS c148, relgrad.matmul(aggregate2.c25, scan3.c29) AS c150
  FROM aggregate2
  JOIN scan3 ON TRUE
)
SELECT c146, c148, c150
FROM join4
ORDER BY c146, c148;
-- kept in relgrad_site0_10
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c146, c3 AS c150
  FROM pg_temp.relgrad_site0_11
),
-- Scan
scan2 AS (
  SELECT c2 AS c6, c4 AS c8
  FROM pg_temp.relgrad_site0_4
),
-- Join (c30 avg, c31 avg)
join3 AS (
  SELECT relgrad.cross_entropy(scan1.c150, scan2.c8) AS c30, 1::bigint AS c31
  FROM scan1
  JOIN scan2 ON scan1.c146 = scan2.c6
),
-- Aggregate (c35 avg, c36 avg)
aggregate4 AS (
  SELECT relgrad.sum(c30) AS c35, pg_catalog.count(c31) AS c36
  FROM join3
)
SELECT c35, c36
FROM aggregate4;
-- kept in relgrad_site0_9
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c36
  FROM pg_temp.relgrad_site0_10
),
-- Select (c392 d_avg)
select2 AS (
  SELECT relgrad.gen_div(1.0, c36::double precision) AS c392
  FROM scan1
)
SELECT c392
FROM select2;
-- exchange 8, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c392
  FROM pg_temp.relgrad_site0_9
),
-- Scan
scan2 AS (
  SELECT c1 AS c146, c2 AS c148, c3 AS c150
  FROM pg_temp.relgrad_site0_11
),
-- Scan
scan3 AS (
  SELECT c2 AS c6, c4 AS c8
  FROM pg_temp.relgrad_site0_4
),
-- Join (c32 id, c34 one, c393 matmul, c435 label)
join4 AS (
  SELECT scan2.c146 AS c32, scan2.c148 AS c34, scan2.c150 AS c393, scan3.c8 AS c435
  FROM scan2
  JOIN scan3 ON scan2.c146 = scan3.c6
),
-- Join (c260 id, c261 one, c262 d_matmul)
join5 AS (
  SELECT
    join4.c32 AS c260,
    join4.c34 AS c261,
    relgrad.chunk_mul(scan1.c392, relgrad.gen_cross_entropy_slope(join4.c393, join4.c435)) AS c262
  FROM scan1
  JOIN join4 ON TRUE
),
-- Aggregate (c265 id, c266 one, c267 d_matmul)
aggregate6 AS (
  SELECT c260 AS c265, c261 AS c266, relgrad.sum(c262) AS c267
  FROM join5
  GROUP BY c260, c261
),
-- Scan
scan7 AS (
  SELECT c1 AS c28, c2 AS c29
  FROM pg_temp.relgrad_site0_12
),
-- Join (c268 id, c269 d_sum)
join8 AS (
  SELECT aggregate6.c265 AS c268, relgrad.matmul(scan7.c29, aggregate6.c267) AS c269
  FROM aggregate6
  JOIN scan7 ON aggregate6.c266 = scan7.c28
),
-- Aggregate (c271 id, c272 d_sum)
aggregate9 AS (
  SELECT c268 AS c271, relgrad.sum(c269) AS c272
  FROM join8
  GROUP BY c268
),
-- Scan
scan10 AS (
  SELECT c1 AS c20, c3 AS c23, c4 AS c399
  FROM pg_temp.relgrad_site0_13
),
-- Join (c277 id, c278 d_h)
join11 AS (
  SELECT scan10.c23 AS c277, relgrad.chunk_mul(aggregate9.c272, scan10.c399) AS c278
  FROM aggregate9
  JOIN scan10 ON aggregate9.c271 = scan10.c20
),
-- Aggregate (c281 id, c282 d_h)
aggregate12 AS (
  SELECT c277 AS c281, relgrad.sum(c278) AS c282
  FROM join11
  GROUP BY c277
),
-- Scan
scan13 AS (
  SELECT c1 AS c16, c2 AS c17
  FROM pg_temp.relgrad_site0_14
),
-- Join (c283 id, c284 d_sum)
join14 AS (
  SELECT
    aggregate12.c281 AS c283,
    relgrad.gen_select(relgrad.greater(scan13.c17, 0.0), aggregate12.c282, 0.0) AS c284
  FROM aggregate12
  JOIN scan13 ON aggregate12.c281 = scan13.c16
)
SELECT c283, c284
FROM join14
ORDER BY c283;
-- exchange 8 fills relgrad_site0_5
-- exchange 9, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c283, c2 AS c284
  FROM pg_temp.relgrad_site0_5
),
-- Scan
scan2 AS (
  SELECT c1 AS c118, c3 AS c120, c4 AS c414
  FROM pg_temp.relgrad_site0_15
),
-- Join (c291 id, c292 d_sum)
join3 AS (
  SELECT scan2.c120 AS c291, relgrad.chunk_mul(scan1.c284, scan2.c414) AS c292
  FROM scan1
  JOIN scan2 ON scan1.c283 = scan2.c118
),
-- Aggregate (c295 id, c296 d_sum)
aggregate4 AS (
  SELECT c291 AS c295, relgrad.sum(c292) AS c296
  FROM join3
  GROUP BY c291
),
-- Scan
scan5 AS (
  SELECT c1 AS c163, c2 AS c164
  FROM pg_temp.relgrad_site0_16
),
-- Scan
scan6 AS (
  SELECT one AS c9
  FROM public.l1
),
-- Join (c165 id, c167 one, c429 sum)
join7 AS (
  SELECT scan5.c163 AS c165, scan6.c9 AS c167, scan5.c164 AS c429
  FROM scan5
  JOIN scan6 ON TRUE
),
-- Join (c300 one, c301 d_v)
join8 AS (
  SELECT join7.c167 AS c300, relgrad.outer(join7.c429, aggregate4.c296) AS c301
  FROM aggregate4
  JOIN join7 ON aggregate4.c295 = join7.c165
),
-- Aggregate (c440 one, c441 d_v)
aggregate9 AS (
  SELECT c300 AS c440, relgrad.sum(c301) AS c441
  FROM join8
  GROUP BY c300
)
SELECT c440, c441
FROM aggregate9
ORDER BY c440;
-- exchange 9 fills relgrad_site0_6
-- the loss
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c35, c2 AS c36
  FROM pg_temp.relgrad_site0_10
),
-- Select (c38 loss)
select2 AS (
  SELECT relgrad.gen_div(c35, c36::double precision) AS c38
  FROM scan1
)
SELECT c38::double precision AS loss
FROM select2;
-- the gradient with respect to l1
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c440, c2 AS c441
  FROM pg_temp.relgrad_site0_6
),
-- Aggregate (c303 one, c304 d_v)
aggregate2 AS (
  SELECT c440 AS c303, relgrad.sum(c441) AS c304
  FROM scan1
  GROUP BY c440
),
-- Select (c305 one, c306 v)
select3 AS (
  SELECT c303 AS c305, c304 AS c306
  FROM aggregate2
)
SELECT c305::bigint AS one, c306::double precision[] AS v
FROM select3
ORDER BY select3.c305;
-- at server s1
CREATE TEMPORARY TABLE relgrad_site0_1 (c1 bigint, c2 bigint, c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_2 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_3 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_4 (c1 bigint, c2 double precision[], c3 bigint);
CREATE TEMPORARY TABLE relgrad_site0_5 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_6 (c1 bigint, c2 bigint, c3 double precision[], c4 bigint);
CREATE TEMPORARY TABLE relgrad_site0_7 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_8 (c1 double precision);
CREATE TEMPORARY TABLE relgrad_site0_9 (c1 bigint, c2 bigint, c3 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_10 (c1 bigint, c2 double precision[], c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_11 (c1 bigint, c2 double precision[]);
CREATE TEMPORARY TABLE relgrad_site0_12 (c1 bigint, c2 double precision[], c3 bigint, c4 double precision);
CREATE TEMPORARY TABLE relgrad_site0_13 (c1 bigint, c2 double precision[]);
-- exchange 1, SHUF, in the first step
WITH
-- Scan
scan1 AS (
  SELECT relgrad.gen_row_id(ctid) AS c447, src AS c448, dst AS c449, weight AS c450
  FROM public.part_edge
),
-- Select (c451 rowid, c452 src, c453 dst, c454 weight)
select2 AS (
  SELECT c447 + 72057594037927936 AS c451, c448 AS c452, c449 AS c453, c450 AS c454
  FROM scan1
),
-- Union (c1 rowid, c2 src, c3 dst, c4 weight)
union3 AS (
  SELECT c451 AS c1, c452 AS c2, c453 AS c3, c454 AS c4
  FROM select2
)
SELECT c1, c2, c3, c4
FROM union3;
-- exchange 1 fills relgrad_site0_1
-- exchange 2 fills relgrad_site0_2
-- kept in relgrad_site0_13
WITH
-- Scan
scan1 AS (
  SELECT id AS c456, x AS c457
  FROM public.part_node
),
-- Select (c460 id, c461 x)
select2 AS (
  SELECT c456 AS c460, c457 AS c461
  FROM scan1
),
-- Union (c6 id, c7 x)
union3 AS (
  SELECT c460 AS c6, c461 AS c7
  FROM select2
),
-- Select (c160 id, c161 sum)
select4 AS (
  SELECT c6 AS c160, c7 AS c161
  FROM union3
),
-- Aggregate (c163 id, c164 sum)
aggregate5 AS (
  SELECT c160 AS c163, relgrad.sum(c161) AS c164
  FROM select4
  GROUP BY c160
)
SELECT c163, c164
FROM aggregate5;
-- kept in relgrad_site0_12
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c163, c2 AS c164
  FROM pg_temp.relgrad_site0_13
),
-- Scan
scan2 AS (
  SELECT c2 AS c10
  FROM pg_temp.relgrad_site0_2
),
-- Join (c165 id, c166 sum)
join3 AS (
  SELECT scan1.c163 AS c165, relgrad.matmul(scan1.c164, scan2.c10) AS c166
  FROM scan1
  JOIN scan2 ON TRUE
),
-- Aggregate (c116 id, c117 sum)
aggregate4 AS (
  SELECT c165 AS c116, relgrad.sum(c166) AS c117
  FROM join3
  GROUP BY c165
),
-- Scan
scan5 AS (
  SELECT c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_1
),
-- Join (c118 dst, c119 sum, c120 id, c414 weight)
join6 AS (
  SELECT
    scan5.c3 AS c118,
    relgrad.chunk_mul(scan5.c4, aggregate4.c117) AS c119,
    aggregate4.c116 AS c120,
    scan5.c4 AS c414
  FROM aggregate4
  JOIN scan5 ON aggregate4.c116 = scan5.c2
)
SELECT c118, c119, c120, c414
FROM join6;
-- exchange 3, SHUF, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c118, c2 AS c119
  FROM pg_temp.relgrad_site0_12
),
-- Aggregate (c436 dst, c437 sum)
aggregate2 AS (
  SELECT c118 AS c436, relgrad.sum(c119) AS c437
  FROM scan1
  GROUP BY c118
)
SELECT c436, c437
FROM aggregate2;
-- exchange 3 fills relgrad_site0_3
-- kept in relgrad_site0_11
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c436, c2 AS c437
  FROM pg_temp.relgrad_site0_3
),
-- Aggregate (c16 dst, c17 sum)
aggregate2 AS (
  SELECT c436 AS c16, relgrad.sum(c437) AS c17
  FROM scan1
  GROUP BY c436
)
SELECT c16, c17
FROM aggregate2;
-- kept in relgrad_site0_10
WITH
-- Scan
scan1 AS (
  SELECT c2 AS c2, c3 AS c3, c4 AS c4
  FROM pg_temp.relgrad_site0_1
),
-- Scan
scan2 AS (
  SELECT c1 AS c16, c2 AS c17
  FROM pg_temp.relgrad_site0_11
),
-- Select (c18 id, c19 h)
select3 AS (
  SELECT c16 AS c18, relgrad.relu(c17) AS c19
  FROM scan2
  OFFSET 0
),
-- Join (c20 dst, c21 sum, c23 id, c399 weight)
join4 AS (
  SELECT scan1.c3 AS c20, relgrad.chunk_mul(scan1.c4, select3.c19) AS c21, select3.c18 AS c23, scan1.c4 AS c399
  FROM scan1
  JOIN select3 ON select3.c18 = scan1.c2
)
SELECT c20, c21, c23, c399
FROM join4;
-- exchange 4, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c20, c2 AS c21
  FROM pg_temp.relgrad_site0_10
),
-- Aggregate (c438 dst, c439 sum)
aggregate2 AS (
  SELECT c20 AS c438, relgrad.sum(c21) AS c439
  FROM scan1
  GROUP BY c20
)
SELECT c438, c439
FROM aggregate2;
-- exchange 4 fills relgrad_site0_4
-- exchange 5 fills relgrad_site0_5
-- exchange 6, BCAST, in the first step
WITH
-- Scan
scan1 AS (
  SELECT relgrad.gen_row_id(ctid) AS c455, id AS c456, x AS c457, label AS c458
  FROM public.part_node
),
-- Select (c459 rowid, c460 id, c461 x, c462 label)
select2 AS (
  SELECT c455 + 72057594037927936 AS c459, c456 AS c460, c457 AS c461, c458 AS c462
  FROM scan1
),
-- Union (c5 rowid, c6 id, c7 x, c8 label)
union3 AS (
  SELECT c459 AS c5, c460 AS c6, c461 AS c7, c462 AS c8
  FROM select2
)
SELECT c5, c6, c7, c8
FROM union3;
-- exchange 6 fills relgrad_site0_6
-- kept in relgrad_site0_9
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c438, c2 AS c439
  FROM pg_temp.relgrad_site0_4
),
-- Aggregate (c24 dst, c25 sum)
aggregate2 AS (
  SELECT c438 AS c24, relgrad.sum(c439) AS c25
  FROM scan1
  GROUP BY c438
),
-- Scan
scan3 AS (
  SELECT c1 AS c28, c2 AS c29
  FROM pg_temp.relgrad_site0_5
),
-- Join (c146 dst, c148 one, c150 matmul)
join4 AS (
  SELECT aggregate2.c24 AS c146, scan3.c28 AS c148, relgrad.matmul(aggregate2.c25, scan3.c29) AS c150
  FROM aggregate2
  JOIN scan3 ON TRUE
)
SELECT c146, c148, c150
FROM join4;
-- kept in relgrad_site0_8
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c146
  FROM pg_temp.relgrad_site0_9
),
-- Scan
scan2 AS (
  SELECT c2 AS c6
  FROM pg_temp.relgrad_site0_6
),
-- Join (c31 avg)
join3 AS (
  SELECT 1::bigint AS c31
  FROM scan1
  JOIN scan2 ON scan1.c146 = scan2.c6
),
-- Aggregate (c36 avg)
aggregate4 AS (
  SELECT pg_catalog.count(c31) AS c36
  FROM join3
),
-- Select (c392 d_avg)
select5 AS (
  SELECT relgrad.gen_div(1.0, c36::double precision) AS c392
  FROM aggregate4
)
SELECT c392
FROM select5;
-- exchange 8, BCAST, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c392
  FROM pg_temp.relgrad_site0_8
),
-- Scan
scan2 AS (
  SELECT c1 AS c146, c2 AS c148, c3 AS c150
  FROM pg_temp.relgrad_site0_9
),
-- Scan
scan3 AS (
  SELECT c2 AS c6, c4 AS c8
  FROM pg_temp.relgrad_site0_6
),
-- Join (c32 id, c34 one, c393 matmul, c435 label)
join4 AS (
  SELECT scan2.c146 AS c32, scan2.c148 AS c34, scan2.c150 AS c393, scan3.c8 AS c435
  FROM scan2
  JOIN scan3 ON scan2.c146 = scan3.c6
),
-- Join (c260 id, c261 one, c262 d_matmul)
join5 AS (
  SELECT
    join4.c32 AS c260,
    join4.c34 AS c261,
    relgrad.chunk_mul(scan1.c392, relgrad.gen_cross_entropy_slope(join4.c393, join4.c435)) AS c262
  FROM scan1
  JOIN join4 ON TRUE
),
-- Aggregate (c265 id, c266 one, c267 d_matmul)
aggregate6 AS (
  SELECT c260 AS c265, c261 AS c266, relgrad.sum(c262) AS c267
  FROM join5
  GROUP BY c260, c261
),
-- Scan
scan7 AS (
  SELECT c1 AS c28, c2 AS c29
  FROM pg_temp.relgrad_site0_5
),
-- Join (c268 id, c269 d_sum)
join8 AS (
  SELECT aggregate6.c265 AS c268, relgrad.matmul(scan7.c29, aggregate6.c267) AS c269
  FROM aggregate6
  JOIN scan7 ON aggregate6.c266 = scan7.c28
),
-- Aggregate (c271 id, c272 d_sum)
aggregate9 AS (
  SELECT c268 AS c271, relgrad.sum(c269) AS c272
  FROM join8
  GROUP BY c268
),
-- Scan
scan10 AS (
  SELECT c1 AS c20, c3 AS c23, c4 AS c399
  FROM pg_temp.relgrad_site0_10
),
-- Join (c277 id, c278 d_h)
join11 AS (
  SELECT scan10.c23 AS c277, relgrad.chunk_mul(aggregate9.c272, scan10.c399) AS c278
  FROM aggregate9
  JOIN scan10 ON aggregate9.c271 = scan10.c20
),
-- Aggregate (c281 id, c282 d_h)
aggregate12 AS (
  SELECT c277 AS c281, relgrad.sum(c278) AS c282
  FROM join11
  GROUP BY c277
),
-- Scan
scan13 AS (
  SELECT c1 AS c16, c2 AS c17
  FROM pg_temp.relgrad_site0_11
),
-- Join (c283 id, c284 d_sum)
join14 AS (
  SELECT
    aggregate12.c281 AS c283,
    relgrad.gen_select(relgrad.greater(scan13.c17, 0.0), aggregate12.c282, 0.0) AS c284
  FROM aggregate12
  JOIN scan13 ON aggregate12.c281 = scan13.c16
)
SELECT c283, c284
FROM join14;
-- exchange 8 fills relgrad_site0_7
-- exchange 9, Gather, in each step
WITH
-- Scan
scan1 AS (
  SELECT c1 AS c283, c2 AS c284
  FROM pg_temp.relgrad_site0_7
),
-- Scan
scan2 AS (
  SELECT c1 AS c118, c3 AS c120, c4 AS c414
  FROM pg_temp.relgrad_site0_12
),
-- Join (c291 id, c292 d_sum)
join3 AS (
  SELECT scan2.c120 AS c291, relgrad.chunk_mul(scan1.c284, scan2.c414) AS c292
  FROM scan1
  JOIN scan2 ON scan1.c283 = scan2.c118
),
-- Aggregate (c295 id, c296 d_sum)
aggregate4 AS (
  SELECT c291 AS c295, relgrad.sum(c292) AS c296
  FROM join3
  GROUP BY c291
),
-- Scan
scan5 AS (
  SELECT c1 AS c163, c2 AS c164
  FROM pg_temp.relgrad_site0_13
),
-- Scan
scan6 AS (
  SELECT c1 AS c9
  FROM pg_temp.relgrad_site0_2
),
-- Join (c165 id, c167 one, c429 sum)
join7 AS (
  SELECT scan5.c163 AS c165, scan6.c9 AS c167, scan5.c164 AS c429
  FROM scan5
  JOIN scan6 ON TRUE
),
-- Join (c300 one, c301 d_v)
join8 AS (
  SELECT join7.c167 AS c300, relgrad.outer(join7.c429, aggregate4.c296) AS c301
  FROM aggregate4
  JOIN join7 ON aggregate4.c295 = join7.c165
),
-- Aggregate (c440 one, c441 d_v)
aggregate9 AS (
  SELECT c300 AS c440, relgrad.sum(c301) AS c441
  FROM join8
  GROUP BY c300
)
SELECT c440, c441
FROM aggregate9;
