-- relgrad run [-v n=N] [-v p=P] product.sql: products of matrices in P x P blocks, of three shapes that take the same work
-- (TRA, Yuan et al., VLDB 2021, section 6.1): N x N times N x N; a common large dimension, N/4 x 16 N times 16 N x N/4; two
-- large dimensions, 2 N x N/4 times N/4 x 2 N.
SET search_path = public, relgrad;
\if :{?n}
\else
\set n 64
\endif
\if :{?p}
\else
\set p 4
\endif
CREATE TABLE square_a (i int, j int, v real[][], PRIMARY KEY (i, j));
CREATE TABLE square_b (j int, k int, v real[][], PRIMARY KEY (j, k));
CREATE TABLE common_a (LIKE square_a INCLUDING ALL);
CREATE TABLE common_b (LIKE square_b INCLUDING ALL);
CREATE TABLE large_a (LIKE square_a INCLUDING ALL);
CREATE TABLE large_b (LIKE square_b INCLUDING ALL);
CREATE TABLE block AS SELECT x, y FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :p - 1) AS s(y);
INSERT INTO square_a SELECT x, y, random_uniform(ARRAY[:n / :p, :n / :p], 1, ARRAY[1, x, y]) FROM block;
INSERT INTO square_b SELECT x, y, random_uniform(ARRAY[:n / :p, :n / :p], 1, ARRAY[2, x, y]) FROM block;
INSERT INTO common_a SELECT x, y, random_uniform(ARRAY[:n / 4 / :p, :n * 16 / :p], 1, ARRAY[3, x, y]) FROM block;
INSERT INTO common_b SELECT x, y, random_uniform(ARRAY[:n * 16 / :p, :n / 4 / :p], 1, ARRAY[4, x, y]) FROM block;
INSERT INTO large_a SELECT x, y, random_uniform(ARRAY[:n * 2 / :p, :n / 4 / :p], 1, ARRAY[5, x, y]) FROM block;
INSERT INTO large_b SELECT x, y, random_uniform(ARRAY[:n / 4 / :p, :n * 2 / :p], 1, ARRAY[6, x, y]) FROM block;

CREATE VIEW square AS SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM square_a a JOIN square_b b USING (j) GROUP BY i, k;
CREATE VIEW common AS SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM common_a a JOIN common_b b USING (j) GROUP BY i, k;
CREATE VIEW large  AS SELECT i, k, sum(matmul(a.v, b.v)) AS v FROM large_a a JOIN large_b b USING (j) GROUP BY i, k;
CREATE VIEW square_loss AS SELECT sum(sqnorm(v)) AS loss FROM square;
CREATE VIEW common_loss AS SELECT sum(sqnorm(v)) AS loss FROM common;
CREATE VIEW large_loss  AS SELECT sum(sqnorm(v)) AS loss FROM large;

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('square_loss', ARRAY['square_a', 'square_b']);
SELECT * FROM plan('common_loss', ARRAY['common_a', 'common_b']);
SELECT * FROM plan('large_loss', ARRAY['large_a', 'large_b']);

-- the losses, and the gradients in the tables square_a_grad, square_b_grad, …
SELECT round((backward('square_loss', ARRAY['square_a', 'square_b']) / (:n * :n))::numeric, 3) AS square;
SELECT round((backward('common_loss', ARRAY['common_a', 'common_b']) / (:n * :n))::numeric, 3) AS common;
SELECT round((backward('large_loss', ARRAY['large_a', 'large_b']) / (:n * :n))::numeric, 3) AS large;
-- the gradients of the sum of squares of C = A B are 2 C Bᵀ and 2 Aᵀ C
SELECT count(*) = 6 * :p * :p AND max(norm(v - closed) / norm(closed)) < 1e-5 AS "gradients agree" FROM (
SELECT g.v, 2 * c.v AS closed
FROM square_a_grad g JOIN (SELECT i, j, sum(matmul(c.v, transpose(b.v))) AS v FROM square c JOIN square_b b USING (k) GROUP BY i, j) c USING (i, j)
UNION ALL
SELECT g.v, 2 * c.v
FROM square_b_grad g JOIN (SELECT j, k, sum(matmul(transpose(a.v), c.v)) AS v FROM square c JOIN square_a a USING (i) GROUP BY j, k) c USING (j, k)
UNION ALL
SELECT g.v, 2 * c.v AS closed
FROM common_a_grad g JOIN (SELECT i, j, sum(matmul(c.v, transpose(b.v))) AS v FROM common c JOIN common_b b USING (k) GROUP BY i, j) c USING (i, j)
UNION ALL
SELECT g.v, 2 * c.v
FROM common_b_grad g JOIN (SELECT j, k, sum(matmul(transpose(a.v), c.v)) AS v FROM common c JOIN common_a a USING (i) GROUP BY j, k) c USING (j, k)
UNION ALL
SELECT g.v, 2 * c.v AS closed
FROM large_a_grad g JOIN (SELECT i, j, sum(matmul(c.v, transpose(b.v))) AS v FROM large c JOIN large_b b USING (k) GROUP BY i, j) c USING (i, j)
UNION ALL
SELECT g.v, 2 * c.v
FROM large_b_grad g JOIN (SELECT j, k, sum(matmul(transpose(a.v), c.v)) AS v FROM large c JOIN large_a a USING (i) GROUP BY j, k) c USING (j, k)
) x;
