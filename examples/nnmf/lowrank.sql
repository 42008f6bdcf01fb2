-- relgrad run [-v seed=N] lowrank.sql: non-negative factors of a matrix that has them.
-- A (32 x 24) = W (32 x 3) . H (3 x 24), all in chunks of 8 rows and columns; the chunks' positions are the keys.
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
CREATE TABLE a (i int, j int, v real[][], PRIMARY KEY (i, j));
CREATE TABLE w (i int PRIMARY KEY, v real[][]);
CREATE TABLE h (j int PRIMARY KEY, v real[][]);
INSERT INTO a
SELECT i, j, matmul(random_uniform(ARRAY[8, 3], :seed, ARRAY[10, i]), random_uniform(ARRAY[3, 8], :seed, ARRAY[11, j]))
FROM generate_series(0, 3) AS gi(i), generate_series(0, 2) AS gj(j);
INSERT INTO w SELECT i, random_uniform(ARRAY[8, 3], :seed, ARRAY[1, i]) FROM generate_series(0, 3) AS g(i);
INSERT INTO h SELECT j, random_uniform(ARRAY[3, 8], :seed, ARRAY[2, j]) FROM generate_series(0, 2) AS g(j);

CREATE VIEW loss AS
SELECT sum(sqnorm(a.v - matmul(w.v, h.v))) AS loss FROM a JOIN w USING (i) JOIN h USING (j);

CALL train('loss', ARRAY['w', 'h'], lr => 0.03, epochs => 1000, seed => :seed, nonnegative => ARRAY['w', 'h']);

SELECT (SELECT min(x) FROM w, unnest(w.v) AS x) >= 0 AND (SELECT min(x) FROM h, unnest(h.v) AS x) >= 0 AS nonnegative;
SELECT sqrt(loss / (SELECT sum(sqnorm(v)) FROM a)) AS "relative error" FROM loss;
