-- A transformer block: letters attend to each other by content and place, then a network; residuals and layer norms around both.
-- Elsewhere: torch.nn.TransformerEncoderLayer. A language model: examples/attention.
-- Figure: the share of test sequences for which the letter behind the single a is named; by chance 0.33.
SET search_path = public, relgrad;
CREATE TABLE place (seq int, p int, letter int, PRIMARY KEY (seq, p));
INSERT INTO place -- one a (0) at a place from 0 to 4 of 6, all others b, c or d
SELECT seq, p, CASE WHEN p = random_int(5, 1, ARRAY[seq]) THEN 0 ELSE 1 + random_int(3, 2, ARRAY[seq, p]) END
FROM generate_series(0, 299) AS g(seq) CROSS JOIN generate_series(0, 5) AS h(p);
CREATE TABLE answer (seq int PRIMARY KEY, letter int);
INSERT INTO answer SELECT a.seq, b.letter FROM place a JOIN place b ON b.seq = a.seq AND b.p = a.p + 1 WHERE a.letter = 0;

CREATE TABLE letter (letter int PRIMARY KEY, e real[]);
CREATE TABLE slot (p int PRIMARY KEY, e real[]);
CREATE TABLE block (id int PRIMARY KEY, wq real[][], wk real[][], wv real[][], w1 real[][], w2 real[][], out real[][]);
INSERT INTO letter SELECT i, random_normal(ARRAY[16], 3, ARRAY[i]) / 2 FROM generate_series(0, 3) AS g(i);
INSERT INTO slot SELECT i, random_normal(ARRAY[16], 4, ARRAY[i]) / 2 FROM generate_series(0, 5) AS g(i);
INSERT INTO block SELECT 1, glorot_uniform(ARRAY[16, 16], 5, ARRAY[1], 16, 16), glorot_uniform(ARRAY[16, 16], 5, ARRAY[2], 16, 16),
  glorot_uniform(ARRAY[16, 16], 5, ARRAY[3], 16, 16), glorot_uniform(ARRAY[16, 32], 5, ARRAY[4], 16, 32),
  glorot_uniform(ARRAY[32, 16], 5, ARRAY[5], 32, 16), glorot_uniform(ARRAY[16, 4], 5, ARRAY[6], 16, 4);

CREATE VIEW embedded AS SELECT s.seq, s.p, layer_norm(l.e + o.e + lag.e) AS x -- a letter, its place, and the letter before it
FROM place s JOIN letter l USING (letter) JOIN slot o USING (p) JOIN place b ON b.seq = s.seq AND b.p = (s.p + 5) % 6
JOIN letter lag ON lag.letter = b.letter;
CREATE VIEW qkv AS SELECT seq, p, x, matmul(x, wq) AS q, matmul(x, wk) AS k, matmul(x, wv) AS v FROM embedded CROSS JOIN block;
CREATE VIEW attended AS SELECT q.seq, q.p, layer_norm(q.x + a.v) AS x
FROM qkv q JOIN (SELECT q.seq, q.p, sum(exp(dot(q.q, k.k) / 4) * k.v) / sum(exp(dot(q.q, k.k) / 4)) AS v
                 FROM qkv q JOIN qkv k USING (seq) GROUP BY q.seq, q.p) a USING (seq, p);
CREATE VIEW score AS SELECT seq, matmul(avg(layer_norm(x + matmul(relu(matmul(x, w1)), w2))), max_agg(out)) AS z
FROM attended CROSS JOIN block GROUP BY seq;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, letter)) AS loss FROM score JOIN answer USING (seq) WHERE seq < 200;

CALL train('loss', ARRAY['letter', 'slot', 'block'], lr => 0.01, epochs => 80);
SELECT round(avg((argmax(z) = letter)::int), 2) AS accuracy FROM score JOIN answer USING (seq) WHERE seq >= 200;
