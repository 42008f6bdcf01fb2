-- A recurrent network (Elman) over series of three to six values: a recursive query, differentiated through its steps.
-- Elsewhere: torch.nn.RNN.
-- Figure: mean square error of the next value of test series of unknown frequency, beside that of saying the last value.
SET search_path = public, relgrad;
CREATE TABLE value (seq int, t int, x real, PRIMARY KEY (seq, t)); -- the last value of a series is to be forecast
INSERT INTO value SELECT seq, t, sin(6 * u[1] + (0.5 + u[2]) * t)
FROM (SELECT seq, random_uniform(ARRAY[2], 1, ARRAY[seq]) AS u FROM generate_series(0, 399) AS g(seq)) s CROSS JOIN generate_series(1, 7) AS h(t)
WHERE t <= 4 + seq % 4;
CREATE VIEW ends AS SELECT seq, max(t) AS t FROM value GROUP BY seq;

CREATE TABLE cell (id int PRIMARY KEY, wx real[], wh real[][], b real[], w real[], c real);
INSERT INTO cell VALUES (1, random_normal(ARRAY[16], 2, ARRAY[1]), random_normal(ARRAY[16, 16], 2, ARRAY[2]) / 4, zeros(ARRAY[16]),
                         random_normal(ARRAY[16], 2, ARRAY[3]) / 4, 0);

CREATE VIEW state AS
WITH RECURSIVE s(seq, t, h) AS (
  SELECT seq, 0, zeros(ARRAY[16]) FROM ends
  UNION ALL
  SELECT v.seq, v.t, tanh(x * wx + matmul(h, wh) + b) FROM s JOIN value v ON v.seq = s.seq AND v.t = s.t + 1 CROSS JOIN cell
)
SELECT seq, t, h FROM s;
CREATE VIEW forecast AS SELECT v.seq, v.x, dot(h, w) + c AS y
FROM ends e JOIN value v USING (seq, t) JOIN state s ON s.seq = e.seq AND s.t = e.t - 1 CROSS JOIN cell;
CREATE VIEW loss AS SELECT avg((x - y) ^ 2) AS loss FROM forecast WHERE seq < 300;

CALL train('loss', ARRAY['cell'], lr => 0.01, schedule => 'cosine', epochs => 300);
SELECT round(avg((f.x - y) ^ 2)::numeric, 3) AS rnn, round(avg((f.x - v.x) ^ 2)::numeric, 3) AS "last value"
FROM forecast f JOIN ends e ON e.seq = f.seq JOIN value v ON v.seq = e.seq AND v.t = e.t - 1 WHERE f.seq >= 300;
