-- An LSTM: a recursive query, one step of all sequences after the other. A step's h is o * tanh(c).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS cell CASCADE;
CREATE TABLE cell (id int PRIMARY KEY DEFAULT 1, wi real[][], wf real[][], wg real[][], wo real[][], ui real[][], uf real[][],
                   ug real[][], uo real[][], bi real[], bf real[], bg real[], bo real[]);
\copy cell (wi, wf, wg, wo, ui, uf, ug, uo, bi, bf, bg, bo) FROM 'cell.npz' WITH (FORMAT npz, WHOLE)

CREATE VIEW state AS
WITH RECURSIVE s(seq, t, c, o) AS (
  SELECT seq, 0, 0 * y, 0 * y FROM goal
  UNION ALL
  SELECT x.seq, x.t,
         sigmoid(matmul(x.x, wf) + bf + matmul(s.o * tanh(s.c), uf)) * s.c +
         sigmoid(matmul(x.x, wi) + bi + matmul(s.o * tanh(s.c), ui)) * tanh(matmul(x.x, wg) + bg + matmul(s.o * tanh(s.c), ug)),
         sigmoid(matmul(x.x, wo) + bo + matmul(s.o * tanh(s.c), uo))
  FROM s JOIN token x ON x.seq = s.seq AND x.t = s.t + 1 CROSS JOIN cell
)
SELECT seq, t, o * tanh(c) AS h FROM s;
CREATE VIEW loss AS SELECT avg(sqnorm(h - y)) AS loss FROM state JOIN goal USING (seq) WHERE t = :length;

CALL train('loss', ARRAY['cell'], optimizer => 'sgd', lr => 0.01, epochs => :epochs, max_seconds => :seconds);
