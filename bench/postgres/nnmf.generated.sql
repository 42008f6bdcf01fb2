-- the gradient with respect to taste
-- Postgres's estimate: cost 7272.43 to 7273.68, 500 rows
WITH
-- Scan
scan1 AS (
  SELECT item AS c6, v AS c7
  FROM public.trait
),
-- Scan
scan2 AS NOT MATERIALIZED (
  SELECT userid AS c4, v AS c5
  FROM public.taste
),
-- Scan
scan3 AS (
  SELECT userid AS c1, item AS c2, rating::double precision AS c3
  FROM public.rating
),
-- Join (c69 userid, c70 d_v)
join4 AS (
  SELECT
    scan3.c1 AS c69,
    relgrad.chunk_mul(-relgrad.gen_mul(2.0, relgrad.gen_sub(scan3.c3, relgrad.dot(scan2.c5, scan1.c7))), scan1.c7) AS c70
  FROM scan1
  JOIN scan2 ON TRUE
  JOIN scan3 ON scan3.c1 = scan2.c4 AND scan3.c2 = scan1.c6
),
-- Aggregate (c73 userid, c74 d_v, c75 d_sqnorm)
aggregate5 AS (
  SELECT c69 AS c73, relgrad.sum(c70) AS c74, count(*) AS c75
  FROM join4
  GROUP BY c69
),
-- Aggregate (c102 rows)
aggregate6 AS (
  SELECT sum(c75)::bigint AS c102
  FROM aggregate5
),
-- Select (c90 d_avg)
select7 AS MATERIALIZED (
  SELECT relgrad.gen_div(1.0, coalesce(c102, 0)::double precision) AS c90
  FROM aggregate6
),
-- Join (c76 userid, c77 d_v, c78 d_sqnorm)
join8 AS (
  SELECT
    aggregate5.c73 AS c76,
    relgrad.chunk_mul(select7.c90, aggregate5.c74) AS c77,
    relgrad.gen_mul(aggregate5.c75, relgrad.gen_mul(select7.c90, 0.16)) AS c78
  FROM aggregate5
  JOIN select7 ON TRUE
  OFFSET 0
),
-- Join (c65 userid, c66 v)
join9 AS (
  SELECT
    join8.c76 AS c65,
    relgrad.chunk_add(join8.c77, relgrad.chunk_mul(relgrad.gen_mul(2.0, join8.c78), scan2.c5)) AS c66
  FROM join8
  JOIN scan2 ON join8.c76 = scan2.c4
)
SELECT c65::bigint AS userid, c66::real[] AS v
FROM join9
ORDER BY join9.c65
