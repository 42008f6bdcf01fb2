-- An LSTM over words of three to six letters: gates decide what the cell c keeps, takes in and shows, step after step.
-- Elsewhere: torch.nn.LSTM.
-- Figure: the share of test words whose first letter is named after the last; by chance 0.25.
SET search_path = public, relgrad;
CREATE TABLE place (seq int, p int, letter int, PRIMARY KEY (seq, p));
INSERT INTO place SELECT seq, p, random_int(4, 1, ARRAY[seq, p]) FROM generate_series(0, 299) AS g(seq) CROSS JOIN generate_series(1, 6) AS h(p)
WHERE p <= 3 + seq % 4;
CREATE VIEW word AS SELECT seq, max(p) AS p FROM place GROUP BY seq;

-- what a letter adds to the four gates; the step's h is o * tanh(c)
CREATE TABLE letter (letter int PRIMARY KEY, i real[], f real[], g real[], o real[]);
CREATE TABLE cell (id int PRIMARY KEY, ui real[][], uf real[][], ug real[][], uo real[][], w real[][]);
INSERT INTO letter SELECT k, z[1:8], z[9:16], z[17:24], z[25:32] FROM (SELECT k, random_normal(ARRAY[32], 2, ARRAY[k]) / 2 AS z FROM generate_series(0, 3) AS g(k)) q;
INSERT INTO cell SELECT 1, z[1:8], z[9:16], z[17:24], z[25:32], random_normal(ARRAY[8, 4], 3, ARRAY[2]) / 3 FROM (SELECT random_normal(ARRAY[32, 8], 3, ARRAY[1]) / 3 AS z) q;

CREATE VIEW state AS
WITH RECURSIVE s(seq, p, c, o) AS (
  SELECT seq, 0, zeros(ARRAY[8]), zeros(ARRAY[8]) FROM word
  UNION ALL
  SELECT x.seq, x.p, sigmoid(matmul(s.o * tanh(s.c), uf) + f) * s.c + sigmoid(matmul(s.o * tanh(s.c), ui) + i) * tanh(matmul(s.o * tanh(s.c), ug) + g),
         sigmoid(matmul(s.o * tanh(s.c), uo) + l.o)
  FROM s JOIN place x ON x.seq = s.seq AND x.p = s.p + 1 JOIN letter l USING (letter) CROSS JOIN cell
)
SELECT seq, p, o * tanh(c) AS h FROM s;
CREATE VIEW score AS SELECT seq, matmul(h, w) AS logits FROM word JOIN state USING (seq, p) CROSS JOIN cell;
CREATE VIEW loss AS SELECT avg(cross_entropy(logits, letter)) AS loss FROM score JOIN place USING (seq) WHERE p = 1 AND seq < 200;

CALL train('loss', ARRAY['letter', 'cell'], lr => 0.03, epochs => 100);
SELECT round(avg((argmax(logits) = letter)::int), 2) AS accuracy FROM score JOIN place USING (seq) WHERE p = 1 AND seq >= 200;
