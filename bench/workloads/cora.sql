-- A graph convolutional network on Cora (Kipf and Welling, ICLR 2017), with its dropout on sparse features.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS w0, w1 CASCADE;
CREATE TABLE w0 (feature int PRIMARY KEY, v real[]);
CREATE TABLE w1 (id int PRIMARY KEY DEFAULT 1, v real[][]);
\copy w0 FROM 'w0.npz' WITH (FORMAT npz)
\copy w1 (v) FROM 'w1.npz' WITH (FORMAT npz, WHOLE)

CREATE VIEW xw AS SELECT f.node, sum(dropout(f.value, :dropout) * w0.v) AS v FROM feature f JOIN w0 USING (feature) GROUP BY f.node;
CREATE VIEW hidden AS SELECT a.dst AS node, relu(sum(a.weight * xw.v)) AS h FROM adj a JOIN xw ON xw.node = a.src GROUP BY a.dst;
CREATE VIEW logits AS
SELECT a.dst AS node, sum(a.weight * matmul(dropout(hidden.h, :dropout), w1.v)) AS z
FROM adj a JOIN hidden ON hidden.node = a.src CROSS JOIN w1 GROUP BY a.dst;
CREATE VIEW loss AS
SELECT avg(cross_entropy(z, label)) + 5e-4 * 0.5 * (SELECT sum(sqnorm(v)) FROM w0) AS loss
FROM logits JOIN node USING (node) WHERE split = 'train';

CALL train('loss', ARRAY['w0', 'w1'], optimizer => 'adam', lr => 0.01, epochs => :epochs, max_seconds => :seconds, seed => 1);
