-- relgrad run [-v s=S] [-v p=P] chain.sql: the chain (A × B) + (C × (D × E)) of matrices in P x P blocks (EinDecomp, Bourgeois
-- et al., VLDB 2025, section 9.2, experiment 1), once of square matrices S x S, once as skewed as there: A and C are S x S/10,
-- B is S/10 x S, D S/10 x 10 S, E 10 S x S.
SET search_path = public, relgrad;
\if :{?s}
\else
\set s 80
\endif
\if :{?p}
\else
\set p 4
\endif
CREATE TABLE square_a (i int, j int, v real[][], PRIMARY KEY (i, j));
CREATE TABLE square_b (j int, k int, v real[][], PRIMARY KEY (j, k));
CREATE TABLE square_c (i int, l int, v real[][], PRIMARY KEY (i, l));
CREATE TABLE square_d (l int, m int, v real[][], PRIMARY KEY (l, m));
CREATE TABLE square_e (m int, k int, v real[][], PRIMARY KEY (m, k));
CREATE TABLE skewed_a (LIKE square_a INCLUDING ALL);
CREATE TABLE skewed_b (LIKE square_b INCLUDING ALL);
CREATE TABLE skewed_c (LIKE square_c INCLUDING ALL);
CREATE TABLE skewed_d (LIKE square_d INCLUDING ALL);
CREATE TABLE skewed_e (LIKE square_e INCLUDING ALL);
CREATE TABLE block AS SELECT x, y FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :p - 1) AS s(y);
INSERT INTO square_a SELECT x, y, random_uniform(ARRAY[:s / :p, :s / :p], 1, ARRAY[1, x, y]) FROM block;
INSERT INTO square_b SELECT x, y, random_uniform(ARRAY[:s / :p, :s / :p], 1, ARRAY[2, x, y]) FROM block;
INSERT INTO square_c SELECT x, y, random_uniform(ARRAY[:s / :p, :s / :p], 1, ARRAY[3, x, y]) FROM block;
INSERT INTO square_d SELECT x, y, random_uniform(ARRAY[:s / :p, :s / :p], 1, ARRAY[4, x, y]) FROM block;
INSERT INTO square_e SELECT x, y, random_uniform(ARRAY[:s / :p, :s / :p], 1, ARRAY[5, x, y]) FROM block;
INSERT INTO skewed_a SELECT x, y, random_uniform(ARRAY[:s / :p, :s / 10 / :p], 1, ARRAY[6, x, y]) FROM block;
INSERT INTO skewed_b SELECT x, y, random_uniform(ARRAY[:s / 10 / :p, :s / :p], 1, ARRAY[7, x, y]) FROM block;
INSERT INTO skewed_c SELECT x, y, random_uniform(ARRAY[:s / :p, :s / 10 / :p], 1, ARRAY[8, x, y]) FROM block;
INSERT INTO skewed_d SELECT x, y, random_uniform(ARRAY[:s / 10 / :p, :s * 10 / :p], 1, ARRAY[9, x, y]) FROM block;
INSERT INTO skewed_e SELECT x, y, random_uniform(ARRAY[:s * 10 / :p, :s / :p], 1, ARRAY[10, x, y]) FROM block;

CREATE VIEW square_ab  AS SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM square_a a JOIN square_b b USING (j) GROUP BY i, k;
CREATE VIEW square_de  AS SELECT l, k, sum(matmul(d.v, e.v)) AS v FROM square_d d JOIN square_e e USING (m) GROUP BY l, k;
CREATE VIEW square_cde AS SELECT i, k, sum(matmul(c.v, de.v)) AS v FROM square_c c JOIN square_de de USING (l) GROUP BY i, k;
CREATE VIEW square     AS SELECT i, k, ab.v + cde.v AS v FROM square_ab ab JOIN square_cde cde USING (i, k);
CREATE VIEW skewed_ab  AS SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM skewed_a a JOIN skewed_b b USING (j) GROUP BY i, k;
CREATE VIEW skewed_de  AS SELECT l, k, sum(matmul(d.v, e.v)) AS v FROM skewed_d d JOIN skewed_e e USING (m) GROUP BY l, k;
CREATE VIEW skewed_cde AS SELECT i, k, sum(matmul(c.v, de.v)) AS v FROM skewed_c c JOIN skewed_de de USING (l) GROUP BY i, k;
CREATE VIEW skewed     AS SELECT i, k, ab.v + cde.v AS v FROM skewed_ab ab JOIN skewed_cde cde USING (i, k);
CREATE VIEW square_loss AS SELECT sum(sqnorm(v)) AS loss FROM square;
CREATE VIEW skewed_loss AS SELECT sum(sqnorm(v)) AS loss FROM skewed;

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('square_loss', ARRAY['square_a', 'square_b', 'square_c', 'square_d', 'square_e']);
SELECT * FROM plan('skewed_loss', ARRAY['skewed_a', 'skewed_b', 'skewed_c', 'skewed_d', 'skewed_e']);

-- the losses, and the gradients in the tables square_a_grad and so on
SELECT round((backward('square_loss', ARRAY['square_a', 'square_b', 'square_c', 'square_d', 'square_e']) / :s ^ 6)::numeric, 5) AS square;
SELECT round((backward('skewed_loss', ARRAY['skewed_a', 'skewed_b', 'skewed_c', 'skewed_d', 'skewed_e']) / :s ^ 6)::numeric, 5) AS skewed;
-- the gradients of the sum of squares of the chain Z: 2 Z (D E)ᵀ of C, 2 Cᵀ Z Eᵀ of D
SELECT count(*) = 4 * :p * :p AND max(norm(v - closed) / norm(closed)) < 1e-5 AS "gradients agree" FROM (
SELECT g.v, 2 * x.v AS closed
FROM square_c_grad g JOIN (SELECT i, l, sum(matmul(z.v, transpose(de.v))) AS v FROM square z JOIN square_de de USING (k) GROUP BY i, l) x USING (i, l)
UNION ALL
SELECT g.v, 2 * x.v
FROM square_d_grad g JOIN (SELECT l, m, sum(matmul(transpose(c.v), ze.v)) AS v
                           FROM square_c c JOIN (SELECT i, m, sum(matmul(z.v, transpose(e.v))) AS v FROM square z JOIN square_e e USING (k) GROUP BY i, m) ze USING (i)
                           GROUP BY l, m) x USING (l, m)
UNION ALL
SELECT g.v, 2 * x.v
FROM skewed_c_grad g JOIN (SELECT i, l, sum(matmul(z.v, transpose(de.v))) AS v FROM skewed z JOIN skewed_de de USING (k) GROUP BY i, l) x USING (i, l)
UNION ALL
SELECT g.v, 2 * x.v
FROM skewed_d_grad g JOIN (SELECT l, m, sum(matmul(transpose(c.v), ze.v)) AS v
                           FROM skewed_c c JOIN (SELECT i, m, sum(matmul(z.v, transpose(e.v))) AS v FROM skewed z JOIN skewed_e e USING (k) GROUP BY i, m) ze USING (i)
                           GROUP BY l, m) x USING (l, m)
) x;
