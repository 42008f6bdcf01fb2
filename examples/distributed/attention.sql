-- relgrad run [-v n=N] [-v h=H] [-v p=P] attention.sql: attention with H heads of 8 attributes over N positions of 8 H attributes
-- (EinDecomp, Bourgeois et al., VLDB 2025, section 3). Queries, keys and values are cut into P blocks of positions and P
-- of attributes, the weights of a head into P blocks of attributes.
SET search_path = public, relgrad;
\if :{?n}
\else
\set n 64
\endif
\if :{?h}
\else
\set h 4
\endif
\if :{?p}
\else
\set p 4
\endif
CREATE TABLE q  (s int, a int, v real[][], PRIMARY KEY (s, a));
CREATE TABLE k  (LIKE q INCLUDING ALL);
CREATE TABLE v  (LIKE q INCLUDING ALL);
CREATE TABLE wq (a int, h int, v real[][], PRIMARY KEY (a, h));
CREATE TABLE wk (LIKE wq INCLUDING ALL);
CREATE TABLE wv (LIKE wq INCLUDING ALL);
CREATE TABLE wo (a int, h int, v real[][], PRIMARY KEY (a, h));
CREATE TABLE block AS SELECT x, y FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :p - 1) AS s(y);
CREATE TABLE head AS SELECT x, h FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :h - 1) AS s(h);
INSERT INTO q SELECT x, y, random_normal(ARRAY[:n / :p, 8 * :h / :p], 1, ARRAY[1, x, y]) FROM block;
INSERT INTO k SELECT x, y, random_normal(ARRAY[:n / :p, 8 * :h / :p], 1, ARRAY[2, x, y]) FROM block;
INSERT INTO v SELECT x, y, random_normal(ARRAY[:n / :p, 8 * :h / :p], 1, ARRAY[3, x, y]) FROM block;
INSERT INTO wq SELECT x, h, random_normal(ARRAY[8 * :h / :p, 8], 1, ARRAY[4, x, h]) / sqrt(8 * :h) FROM head;
INSERT INTO wk SELECT x, h, random_normal(ARRAY[8 * :h / :p, 8], 1, ARRAY[5, x, h]) / sqrt(8 * :h) FROM head;
INSERT INTO wv SELECT x, h, random_normal(ARRAY[8 * :h / :p, 8], 1, ARRAY[6, x, h]) / sqrt(8 * :h) FROM head;
INSERT INTO wo SELECT x, h, random_normal(ARRAY[8 * :h / :p, 8], 1, ARRAY[7, x, h]) / sqrt(8 * :h) FROM head;

-- section 3, one view for each expression: Q^H, K^H, V^H; T1 and T2; softmax as maximum, exponential, sum and quotient; O; Y
CREATE VIEW qh AS SELECT s, h, sum(matmul(x.v, w.v)) AS v FROM q x JOIN wq w USING (a) GROUP BY s, h;
CREATE VIEW kh AS SELECT s AS t, h, sum(matmul(x.v, w.v)) AS v FROM k x JOIN wk w USING (a) GROUP BY s, h;
CREATE VIEW vh AS SELECT s AS t, h, sum(matmul(x.v, w.v)) AS v FROM v x JOIN wv w USING (a) GROUP BY s, h;
CREATE VIEW score   AS SELECT h, s, t, matmul(q.v, transpose(k.v)) / sqrt(8) AS v FROM qh q JOIN kh k USING (h);
CREATE VIEW most    AS SELECT h, s, max_agg(max_elements(v, 2)) AS v FROM score GROUP BY h, s;
CREATE VIEW e       AS SELECT h, s, t, exp(x.v - m.v) AS v FROM score x JOIN most m USING (h, s);
CREATE VIEW total   AS SELECT h, s, sum(sum_elements(v, 2)) AS v FROM e GROUP BY h, s;
CREATE VIEW weight  AS SELECT h, s, t, e.v / x.v AS v FROM e JOIN total x USING (h, s);
CREATE VIEW o       AS SELECT s, h, sum(matmul(w.v, x.v)) AS v FROM weight w JOIN vh x USING (h, t) GROUP BY s, h;
CREATE VIEW y       AS SELECT s, a, sum(matmul(o.v, transpose(w.v))) AS v FROM o JOIN wo w USING (h) GROUP BY s, a;
CREATE VIEW loss    AS SELECT sum(sqnorm(v)) / (8 * :h * :n) AS loss FROM y;

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('loss', ARRAY['wq', 'wk', 'wv', 'wo']);

-- the same without blocks: one chunk for each of the inputs, and one for the weights of each head
CREATE TABLE whole (id int PRIMARY KEY, q double precision[][], k double precision[][], v double precision[][]);
INSERT INTO whole
SELECT 1, array_agg(q ORDER BY s, i), array_agg(k ORDER BY s, i), array_agg(v ORDER BY s, i)
FROM (SELECT s, i, array_agg(q.v[i][j]::double precision ORDER BY a, j) AS q, array_agg(k.v[i][j]::double precision ORDER BY a, j) AS k,
             array_agg(v.v[i][j]::double precision ORDER BY a, j) AS v
      FROM q JOIN k USING (s, a) JOIN v USING (s, a), generate_series(1, :n / :p) AS r(i), generate_series(1, 8 * :h / :p) AS c(j)
      GROUP BY s, i) x;
CREATE TABLE whole_w (h int PRIMARY KEY, q double precision[][], k double precision[][], v double precision[][], o double precision[][]);
INSERT INTO whole_w
SELECT h, array_agg(q ORDER BY a, i), array_agg(k ORDER BY a, i), array_agg(v ORDER BY a, i), array_agg(o ORDER BY a, i)
FROM (SELECT h, a, i, array_agg(q.v[i][j]::double precision ORDER BY j) AS q, array_agg(k.v[i][j]::double precision ORDER BY j) AS k,
             array_agg(v.v[i][j]::double precision ORDER BY j) AS v, array_agg(o.v[i][j]::double precision ORDER BY j) AS o
      FROM wq q JOIN wk k USING (a, h) JOIN wv v USING (a, h) JOIN wo o USING (a, h), generate_series(1, 8 * :h / :p) AS r(i), generate_series(1, 8) AS c(j)
      GROUP BY h, a, i) x
GROUP BY h;
CREATE VIEW whole_loss AS
SELECT sqnorm(v) / (8 * :h * :n) AS loss
FROM (SELECT sum(matmul(matmul(softmax(matmul(matmul(x.q, w.q), transpose(matmul(x.k, w.k))) / sqrt(8)), matmul(x.v, w.v)), transpose(w.o))) AS v
      FROM whole x CROSS JOIN whole_w w) y;

SELECT round(backward('loss', ARRAY['wq', 'wk', 'wv', 'wo'])::numeric, 6) AS loss, round(backward('whole_loss', ARRAY['whole_w'])::numeric, 6) AS whole_loss;
SELECT round(sqrt(sum(sqnorm(q.v)))::numeric, 6) AS wq, round(sqrt(sum(sqnorm(k.v)))::numeric, 6) AS wk,
       round(sqrt(sum(sqnorm(v.v)))::numeric, 6) AS wv, round(sqrt(sum(sqnorm(o.v)))::numeric, 6) AS wo
FROM wq_grad q JOIN wk_grad k USING (a, h) JOIN wv_grad v USING (a, h) JOIN wo_grad o USING (a, h);
-- every element of the gradients
SELECT count(*) = 64 * :h * :h AND max(greatest(q, k, v, o)) < 1e-7 AS "gradients agree" FROM (
SELECT abs(q.v[i][j] - w.q[q.a * 8 * :h / :p + i][j]) AS q, abs(k.v[i][j] - w.k[q.a * 8 * :h / :p + i][j]) AS k,
       abs(v.v[i][j] - w.v[q.a * 8 * :h / :p + i][j]) AS v, abs(o.v[i][j] - w.o[q.a * 8 * :h / :p + i][j]) AS o
FROM wq_grad q JOIN wk_grad k USING (a, h) JOIN wv_grad v USING (a, h) JOIN wo_grad o USING (a, h) JOIN whole_w_grad w USING (h),
     generate_series(1, 8 * :h / :p) AS r(i), generate_series(1, 8) AS c(j)) x;
