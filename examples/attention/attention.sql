-- relgrad run [-v seed=N] attention.sql: self-attention with two heads over a sequence that is stored in blocks.
-- A chunk of x holds 4 of the 8 positions and 6 of the 12 attributes; the matrices are cut alike (EinDecomp, section 3).
SET search_path = public, relgrad;
\if :{?seed}
\else
\set seed 1
\endif
CREATE TABLE x  (s int, a int, v real[][], PRIMARY KEY (s, a));          -- [s, a]
CREATE TABLE wq (a int, h int, v real[][], PRIMARY KEY (a, h));          -- [a, d]
CREATE TABLE wk (LIKE wq INCLUDING ALL);
CREATE TABLE wv (LIKE wq INCLUDING ALL);
CREATE TABLE wo (h int, a int, v real[][], PRIMARY KEY (h, a));          -- [d, a]
INSERT INTO x  SELECT s, a, random_normal(ARRAY[4, 6], :seed, ARRAY[1, s, a]) FROM generate_series(0, 1) s, generate_series(0, 1) a;
INSERT INTO wq SELECT a, h, random_normal(ARRAY[6, 3], :seed, ARRAY[2, a, h]) / 2 FROM generate_series(0, 1) a, generate_series(0, 1) h;
INSERT INTO wk SELECT a, h, random_normal(ARRAY[6, 3], :seed, ARRAY[3, a, h]) / 2 FROM generate_series(0, 1) a, generate_series(0, 1) h;
INSERT INTO wv SELECT a, h, random_normal(ARRAY[6, 3], :seed, ARRAY[4, a, h]) / 2 FROM generate_series(0, 1) a, generate_series(0, 1) h;
INSERT INTO wo SELECT h, a, random_normal(ARRAY[3, 6], :seed, ARRAY[5, h, a]) / 2 FROM generate_series(0, 1) a, generate_series(0, 1) h;

-- queries, keys and values: a chunk for each block and head, summed over the blocks of attributes
CREATE VIEW q   AS SELECT s, h, sum(matmul(x.v, w.v)) AS v FROM x JOIN wq w USING (a) GROUP BY s, h;
CREATE VIEW k   AS SELECT s, h, sum(matmul(x.v, w.v)) AS v FROM x JOIN wk w USING (a) GROUP BY s, h;
CREATE VIEW val AS SELECT s, h, sum(matmul(x.v, w.v)) AS v FROM x JOIN wv w USING (a) GROUP BY s, h;
-- scores: a chunk for each pair of blocks
CREATE VIEW score AS
SELECT h, q.s, k.s AS s2, matmul(q.v, transpose(k.v)) / sqrt(3) AS t FROM q JOIN k USING (h);
-- a softmax along s2, which runs over the chunks of a row and inside each chunk
CREATE VIEW attention AS
SELECT h, s, s2, e / sum(sum_elements(e, 2)) OVER (PARTITION BY h, s) AS p
FROM (SELECT h, s, s2, exp(t - max_agg(max_elements(t, 2)) OVER (PARTITION BY h, s)) AS e FROM score) x;
CREATE VIEW head AS
SELECT h, p.s, sum(matmul(p.p, val.v)) AS v FROM attention p JOIN val USING (h) WHERE val.s = p.s2 GROUP BY h, p.s;
CREATE VIEW output AS SELECT s, wo.a, sum(matmul(head.v, wo.v)) AS v FROM head JOIN wo USING (h) GROUP BY s, wo.a;

-- what these weights give is what others shall learn to give
CREATE TABLE y AS SELECT * FROM output;
ALTER TABLE y ADD PRIMARY KEY (s, a);
UPDATE wq SET v = random_normal(ARRAY[6, 3], :seed, ARRAY[6, a, h]) / 2;
UPDATE wk SET v = random_normal(ARRAY[6, 3], :seed, ARRAY[7, a, h]) / 2;
UPDATE wv SET v = random_normal(ARRAY[6, 3], :seed, ARRAY[8, a, h]) / 2;
UPDATE wo SET v = random_normal(ARRAY[3, 6], :seed, ARRAY[9, h, a]) / 2;
CREATE VIEW loss AS SELECT sum(sqnorm(output.v - y.v)) AS loss FROM output JOIN y USING (s, a);

SELECT sqrt(loss / (SELECT sum(sqnorm(v)) FROM y)) AS "relative error before" FROM loss;
CALL train('loss', ARRAY['wq', 'wk', 'wv', 'wo'], lr => 0.03, schedule => 'cosine', epochs => 500, seed => :seed);
-- each row of the attention is a distribution over all positions
SELECT max(max_elements(abs(total - 1))) < 1e-6 AS "sums to 1" FROM (SELECT h, s, sum(sum_elements(p, 2)) AS total FROM attention GROUP BY h, s) t;
SELECT sqrt(loss / (SELECT sum(sqnorm(v)) FROM y)) AS "relative error" FROM loss;
