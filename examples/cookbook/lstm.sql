-- An LSTM, its four steps written one below the other: gates decide what the cell c keeps, takes in and shows.
-- Elsewhere: torch.nn.LSTM.
-- Figure: the share of test sequences whose first letter is named after the last; by chance 0.25.
SET search_path = public, relgrad;
CREATE TABLE place (seq int, p int, letter int, PRIMARY KEY (seq, p));
INSERT INTO place SELECT seq, p, random_int(4, 1, ARRAY[seq, p]) FROM generate_series(0, 299) AS g(seq) CROSS JOIN generate_series(1, 4) AS h(p);

CREATE TABLE letter (letter int PRIMARY KEY, e real[]); -- what a letter adds to the four gates of eight numbers each
CREATE TABLE cell (id int PRIMARY KEY, wh real[][], b real[], w real[][]);
INSERT INTO letter SELECT i, random_normal(ARRAY[32], 2, ARRAY[i]) / 2 FROM generate_series(0, 3) AS g(i);
INSERT INTO cell VALUES (1, random_normal(ARRAY[8, 32], 3, ARRAY[1]) / 3, zeros(ARRAY[32]), random_normal(ARRAY[8, 4], 3, ARRAY[2]) / 3);

CREATE VIEW s0 AS SELECT DISTINCT seq, zeros(ARRAY[8]) AS c, zeros(ARRAY[8]) AS h FROM place;
CREATE VIEW z1 AS SELECT s.seq, c, matmul(h, wh) + e + b AS z FROM s0 s JOIN place p ON p.seq = s.seq AND p.p = 1 JOIN letter USING (letter) CROSS JOIN cell;
CREATE VIEW c1 AS SELECT seq, z, sigmoid(z[1:8]) * c + sigmoid(z[9:16]) * tanh(z[17:24]) AS c FROM z1;
CREATE VIEW s1 AS SELECT seq, c, sigmoid(z[25:32]) * tanh(c) AS h FROM c1;
CREATE VIEW z2 AS SELECT s.seq, c, matmul(h, wh) + e + b AS z FROM s1 s JOIN place p ON p.seq = s.seq AND p.p = 2 JOIN letter USING (letter) CROSS JOIN cell;
CREATE VIEW c2 AS SELECT seq, z, sigmoid(z[1:8]) * c + sigmoid(z[9:16]) * tanh(z[17:24]) AS c FROM z2;
CREATE VIEW s2 AS SELECT seq, c, sigmoid(z[25:32]) * tanh(c) AS h FROM c2;
CREATE VIEW z3 AS SELECT s.seq, c, matmul(h, wh) + e + b AS z FROM s2 s JOIN place p ON p.seq = s.seq AND p.p = 3 JOIN letter USING (letter) CROSS JOIN cell;
CREATE VIEW c3 AS SELECT seq, z, sigmoid(z[1:8]) * c + sigmoid(z[9:16]) * tanh(z[17:24]) AS c FROM z3;
CREATE VIEW s3 AS SELECT seq, c, sigmoid(z[25:32]) * tanh(c) AS h FROM c3;
CREATE VIEW z4 AS SELECT s.seq, c, matmul(h, wh) + e + b AS z FROM s3 s JOIN place p ON p.seq = s.seq AND p.p = 4 JOIN letter USING (letter) CROSS JOIN cell;
CREATE VIEW c4 AS SELECT seq, z, sigmoid(z[1:8]) * c + sigmoid(z[9:16]) * tanh(z[17:24]) AS c FROM z4;
CREATE VIEW score AS SELECT seq, matmul(sigmoid(z[25:32]) * tanh(c), w) AS logits FROM c4 CROSS JOIN cell;
CREATE VIEW loss AS SELECT avg(cross_entropy(logits, letter)) AS loss FROM score JOIN place USING (seq) WHERE p = 1 AND seq < 200;

CALL train('loss', ARRAY['letter', 'cell'], lr => 0.03, epochs => 100);
SELECT round(avg((argmax(logits) = letter)::int), 2) AS accuracy FROM score JOIN place USING (seq) WHERE p = 1 AND seq >= 200;
