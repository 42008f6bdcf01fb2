-- A network of two layers on mini-batches.
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS layer1, layer2 CASCADE;
CREATE TABLE layer1 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
CREATE TABLE layer2 (id int PRIMARY KEY DEFAULT 1, w real[][], b real[]);
\copy layer1 (w, b) FROM 'layer1.npz' WITH (FORMAT npz, WHOLE)
\copy layer2 (w, b) FROM 'layer2.npz' WITH (FORMAT npz, WHOLE)

CREATE VIEW hidden AS SELECT id, label, relu(matmul(i.x, l.w) + l.b) AS h FROM image i CROSS JOIN (SELECT w, b FROM layer1) l;
CREATE VIEW logits AS SELECT label, matmul(h.h, l.w) + l.b AS z FROM hidden h CROSS JOIN (SELECT w, b FROM layer2) l;
CREATE VIEW loss AS SELECT avg(cross_entropy(z, label)) AS loss FROM logits;

CALL train('loss', ARRAY['layer1', 'layer2'], optimizer => 'sgd', lr => 0.01, epochs => :epochs, max_seconds => :seconds, seed => 1, batch => 'image', batch_size => :batch);
