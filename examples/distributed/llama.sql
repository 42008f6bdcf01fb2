-- relgrad run [-v n=N] [-v a=A] [-v p=P] llama.sql: a block of LLaMA (Touvron et al., 2023) reads two texts of N positions, as in EinDecomp
-- (Bourgeois et al., VLDB 2025, section 9.2, experiment 3), with gradients: RMS norm, rotary positions, attention of 4 heads that
-- share the keys and values of 2, gated MLP. Of A attributes a head has A/4; positions, attributes and the 2 A hidden units
-- of the MLP are cut into P blocks.
SET search_path = public, relgrad;
\if :{?n}
\else
\set n 32
\endif
\if :{?a}
\else
\set a 64
\endif
\if :{?p}
\else
\set p 4
\endif
CREATE TABLE x     (b int, s int, a int, v real[][], PRIMARY KEY (b, s, a)); -- b the text, s a block of positions, a one of attributes
CREATE TABLE norm1 (a int PRIMARY KEY, v real[]);
CREATE TABLE wq    (a int, h int, v real[][], PRIMARY KEY (a, h));
CREATE TABLE wk    (a int, g int, v real[][], PRIMARY KEY (a, g)); -- the heads 2 g and 2 g + 1 share keys and values
CREATE TABLE wv    (LIKE wk INCLUDING ALL);
CREATE TABLE wo    (h int, a int, v real[][], PRIMARY KEY (h, a));
CREATE TABLE norm2 (LIKE norm1 INCLUDING ALL);
CREATE TABLE wgate (a int, f int, v real[][], PRIMARY KEY (a, f));
CREATE TABLE wup   (LIKE wgate INCLUDING ALL);
CREATE TABLE wdown (f int, a int, v real[][], PRIMARY KEY (f, a));
CREATE TABLE target (LIKE x INCLUDING ALL);
CREATE TABLE block AS SELECT y, z FROM generate_series(0, :p - 1) AS r(y), generate_series(0, :p - 1) AS s(z);
CREATE TABLE head AS SELECT y, h FROM generate_series(0, :p - 1) AS r(y), generate_series(0, 3) AS s(h);
INSERT INTO x SELECT b, y, z, random_normal(ARRAY[:n / :p, :a / :p], 1, ARRAY[1, b, y, z]) FROM block, generate_series(0, 1) AS t(b);
INSERT INTO norm1 SELECT y, 1 + random_normal(ARRAY[:a / :p], 1, ARRAY[2, y]) / 10 FROM block WHERE z = 0;
INSERT INTO wq SELECT y, h, random_normal(ARRAY[:a / :p, :a / 4], 1, ARRAY[3, y, h]) / sqrt(:a) FROM head;
INSERT INTO wk SELECT y, h, random_normal(ARRAY[:a / :p, :a / 4], 1, ARRAY[4, y, h]) / sqrt(:a) FROM head WHERE h < 2;
INSERT INTO wv SELECT y, h, random_normal(ARRAY[:a / :p, :a / 4], 1, ARRAY[5, y, h]) / sqrt(:a) FROM head WHERE h < 2;
INSERT INTO wo SELECT h, y, random_normal(ARRAY[:a / 4, :a / :p], 1, ARRAY[6, y, h]) / sqrt(:a) FROM head;
INSERT INTO norm2 SELECT y, 1 + random_normal(ARRAY[:a / :p], 1, ARRAY[7, y]) / 10 FROM block WHERE z = 0;
INSERT INTO wgate SELECT y, z, random_normal(ARRAY[:a / :p, :a * 2 / :p], 1, ARRAY[8, y, z]) / sqrt(:a) FROM block;
INSERT INTO wup   SELECT y, z, random_normal(ARRAY[:a / :p, :a * 2 / :p], 1, ARRAY[9, y, z]) / sqrt(:a) FROM block;
INSERT INTO wdown SELECT y, z, random_normal(ARRAY[:a * 2 / :p, :a / :p], 1, ARRAY[10, y, z]) / sqrt(:a * 2) FROM block;
INSERT INTO target SELECT b, y, z, random_normal(ARRAY[:n / :p, :a / :p], 1, ARRAY[11, b, y, z]) FROM block, generate_series(0, 1) AS t(b);
-- the pair of attributes (i, i + D/2) of a head of D is turned by the angle position / 10000^(2 i / D)
CREATE TABLE rotary (s int PRIMARY KEY, cos real[][], sin real[][]);
INSERT INTO rotary
SELECT s, array_agg(c ORDER BY i), array_agg(d ORDER BY i)
FROM (SELECT s, i, array_agg(cos((s * :n / :p + i) / power(10000, (j % (:a / 8)) / (:a / 8.0)))::real ORDER BY j) AS c,
             array_agg(sin((s * :n / :p + i) / power(10000, (j % (:a / 8)) / (:a / 8.0)))::real ORDER BY j) AS d
      FROM generate_series(0, :p - 1) AS r(s), generate_series(0, :n / :p - 1) AS t(i), generate_series(0, :a / 4 - 1) AS u(j) GROUP BY s, i) y
GROUP BY s;
-- a block of queries s meets the blocks of keys t up to its own, and there the positions up to each
CREATE TABLE causal (s int, t int, v real[][], PRIMARY KEY (s, t));
INSERT INTO causal
SELECT s, t, array_agg(r ORDER BY i)
FROM (SELECT s, t, i, array_agg(CASE WHEN s = t AND j > i THEN -1e9 ELSE 0 END::real ORDER BY j) AS r
      FROM generate_series(0, :p - 1) AS x(s), generate_series(0, :p - 1) AS y(t), generate_series(1, :n / :p) AS z(i), generate_series(1, :n / :p) AS u(j)
      WHERE t <= s GROUP BY s, t, i) w
GROUP BY s, t;

CREATE VIEW rms1 AS SELECT b, s, sqrt(sum(sum_elements(square(v), 2)) / :a + 1e-5) AS v FROM x GROUP BY b, s;
CREATE VIEW in1  AS SELECT b, s, a, x.v / r.v * n.v AS v FROM x JOIN rms1 r USING (b, s) JOIN norm1 n USING (a);
CREATE VIEW q0   AS SELECT b, s, h, sum(matmul(x.v, w.v)) AS v FROM in1 x JOIN wq w USING (a) GROUP BY b, s, h;
CREATE VIEW k0   AS SELECT b, s, g, sum(matmul(x.v, w.v)) AS v FROM in1 x JOIN wk w USING (a) GROUP BY b, s, g;
CREATE VIEW val  AS SELECT b, s AS t, g, sum(matmul(x.v, w.v)) AS v FROM in1 x JOIN wv w USING (a) GROUP BY b, s, g;
CREATE VIEW q AS
SELECT b, s, h, v * cos + concat_axis(-v[1:][:a / 8 + 1:], v[1:][1:(:a / 8)], 2) * sin AS v FROM q0 JOIN rotary USING (s);
CREATE VIEW k AS
SELECT b, s AS t, g, v * cos + concat_axis(-v[1:][:a / 8 + 1:], v[1:][1:(:a / 8)], 2) * sin AS v FROM k0 JOIN rotary USING (s);
CREATE VIEW score AS
SELECT b, h, s, t, matmul(q.v, transpose(k.v)) / sqrt(:a / 4) + c.v AS v FROM q JOIN causal c USING (s) JOIN k USING (b, t) WHERE k.g = q.h / 2;
CREATE VIEW weight AS
SELECT b, h, s, t, e / sum(sum_elements(e, 2)) OVER (PARTITION BY b, h, s) AS v
FROM (SELECT b, h, s, t, exp(v - max_agg(max_elements(v, 2)) OVER (PARTITION BY b, h, s)) AS e FROM score) x;
CREATE VIEW o    AS SELECT b, h, s, sum(matmul(w.v, val.v)) AS v FROM weight w JOIN val USING (b, t) WHERE val.g = w.h / 2 GROUP BY b, h, s;
CREATE VIEW attended AS
SELECT b, s, a, x.v + o.v AS v
FROM x JOIN (SELECT b, s, a, sum(matmul(o.v, w.v)) AS v FROM o JOIN wo w USING (h) GROUP BY b, s, a) o USING (b, s, a);
CREATE VIEW rms2 AS SELECT b, s, sqrt(sum(sum_elements(square(v), 2)) / :a + 1e-5) AS v FROM attended GROUP BY b, s;
CREATE VIEW in2  AS SELECT b, s, a, x.v / r.v * n.v AS v FROM attended x JOIN rms2 r USING (b, s) JOIN norm2 n USING (a);
CREATE VIEW gate AS SELECT b, s, f, silu(sum(matmul(x.v, w.v))) AS v FROM in2 x JOIN wgate w USING (a) GROUP BY b, s, f;
CREATE VIEW up   AS SELECT b, s, f, sum(matmul(x.v, w.v)) AS v FROM in2 x JOIN wup w USING (a) GROUP BY b, s, f;
CREATE VIEW output AS
SELECT b, s, a, x.v + m.v AS v
FROM attended x JOIN (SELECT b, s, a, sum(matmul(gate.v * up.v, w.v)) AS v FROM gate JOIN up USING (b, s, f) JOIN wdown w USING (f)
                      GROUP BY b, s, a) m USING (b, s, a);
CREATE VIEW loss AS SELECT avg(mean_elements(square(y.v - t.v))) AS loss FROM output y JOIN target t USING (b, s, a);

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('loss', ARRAY['norm1', 'wq', 'wk', 'wv', 'wo', 'norm2', 'wgate', 'wup', 'wdown']);

-- the loss, the gradients of the weights and of the input
SELECT round(backward('loss', ARRAY['x', 'norm1', 'wq', 'wk', 'wv', 'wo', 'norm2', 'wgate', 'wup', 'wdown'])::numeric, 6) AS loss;
SELECT name, round(size::numeric, 6) AS size FROM (
          SELECT 1 AS n, 'x' AS name, sqrt(sum(sqnorm(v))) AS size FROM x_grad
UNION ALL SELECT 2, 'norm1', sqrt(sum(sqnorm(v))) FROM norm1_grad
UNION ALL SELECT 3, 'wq', sqrt(sum(sqnorm(v))) FROM wq_grad
UNION ALL SELECT 4, 'wk', sqrt(sum(sqnorm(v))) FROM wk_grad
UNION ALL SELECT 5, 'wv', sqrt(sum(sqnorm(v))) FROM wv_grad
UNION ALL SELECT 6, 'wo', sqrt(sum(sqnorm(v))) FROM wo_grad
UNION ALL SELECT 7, 'norm2', sqrt(sum(sqnorm(v))) FROM norm2_grad
UNION ALL SELECT 8, 'wgate', sqrt(sum(sqnorm(v))) FROM wgate_grad
UNION ALL SELECT 9, 'wup', sqrt(sum(sqnorm(v))) FROM wup_grad
UNION ALL SELECT 10, 'wdown', sqrt(sum(sqnorm(v))) FROM wdown_grad) g ORDER BY n;
-- what the first block of positions puts out depends on no later one
CREATE VIEW first_block AS SELECT sum(sqnorm(v)) AS loss FROM output WHERE s = 0;
SELECT count(*) = 2 * :p AND bool_and(s = 0) AS causal FROM gradient('first_block', NULL::x);
