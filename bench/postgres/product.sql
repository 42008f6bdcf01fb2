-- A matrix of 8 × 8 blocks times another, in the middle of a loss.
CREATE TABLE a (i int, k int, v real[], PRIMARY KEY (i, k));
CREATE TABLE b (k int, j int, v real[], PRIMARY KEY (k, j));
CREATE TABLE y (i int, j int, v real[], PRIMARY KEY (i, j));
INSERT INTO a SELECT i, k, glorot_uniform(ARRAY[128, 128], 1, ARRAY[0, i, k], 128, 128) FROM generate_series(0, 7) AS i, generate_series(0, 7) AS k;
INSERT INTO b SELECT k, j, glorot_uniform(ARRAY[128, 128], 1, ARRAY[1, k, j], 128, 128) FROM generate_series(0, 7) AS k, generate_series(0, 7) AS j;
INSERT INTO y SELECT i, j, glorot_uniform(ARRAY[128, 128], 1, ARRAY[2, i, j], 128, 128) FROM generate_series(0, 7) AS i, generate_series(0, 7) AS j;
CREATE VIEW product AS
SELECT a.i, b.j, sum(matmul(a.v, b.v)) AS v FROM a JOIN b USING (k) GROUP BY a.i, b.j;
CREATE VIEW product_loss AS
SELECT sum(sqnorm(p.v - y.v)) AS loss FROM product p JOIN y USING (i, j);
VACUUM ANALYZE a, b, y;
