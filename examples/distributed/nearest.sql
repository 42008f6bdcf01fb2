-- relgrad run [-v n=N] [-v p=P] nearest.sql: the point that is nearest to q, where (x - q)ᵀ A (x - q) is the distance (TRA, Yuan et
-- al., VLDB 2021, section 6.2): among many points of few features, 50 N x N, and among few of many, N/2 x 10 N. The points are
-- cut into P x P blocks. The loss is the distance of the nearest one, its gradient with respect to A says how to bring it closer.
SET search_path = public, relgrad;
\if :{?n}
\else
\set n 40
\endif
\if :{?p}
\else
\set p 4
\endif
CREATE TABLE large_x (i int, d int, v real[][], PRIMARY KEY (i, d));
CREATE TABLE large_q (d int PRIMARY KEY, v real[]);
CREATE TABLE large_l (d int, e int, v real[][], PRIMARY KEY (d, e));
CREATE TABLE large_a (d int, e int, v real[][], PRIMARY KEY (d, e));
CREATE TABLE wide_x (LIKE large_x INCLUDING ALL);
CREATE TABLE wide_q (LIKE large_q INCLUDING ALL);
CREATE TABLE wide_l (LIKE large_l INCLUDING ALL);
CREATE TABLE wide_a (LIKE large_a INCLUDING ALL);
CREATE TABLE block AS SELECT x, y FROM generate_series(0, :p - 1) AS r(x), generate_series(0, :p - 1) AS s(y);
INSERT INTO large_x SELECT x, y, random_normal(ARRAY[:n * 50 / :p, :n / :p], 1, ARRAY[1, x, y]) FROM block;
INSERT INTO large_q SELECT x, random_normal(ARRAY[:n / :p], 1, ARRAY[2, x]) FROM block WHERE y = 0;
INSERT INTO large_l SELECT x, y, random_normal(ARRAY[:n / :p, :n / :p], 1, ARRAY[3, x, y]) FROM block;
INSERT INTO wide_x SELECT x, y, random_normal(ARRAY[:n / 2 / :p, :n * 10 / :p], 1, ARRAY[4, x, y]) FROM block;
INSERT INTO wide_q SELECT x, random_normal(ARRAY[:n * 10 / :p], 1, ARRAY[5, x]) FROM block WHERE y = 0;
INSERT INTO wide_l SELECT x, y, random_normal(ARRAY[:n * 10 / :p, :n * 10 / :p], 1, ARRAY[6, x, y]) FROM block;
-- A = L Lᵀ has no negative distance
INSERT INTO large_a SELECT a.d, b.d, sum(matmul(a.v, transpose(b.v))) / :n FROM large_l a JOIN large_l b USING (e) GROUP BY a.d, b.d;
INSERT INTO wide_a SELECT a.d, b.d, sum(matmul(a.v, transpose(b.v))) / (:n * 10) FROM wide_l a JOIN wide_l b USING (e) GROUP BY a.d, b.d;

CREATE VIEW large_diff AS SELECT i, d, x.v - q.v AS v FROM large_x x JOIN large_q q USING (d);
CREATE VIEW large_proj AS SELECT i, e, sum(matmul(x.v, a.v)) AS v FROM large_diff x JOIN large_a a USING (d) GROUP BY i, e;
CREATE VIEW large_dist AS SELECT i, sum(sum_elements(p.v * x.v, 2)) AS v FROM large_proj p JOIN large_diff x USING (i) WHERE x.d = p.e GROUP BY i;
CREATE VIEW large_loss AS SELECT min(-max_elements(-v)) AS loss FROM large_dist;
CREATE VIEW wide_diff AS SELECT i, d, x.v - q.v AS v FROM wide_x x JOIN wide_q q USING (d);
CREATE VIEW wide_proj AS SELECT i, e, sum(matmul(x.v, a.v)) AS v FROM wide_diff x JOIN wide_a a USING (d) GROUP BY i, e;
CREATE VIEW wide_dist AS SELECT i, sum(sum_elements(p.v * x.v, 2)) AS v FROM wide_proj p JOIN wide_diff x USING (i) WHERE x.d = p.e GROUP BY i;
CREATE VIEW wide_loss AS SELECT min(-max_elements(-v)) AS loss FROM wide_dist;

-- the choice at 4 sites
\ir plan_model.sql
SELECT * FROM plan('large_loss', ARRAY['large_a']);
SELECT * FROM plan('wide_loss', ARRAY['wide_a']);

-- the distances, and the gradients in large_a_grad and wide_a_grad
SELECT round(backward('large_loss', ARRAY['large_a'])::numeric, 3) AS large, round(backward('wide_loss', ARRAY['wide_a'])::numeric, 2) AS wide;
-- the nearest points: block, row, distance
CREATE TABLE large_nearest AS
SELECT i, argmin(reshape(v, ARRAY[:n * 50 / :p])) AS r, -max_elements(-v) AS distance FROM large_dist ORDER BY distance LIMIT 1;
CREATE TABLE wide_nearest AS
SELECT i, argmin(reshape(v, ARRAY[:n / 2 / :p])) AS r, -max_elements(-v) AS distance FROM wide_dist ORDER BY distance LIMIT 1;
SELECT l.i * (:n * 50 / :p) + l.r AS "nearest of large", w.i * (:n / 2 / :p) + w.r AS "nearest of wide" FROM large_nearest l, wide_nearest w;
-- the gradient is (x - q) (x - q)ᵀ of that point
CREATE TABLE large_closed AS SELECT d, v[r + 1:r + 1][1:] AS v FROM large_diff JOIN large_nearest USING (i);
CREATE TABLE wide_closed AS SELECT d, v[r + 1:r + 1][1:] AS v FROM wide_diff JOIN wide_nearest USING (i);
SELECT count(*) = 2 * :p * :p AND max(norm(v - closed) / norm(closed)) < 1e-5 AS "gradients agree" FROM (
SELECT g.v, matmul(transpose(x.v), y.v) AS closed FROM large_a_grad g JOIN large_closed x USING (d) JOIN large_closed y ON y.d = g.e
UNION ALL
SELECT g.v, matmul(transpose(x.v), y.v) FROM wide_a_grad g JOIN wide_closed x USING (d) JOIN wide_closed y ON y.d = g.e) x;
