-- A temporal convolution: each layer looks back at the steps 0, 1 and 2 times its dilation, by a join on the time.
-- Elsewhere: TCN (Bai and others), WaveNet; torch.nn.Conv1d(dilation=…).
-- Figure: mean square error of the next value on the last 100 steps, beside that of saying the value of today.
SET search_path = public, relgrad;
CREATE TABLE series (t int PRIMARY KEY, x real);
INSERT INTO series SELECT t, sin(0.3 * t) * cos(0.05 * t) + 0.5 * sin(1.1 * t) FROM generate_series(0, 499) AS g(t);

CREATE TABLE tap1 (k int PRIMARY KEY, w real[]);
CREATE TABLE tap2 (k int PRIMARY KEY, w real[][]);
CREATE TABLE head (id int PRIMARY KEY, b1 real[], b2 real[], w real[], b real);
INSERT INTO tap1 SELECT k, random_normal(ARRAY[8], 1, ARRAY[k]) / 2 FROM generate_series(0, 2) AS g(k);
INSERT INTO tap2 SELECT k, random_normal(ARRAY[8, 8], 2, ARRAY[k]) / 5 FROM generate_series(0, 2) AS g(k);
INSERT INTO head VALUES (1, zeros(ARRAY[8]), zeros(ARRAY[8]), random_normal(ARRAY[8], 3, ARRAY[1]) / 3, 0);

CREATE VIEW layer1 AS SELECT s.t, tanh(v + b1) AS h
FROM (SELECT s.t + k AS t, sum(x * w) AS v FROM series s CROSS JOIN tap1 GROUP BY s.t + k) s CROSS JOIN head;
CREATE VIEW layer2 AS SELECT s.t, tanh(v + b2) AS h
FROM (SELECT s.t + 3 * k AS t, sum(matmul(h, w)) AS v FROM layer1 s CROSS JOIN tap2 GROUP BY s.t + 3 * k) s CROSS JOIN head;
CREATE VIEW forecast AS SELECT n.t, n.x, dot(h, w) + b AS y FROM layer2 l JOIN series n ON n.t = l.t + 1 CROSS JOIN head WHERE l.t >= 8;
CREATE VIEW loss AS SELECT avg((x - y) ^ 2) AS loss FROM forecast WHERE t < 400;

CALL train('loss', ARRAY['tap1', 'tap2', 'head'], lr => 0.02, schedule => 'cosine', epochs => 300);
SELECT round(avg((f.x - y) ^ 2)::numeric, 4) AS convolution, round(avg((f.x - s.x) ^ 2)::numeric, 4) AS today
FROM forecast f JOIN series s ON s.t = f.t - 1 WHERE f.t >= 400;
