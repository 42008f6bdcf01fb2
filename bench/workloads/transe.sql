-- Embeddings of a knowledge graph by translations (TransE; Bordes et al., NIPS 2013).
SET search_path = public, relgrad;
\cd :data
DROP TABLE IF EXISTS entity, relation CASCADE;
CREATE TABLE entity (id int PRIMARY KEY, v real[]);
CREATE TABLE relation (id int PRIMARY KEY, v real[]);
\copy entity FROM 'entity.npz' WITH (FORMAT npz)
\copy relation FROM 'relation.npz' WITH (FORMAT npz)

CREATE VIEW positive AS
SELECT x.id, h.v + r.v AS q, norm(h.v + r.v - t.v) AS d
FROM triple x JOIN entity h ON h.id = x.h JOIN relation r ON r.id = x.r JOIN entity t ON t.id = x.t;
CREATE VIEW loss AS
SELECT avg(relu(1 + p.d - norm(p.q - e.v))) AS loss
FROM negative n JOIN positive p USING (id) JOIN entity e ON e.id = n.other;

CALL train('loss', ARRAY['entity', 'relation'], optimizer => 'sgd', lr => 0.01, epochs => :epochs, max_seconds => :seconds, seed => 1, batch => 'triple', batch_size => :batch);
