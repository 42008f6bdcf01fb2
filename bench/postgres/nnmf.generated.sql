-- the gradient with respect to taste
-- Postgres's estimate: cost 10909.62 to 10954.12, 500 rows
WITH
-- Scan
scan1 AS (
  SELECT item AS c6, v AS c7
  FROM public.trait
),
-- Select (c41 item, c42 v)
select2 AS NOT MATERIALIZED (
  SELECT c6 AS c41, c7 AS c42
  FROM scan1
),
-- Scan
scan3 AS NOT MATERIALIZED (
  SELECT userid AS c4, v AS c5
  FROM public.taste
),
-- Select (c38 userid, c39 v)
select4 AS NOT MATERIALIZED (
  SELECT c4 AS c38, c5 AS c39
  FROM scan3
),
-- Scan
scan5 AS (
  SELECT userid AS c1, item AS c2, rating::double precision AS c3
  FROM public.rating
),
-- Join (c9 avg, c10 userid, c11 item, c69 rating)
join6 AS NOT MATERIALIZED (
  SELECT 1::bigint AS c9, scan5.c1 AS c10, scan5.c2 AS c11, scan5.c3 AS c69
  FROM select2
  JOIN select4 ON TRUE
  JOIN scan5 ON scan5.c1 = select4.c38 AND scan5.c2 = select2.c41
),
-- Aggregate (c12 avg, c13 avg)
aggregate7 AS (
  SELECT nullif(count(*), 0) AS c12, pg_catalog.count(c9) AS c13
  FROM join6
),
-- Select
select8 AS (
  SELECT 1 AS one
  FROM aggregate7
),
-- Join (c46 d_avg)
join9 AS MATERIALIZED (
  SELECT CASE WHEN aggregate7.c12 IS NOT NULL THEN relgrad.gen_div(1.0, aggregate7.c13::double precision) ELSE 0.0 END AS c46
  FROM select8
  JOIN aggregate7 ON TRUE
),
-- Join (c53 userid, c54 d_v, c55 d_sqnorm)
join10 AS (
  SELECT
    join6.c10 AS c53,
    relgrad.chunk_mul(-relgrad.gen_mul(join9.c46, relgrad.gen_mul(2.0, relgrad.gen_sub(join6.c69, relgrad.dot(select4.c39, select2.c42)))), select2.c42) AS c54,
    relgrad.gen_mul(join9.c46, 0.16) AS c55
  FROM join9
  JOIN join6 ON TRUE
  JOIN select4 ON join6.c10 = select4.c38
  JOIN select2 ON join6.c11 = select2.c41
),
-- Aggregate (c58 userid, c59 d_v, c60 d_sqnorm)
aggregate11 AS (
  SELECT c53 AS c58, relgrad.sum(c54) AS c59, relgrad.sum(c55) AS c60
  FROM join10
  GROUP BY c53
),
-- Join (c61 userid, c62 d_v)
join12 AS (
  SELECT
    aggregate11.c58 AS c61,
    relgrad.chunk_add(aggregate11.c59, relgrad.chunk_mul(relgrad.gen_mul(2.0, aggregate11.c60), scan3.c5)) AS c62
  FROM aggregate11
  JOIN scan3 ON aggregate11.c58 = scan3.c4
  OFFSET 0
),
-- Join (c65 userid, c66 v)
join13 AS (
  SELECT scan3.c4 AS c65, join12.c62 AS c66
  FROM join12
  JOIN scan3 ON join12.c61 = scan3.c4
)
SELECT c65::bigint AS userid, c66::real[] AS v
FROM join13
ORDER BY join13.c65
