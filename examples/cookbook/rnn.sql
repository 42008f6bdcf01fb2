-- A recurrent network (Elman), its five steps written one below the other.
-- Elsewhere: torch.nn.RNN.
-- Figure: mean square error of the next value of test series of unknown frequency, beside that of saying the last value.
SET search_path = public, relgrad;
CREATE TABLE value (seq int, t int, x real, PRIMARY KEY (seq, t));
INSERT INTO value SELECT seq, t, sin(6 * u[1] + (0.5 + u[2]) * t)
FROM (SELECT seq, random_uniform(ARRAY[2], 1, ARRAY[seq]) AS u FROM generate_series(0, 399) AS g(seq)) s CROSS JOIN generate_series(1, 6) AS h(t);

CREATE TABLE cell (id int PRIMARY KEY, wx real[], wh real[][], b real[], w real[], c real);
INSERT INTO cell VALUES (1, random_normal(ARRAY[16], 2, ARRAY[1]), random_normal(ARRAY[16, 16], 2, ARRAY[2]) / 4, zeros(ARRAY[16]),
                         random_normal(ARRAY[16], 2, ARRAY[3]) / 4, 0);

CREATE VIEW h1 AS SELECT seq, tanh(x * wx + b) AS h FROM value CROSS JOIN cell WHERE t = 1;
CREATE VIEW h2 AS SELECT v.seq, tanh(x * wx + matmul(h, wh) + b) AS h FROM h1 JOIN value v USING (seq) CROSS JOIN cell WHERE t = 2;
CREATE VIEW h3 AS SELECT v.seq, tanh(x * wx + matmul(h, wh) + b) AS h FROM h2 JOIN value v USING (seq) CROSS JOIN cell WHERE t = 3;
CREATE VIEW h4 AS SELECT v.seq, tanh(x * wx + matmul(h, wh) + b) AS h FROM h3 JOIN value v USING (seq) CROSS JOIN cell WHERE t = 4;
CREATE VIEW h5 AS SELECT v.seq, tanh(x * wx + matmul(h, wh) + b) AS h FROM h4 JOIN value v USING (seq) CROSS JOIN cell WHERE t = 5;
CREATE VIEW forecast AS SELECT v.seq, x, dot(h, w) + c AS y FROM h5 JOIN value v USING (seq) CROSS JOIN cell WHERE t = 6;
CREATE VIEW loss AS SELECT avg((x - y) ^ 2) AS loss FROM forecast WHERE seq < 300;

CALL train('loss', ARRAY['cell'], lr => 0.01, schedule => 'cosine', epochs => 300);
SELECT round(avg((f.x - y) ^ 2)::numeric, 3) AS rnn, round(avg((f.x - v.x) ^ 2)::numeric, 3) AS "last value"
FROM forecast f JOIN value v ON v.seq = f.seq AND v.t = 5 WHERE f.seq >= 300;
