-- Multi-head attention (Vaswani et al., NIPS 2017).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS head CASCADE;
CREATE TABLE head (head int PRIMARY KEY, wq real[][], wk real[][], wv real[][], wo real[][]);
\copy head FROM 'head.npz' WITH (FORMAT npz)

CREATE VIEW projected AS
SELECT head, matmul(x, wq) AS q, matmul(x, wk) AS k, matmul(x, wv) AS v, wo FROM sequence CROSS JOIN head;
CREATE VIEW attended AS
SELECT head, matmul(softmax(matmul(q, transpose(k)) / sqrt(:width / :heads)), v) AS o, wo FROM projected;
CREATE VIEW output AS SELECT sum(matmul(o, wo)) AS v FROM attended;
CREATE VIEW loss AS SELECT mse(o.v, s.y) AS loss FROM output o CROSS JOIN sequence s;

CALL train('loss', ARRAY['head'], optimizer => 'sgd', lr => 0.1, epochs => :epochs, max_seconds => :seconds);
